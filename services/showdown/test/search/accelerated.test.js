/** With the accelerated simulator, as the gateway runs it: forks and copies play on as the battle itself does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, play as playChoices } from "../../src/search/choices.js";
import { copyBattle, silence } from "../../src/search/clone.js";
import { accelerate } from "../../src/simulator/accelerate/accelerate.js";
import { forkBattle } from "../../src/simulator/fork.js";
import { PRNG, simulatorSeed } from "../../src/simulator/package.js";
import { play } from "../support/tracker_battles.js";

const SEED = "00000000000000c3";
assert.ok(accelerate());

/** @param {any} battle that is played to its end @returns {unknown} its end, and how many random numbers it took */
function end(battle) {
  const prng = new PRNG(simulatorSeed(SEED));
  for (let step = 0; step < 2000 && !battle.ended; step++) {
    playChoices(battle, [0, 1].map((seat) => {
      const choices = choicesOf(battle, seat);
      return choices.length > 0 ? choices[prng.random(choices.length)] : null;
    }));
    battle.sentLogPos = battle.log.length;
  }
  assert.ok(battle.ended);
  const hp = battle.sides.map((/** @type {any} */ side) => side.pokemon.map((/** @type {any} */ pokemon) => `${pokemon.species.id} ${pokemon.hp}`));
  return { turn: battle.turn, winner: battle.winner, hp, seed: battle.prng.getSeed() };
}

for (const format of ["gen1randombattle", "gen5randombattle", "gen9randombattle"]) {
  for (const at of [1, 9, 25]) {
    test(`a fork and a copy of a ${format} battle end as the battle does, from step ${at}`, () => {
      let steps = 0;
      const done = new Error("compared");
      const compare = () => play(format, 20 + at, ({ battle }) => {
        if (steps++ !== at) return;
        const fork = forkBattle(battle, SEED);
        const quiet = forkBattle(battle, SEED);
        silence(quiet);
        const copy = copyBattle(quiet, SEED);
        battle.prng = new PRNG(simulatorSeed(SEED));
        const ended = end(battle);
        assert.deepEqual(end(fork), ended, "fork");
        assert.deepEqual(end(copy), ended, "copy");
        throw done;
      });
      assert.throws(compare, done);
    });
  }
}
