/** An exact copy of a running battle, by the simulator's own way through JSON: hidden cards and all. */
import { KNOWN } from "./accelerate/effects.js";
import { EFFECTS } from "./accelerate/pokemon.js";
import { PRNG, State, simulatorSeed } from "./package.js";

/** @typedef {import("./package.js").Battle} Battle */

/**
 * @param {Battle} battle
 * @param {string} seed 16 hex digits: the copy's chance from here on
 * @returns {Battle}
 */
export function forkBattle(battle, seed) {
  return thaw(freeze(battle), seed);
}

/** @param {Battle} battle @returns {string} its state, for any number of copies */
export function freeze(battle) {
  return JSON.stringify(State.serializeBattle(battle));
}

/** @param {string} frozen @param {string} seed 16 hex digits: the copy's chance from here on @returns {Battle} */
export function thaw(frozen, seed) {
  const fork = /** @type {any} */ (State.deserializeBattle(frozen));
  fork.send = () => {};
  fork.prng = new PRNG(simulatorSeed(seed));
  // Its conditions began in the other battle: what the acceleration knows of it is read again.
  delete fork[KNOWN];
  for (const side of fork.sides) for (const pokemon of side.pokemon) if (EFFECTS in pokemon) pokemon[EFFECTS] = null;
  return fork;
}
