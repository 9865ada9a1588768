import assert from "node:assert/strict";
import { test } from "node:test";
import { valueOf } from "../../src/search/value.js";
import { play } from "../support/tracker_battles.js";

for (const format of ["gen1randombattle", "gen9randombattle"]) {
  test(`values of ${format} are one side's gain and the other's loss, and follow HP, statuses and the end`, () => {
    play(format, 4, ({ battle }) => {
      const [own, foe] = /** @type {any[]} */ (battle.sides);
      const value = valueOf(battle, 0);
      assert.ok(Math.abs(value + valueOf(battle, 1)) < 1e-9);
      assert.ok(Math.abs(value) < 1);
      if (battle.turn !== 2 || battle.ended) return;
      const bench = own.pokemon[5];
      const { hp } = bench;
      bench.hp = Math.ceil(hp / 2);
      const hurt = valueOf(battle, 0);
      assert.ok(hurt < value, "less HP");
      bench.status = "par";
      assert.ok(valueOf(battle, 0) < hurt, "a status");
      Object.assign(bench, { hp, status: "" });
      own.active[0].boosts.atk += 2;
      assert.ok(valueOf(battle, 0) > value, "a boost");
      own.active[0].boosts.atk -= 2;
      battle.ended = true;
      battle.winner = foe.name;
      assert.equal(valueOf(battle, 0), -1);
      battle.winner = "";
      assert.equal(valueOf(battle, 0), 0);
      battle.ended = false;
    }, { maxSteps: 25 });
  });
}
