/**
 * Faster lookups of moves, species, items, types and so on by name: the simulator converts every name to an id with
 * regular expressions each time. Here, a frozen entry that was found once under a name is returned again.
 */
import { Dex } from "../package.js";

export const KINDS = /** @type {const} */ (["moves", "species", "items", "abilities", "conditions", "types", "natures"]);
/** Most names remembered for one kind; more than this would be text from outside. */
const MAX_NAMES = 10_000;
const FOUND = Symbol("found by name");
/** Rules are looked up like formats. Formats themselves get a rule table later and must not be shared. */
const RULES = new Set(["Rule", "ValidatorRule"]);

/** Replace the lookups of every dex. */
export function lookUpFast() {
  for (const kind of KINDS) rememberFound(kind, Object.isFrozen);
  rememberFound("formats", isRule);
}

/**
 * A battle looks up each of its rules several times, gets a new copy each time, and only reads it.
 * @param {any} entry
 * @param {string} name may have custom rules appended ("@@@")
 * @returns {boolean}
 */
function isRule(entry, name) {
  return RULES.has(entry.effectType) && entry.exists && !name.includes("@@@");
}

/**
 * @param {(typeof KINDS)[number] | "formats"} kind
 * @param {(entry: any, name: string) => boolean} isLasting whether the entry may be returned again
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
