/**
 * Moves, species, items, abilities and conditions by name at a fraction of the cost: the simulator makes an id of every
 * name each time, by regular expressions. What it found once under a name it finds again, if it is frozen.
 */
import { Dex } from "./simulator.js";

export const KINDS = /** @type {const} */ (["moves", "species", "items", "abilities", "conditions"]);
/** Names that are remembered of a kind; more would be texts from outside. */
const MAX_NAMES = 10_000;
const FOUND = Symbol("found by name");

/** Let every dex look up so. */
export function lookUpFast() {
  for (const kind of KINDS) {
    const prototype = Object.getPrototypeOf(/** @type {any} */ (Dex)[kind]);
    const { get } = prototype;
    /** @this {any} @param {any} name */
    prototype.get = function (name) {
      if (typeof name !== "string") return get.call(this, name);
      /** @type {Map<string, any>} */
      const found = (this[FOUND] ??= new Map());
      let entry = found.get(name);
      if (entry === undefined) {
        entry = get.call(this, name);
        if (Object.isFrozen(entry) && found.size < MAX_NAMES) found.set(name, entry);
      }
      return entry;
    };
  }
}
