/**
 * Copies of moves at a fraction of the cost. The simulator copies a move deeply for each use, and four for each active
 * Pokémon at the end of each turn, key by key, into objects that V8 keeps as hash tables. Here each form of move (its
 * keys, and those of what is in it) is written once as a constructor, which makes the same copy in one go: the same
 * keys in the same order, the same prototypes, everything in it a fresh object.
 *
 * At the end of a turn, each move of the active Pokémon is copied only to be asked whether it disables itself; those
 * that have no say in that are lent instead, one frozen copy to all.
 */
import { Dex } from "../package.js";

/** @typedef {new (leaves: unknown[]) => any} Form */

/**
 * Write the expression that makes a fresh copy of `value` out of `leaves`.
 * @param {any} value
 * @param {unknown[]} leaves what needs no copy (texts, numbers, functions); what `value` has of it is added
 * @returns {string | null} null for what is none of the plain kinds that data are made of
 */
function expression(value, leaves) {
  if (value === null || typeof value !== "object") return `leaves[${leaves.push(value) - 1}]`;
  const isArray = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isArray ? Array.prototype : Object.prototype)) return null;
  if (isArray && Object.keys(value).length !== value.length) return null;
  const parts = [];
  for (const key of Object.keys(value)) {
    const part = key === "__proto__" ? null : expression(value[key], leaves);
    if (part === null) return null;
    parts.push(isArray ? part : `${JSON.stringify(key)}: ${part}`);
  }
  return isArray ? `[${parts.join(", ")}]` : `{ ${parts.join(", ")} }`;
}

/** Constructors of copies. */
class Forms {
  constructor() {
    /** @type {WeakMap<object, Map<string, Form>>} by prototype and source */
    this.byPrototype = new WeakMap();
  }

  /**
   * @param {any} move
   * @param {unknown[]} leaves filled with what the constructor takes
   * @returns {Form | null} which makes active moves out of leaves; null if the move is not made of plain data
   */
  of(move, leaves) {
    const lines = [];
    for (const key of Object.keys(move)) {
      const part = key === "__proto__" ? null : expression(move[key], leaves);
      if (part === null) return null;
      lines.push(`this[${JSON.stringify(key)}] = ${part};`);
    }
    const source = [...lines, "this.hit = 0;"].join("\n");
    const prototype = Object.getPrototypeOf(move);
    let forms = this.byPrototype.get(prototype);
    if (!forms) this.byPrototype.set(prototype, (forms = new Map()));
    let form = forms.get(source);
    if (!form) {
      // Only a literal constructor gets its objects' layout from V8 at once; its text is made of keys alone.
      form = /** @type {Form} */ (/** @type {unknown} */ (new Function("leaves", source)));
      form.prototype = prototype;
      forms.set(source, form);
    }
    return form;
  }
}

/** @param {any} value @returns {any} the same, with all that is in it frozen */
function frozen(value) {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

/** How many of the next copies are looked at only. */
let numLent = 0;

/** @param {number} count of the next copies that are asked for by name, which nobody keeps or alters */
export function lendMoves(count) {
  numLent = count;
}

/** Let every dex copy its moves so. A move that may still change is copied the simulator's way. */
export function copyMovesFast() {
  const prototype = Object.getPrototypeOf(Dex);
  const { getActiveMove } = prototype;
  const forms = new Forms();
  /** @type {WeakMap<object, {Form: Form, leaves: unknown[], lent: any} | null>} */
  const copies = new WeakMap();

  /** @this {any} @param {any} move a move or its name */
  prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === "number") return move;
    const base = this.moves.get(move);
    let copy = copies.get(base);
    if (copy === undefined) {
      /** @type {unknown[]} */
      const leaves = [];
      const Form = Object.isFrozen(base) ? forms.of(base, leaves) : null;
      copy = Form && { Form, leaves, lent: base.onDisableMove === undefined ? frozen(new Form(leaves)) : null };
      if (Object.isFrozen(base)) copies.set(base, copy);
    }
    if (numLent > 0) {
      numLent--;
      if (copy?.lent) return copy.lent;
    }
    return copy ? new copy.Form(copy.leaves) : getActiveMove.call(this, base);
  };
}
