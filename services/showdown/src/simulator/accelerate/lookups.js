/**
 * Moves, species, items, types and so on by name at a fraction of the cost: the simulator makes an id of every
 * name each time, by regular expressions. What it found once under a name it finds again, if it is frozen.
 */
import { Dex } from "../package.js";

export const KINDS = /** @type {const} */ (["moves", "species", "items", "abilities", "conditions", "types", "natures"]);
/** Names that are remembered of a kind; more would be texts from outside. */
const MAX_NAMES = 10_000;
const FOUND = Symbol("found by name");
/** Formats are among what is looked up as rules are; those get a rule table, and are not ours to share. */
const RULES = new Set(["Rule", "ValidatorRule"]);

/** Let every dex look up so. */
export function lookUpFast() {
  for (const kind of KINDS) rememberFound(kind, Object.isFrozen);
  rememberFound("formats", isRule);
}

/**
 * A battle looks up each of its rules several times, gets a new copy each time, and only reads it.
 * @param {any} entry
 * @param {string} name which may go on with rules of its own ("@@@"), as far as they are trusted
 * @returns {boolean}
 */
function isRule(entry, name) {
  return RULES.has(entry.effectType) && entry.exists && !name.includes("@@@");
}

/**
 * @param {(typeof KINDS)[number] | "formats"} kind
 * @param {(entry: any, name: string) => boolean} isLasting whether what was found may be found again
 */
function rememberFound(kind, isLasting) {
  const prototype = Object.getPrototypeOf(/** @type {any} */ (Dex)[kind]);
  const { get } = prototype;
  /** @this {any} @param {any} name @param {boolean} [isTrusted] of a format's rules */
  prototype.get = function (name, isTrusted) {
    if (typeof name !== "string") return get.call(this, name, isTrusted);
    /** @type {Map<string, any>} */
    const found = (this[FOUND] ??= new Map());
    let entry = found.get(name);
    if (entry === undefined) {
      entry = get.call(this, name, isTrusted);
      if (isLasting(entry, name) && found.size < MAX_NAMES) found.set(name, entry);
    }
    return entry;
  };
}
