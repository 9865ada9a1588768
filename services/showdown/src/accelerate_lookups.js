/**
 * Moves, species, items, types and so on by name at a fraction of the cost: the simulator makes an id of every
 * name each time, by regular expressions. What it found once under a name it finds again, if it is frozen.
 */
import { Dex } from "./simulator.js";

export const KINDS = /** @type {const} */ (["moves", "species", "items", "abilities", "conditions", "types", "natures"]);
/** Names that are remembered of a kind; more would be texts from outside. */
const MAX_NAMES = 10_000;
const FOUND = Symbol("found by name");
/** Formats are among what is looked up as rules are; those get a rule table, and are not ours to share. */
const RULES = new Set(["Rule", "ValidatorRule"]);

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
  lookUpRulesFast();
}

/** A battle looks up each of its rules several times, and gets a new copy each time, which it only reads. */
function lookUpRulesFast() {
  const prototype = Object.getPrototypeOf(/** @type {any} */ (Dex).formats);
  const { get } = prototype;
  /** @this {any} @param {any} name @param {boolean} [isTrusted] */
  prototype.get = function (name, isTrusted) {
    /** @type {Map<any, any>} */
    const found = (this[FOUND] ??= new Map());
    const known = found.get(name);
    if (known !== undefined) return known;
    const entry = get.call(this, name, isTrusted);
    // A name with rules of its own (after "@@@") is looked up as it is trusted.
    if (RULES.has(entry.effectType) && entry.exists && typeof name === "string" && !name.includes("@@@")) found.set(name, entry);
    return entry;
  };
}
