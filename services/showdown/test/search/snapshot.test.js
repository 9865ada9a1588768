/** Snapshots of worlds: plain JSON of what the seat knows and of what was drawn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Prior } from "../../src/search/prior.js";
import { snapshot } from "../../src/search/snapshot.js";
import { Worlds } from "../../src/search/worlds.js";
import { Encoder } from "../../src/encoder/encoder.js";
import { playableFormat } from "../../src/simulator/package.js";
import { legalChoices } from "../../src/tracker/actions.js";
import { play } from "../support/tracker_battles.js";

const SEED = "000000000000000b";

for (const format of ["gen2randombattle", "gen9randombattle"]) {
  test(`snapshots of ${format} are plain and show the position`, () => {
    const { dex } = Encoder.forFormat(format).dexInfo;
    const prior = new Prior(playableFormat(format), dex, []);
    const seen = { worlds: 0, asleep: 0, poisoned: 0, replacements: 0 };
    play(format, 5, ({ battle, trackers }) => {
      const [tracker] = trackers;
      if (battle.ended || !tracker.asks || Object.keys(legalChoices(tracker)).length < 2) return;
      const state = /** @type {any} */ (tracker.state());
      const world = snapshot(new Worlds(tracker, prior, dex).draw(SEED), 0);
      assert.deepEqual(JSON.parse(JSON.stringify(world)), world, "nothing but JSON");
      seen.worlds++;
      const { own } = world;
      const real = battle.sides[0].pokemon;
      assert.deepEqual(own.pokemon.map((/** @type {any} */ one) => [one.hp, one.max_hp]), real.map((one) => [one.hp, one.maxhp]));
      assert.equal(own.force_switch, state.force_switch);
      if (state.force_switch) seen.replacements++;
      // A request names what may be used; the snapshot disables the rest.
      const request = /** @type {any} */ (battle.sides[0].activeRequest);
      const offered = request.active?.[0].moves.filter((/** @type {any} */ { disabled }) => !disabled).map((/** @type {any} */ { id }) => id) ?? null;
      const enabled = own.pokemon[own.active].moves.filter((/** @type {any} */ { disabled }) => !disabled).map((/** @type {any} */ { id }) => id);
      if (offered) assert.deepEqual(enabled, offered);
      for (const [at, one] of own.pokemon.entries()) {
        const { status } = real[at];
        if (one.hp === 0) continue;
        assert.equal(one.status, status);
        assert.equal(one.sleep_left > 0, status === "slp");
        if (status === "slp") seen.asleep++;
        if (status !== "tox") assert.equal(one.toxic_turns, 0);
        else if (one.toxic_turns > 0) seen.poisoned++;
      }
    }, { maxSteps: 150 });
    assert.ok(seen.worlds > 20, `${seen.worlds} worlds`);
    assert.ok(seen.replacements > 0, "a replacement");
  });
}
