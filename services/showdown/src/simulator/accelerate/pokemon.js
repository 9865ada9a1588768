/**
 * Properties for what the acceleration remembers of a Pokémon. They are symbols, which nothing that copies or prints a
 * Pokémon sees. Every Pokémon gets them at once: V8 gives objects different shapes if their properties are added in
 * different orders, and code that has seen more than four shapes looks up every property by name.
 */
import { Side } from "../package.js";

/** The flags of its effects: `effects.js`. */
export const EFFECTS = Symbol("known effects");
/** Its last entry in a request: `requests.js`. */
export const ENTRY = Symbol("last entry");

/**
 * Properties that the simulator adds to a Pokémon later and reads as undefined until then. Not `terastallized`: the
 * simulator deletes it when a Pokémon faints, and an object keeps its shape only if the deleted property was added last.
 */
const ADDED = /** @type {const} */ (["lastMoveTargetLoc", "pendingStaleness", "staleness"]);

/** Give every Pokémon these properties when it is created. */
export function makePlaces() {
  const prototype = /** @type {any} */ (Side.prototype);
  const { addPokemon } = prototype;
  /** @this {any} @param {any} set */
  prototype.addPokemon = function (set) {
    const pokemon = addPokemon.call(this, set);
    if (pokemon !== null) {
      pokemon[EFFECTS] = null;
      pokemon[ENTRY] = null;
      for (const name of ADDED) pokemon[name] ??= undefined;
    }
    return pokemon;
  };
}
