/** A copy plays on as the simulator's own copy through JSON would, and leaves its original alone. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { choicesOf, play as playChoices } from "../../src/search/choices.js";
import { copyBattle, silence } from "../../src/search/clone.js";
import { PRNG, simulatorSeed } from "../../src/simulator/package.js";
import { play } from "../support/tracker_battles.js";

const { State } = /** @type {any} */ (createRequire(import.meta.url)("pokemon-showdown/dist/sim/state.js"));
const SEED = "00000000000000a7";

/** @param {any} battle @returns {unknown} what both players could see of it, and more */
function seen(battle) {
  return {
    turn: battle.turn,
    ended: battle.ended,
    request: battle.requestState,
    sides: battle.sides.map((/** @type {any} */ side) => ({
      conditions: Object.keys(side.sideConditions),
      pokemon: side.pokemon.map((/** @type {any} */ pokemon) => ({
        species: pokemon.species.id, hp: pokemon.hp, status: pokemon.status, item: pokemon.item, boosts: { ...pokemon.boosts },
        volatiles: Object.keys(pokemon.volatiles), pp: pokemon.moveSlots.map((/** @type {any} */ slot) => slot.pp),
      })),
    })),
  };
}

/** @param {any} battle @param {number} turns */
function playOn(battle, turns) {
  const prng = new PRNG(simulatorSeed(SEED));
  for (let step = 0; step < turns && !battle.ended; step++) {
    playChoices(battle, [0, 1].map((seat) => {
      const choices = choicesOf(battle, seat);
      return choices.length > 0 ? choices[prng.random(choices.length)] : null;
    }));
  }
}

for (const format of ["gen1randombattle", "gen4randombattle", "gen9randombattle"]) {
  test(`copies of ${format} battles play on alike`, () => {
    let compared = 0;
    let visits = 0;
    play(format, 11, ({ battle }) => {
      if (visits++ % 9 !== 4 || compared === 6) return;
      const before = JSON.stringify(State.serializeBattle(battle));
      const through = State.deserializeBattle(before);
      silence(through);
      const world = State.deserializeBattle(before);
      silence(world);
      const copy = copyBattle(world, SEED);
      through.prng = new PRNG(simulatorSeed(SEED));
      assert.deepEqual(seen(copy), seen(battle), "at first");
      const unchanged = seen(world);
      playOn(copy, 8);
      playOn(through, 8);
      assert.deepEqual(seen(copy), seen(through), `from turn ${battle.turn}`);
      assert.deepEqual(seen(world), unchanged, "the original");
      compared++;
    }, { maxSteps: 60 });
    assert.ok(compared >= 3, `${compared} positions`);
  });
}
