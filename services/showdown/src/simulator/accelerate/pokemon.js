/**
 * What is remembered of a Pokémon stands on itself, by symbols: nothing that copies or prints it sees that. It has a
 * place from the beginning, since objects that get their properties in different orders are of different shapes to
 * V8, which looks up any property of an object by name at a place where it has met more than four.
 */
import { Side } from "../package.js";

/** What its effects handle: `effects.js`. */
export const EFFECTS = Symbol("effects that were read");
/** Its last entry of a request: `requests.js`. */
export const ENTRY = Symbol("last entry");

/**
 * What the simulator itself adds to a Pokémon later, and reads as undefined until then. Not `terastallized`: it deletes
 * that of each that faints, which costs an object its shape unless it was added last.
 */
const ADDED = /** @type {const} */ (["lastMoveTargetLoc", "pendingStaleness", "staleness"]);

/** Let every Pokémon have a place for all that will stand on it. */
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
