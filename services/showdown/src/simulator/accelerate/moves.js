/**
 * Faster copies of moves. The simulator makes a deep copy of a move for each use, and of four moves for each active
 * Pokémon at the end of each turn, key by key, into objects that V8 stores as hash tables. Here, each shape of move (its
 * keys and those of its parts) gets a constructor that makes the same copy: the same keys in the same order, the same
 * prototypes, every part a fresh object.
 *
 * At the end of a turn, the simulator copies each move of the active Pokémon only to ask whether it disables itself, and
 * for its flags. Of a move without such a handler, the flags are lent instead: one frozen object for all.
 */
import { Dex } from "../package.js";

/** @typedef {new (leaves: unknown[]) => any} Form */

/**
 * Write the JavaScript expression that makes a fresh copy of `value` from `leaves`.
 * @param {any} value
 * @param {unknown[]} leaves values that need no copy (strings, numbers, functions); those of `value` are appended
 * @returns {string | null} null if `value` is not plain data
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
   * @param {unknown[]} leaves filled with the constructor's argument
   * @returns {Form | null} a constructor of active moves; null if the move is not plain data
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
      // Only a literal constructor gives its objects a V8 layout at once. Its text contains keys only.
      form = /** @type {Form} */ (/** @type {unknown} */ (new Function("leaves", source)));
      form.prototype = prototype;
      forms.set(source, form);
    }
    return form;
  }
}

/** @param {any} value @returns {any} the same value, deeply frozen */
function frozen(value) {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

const LENT = Symbol("lent moves");
/** Number of the next copies that are only read. */
let numLent = 0;
/** What was lent last; it has no handler of `DisableMove`. @type {object | null} */
export let lastLent = null;

/** @param {number} count of the next copies requested by name that nothing keeps or changes */
export function lendMoves(count) {
  numLent = count;
}

/** @param {any} move @returns {object | null} what is lent of it; null if it has a handler or may still change */
function lentFrom(move) {
  return Object.isFrozen(move) && move.onDisableMove === undefined ? Object.freeze({ flags: frozen({ ...move.flags }) }) : null;
}

/** Replace the copying of moves in every dex. A move that may still change is copied by the simulator. */
export function copyMovesFast() {
  const prototype = Object.getPrototypeOf(Dex);
  const { getActiveMove } = prototype;
  const forms = new Forms();
  /** @type {WeakMap<object, {Form: Form, leaves: unknown[]} | null>} */
  const copies = new WeakMap();

  /** @this {any} @param {any} move a move or its name */
  prototype.getActiveMove = function (move) {
    if (typeof move !== "string" && typeof move?.hit === "number") return move;
    if (numLent > 0) {
      numLent--;
      /** @type {Map<unknown, object | null>} */
      const lent = (this[LENT] ??= new Map());
      if (!lent.has(move)) lent.set(move, lentFrom(this.moves.get(move)));
      lastLent = lent.get(move) ?? null;
      if (lastLent) return lastLent;
    }
    const base = this.moves.get(move);
    let copy = copies.get(base);
    if (copy === undefined) {
      /** @type {unknown[]} */
      const leaves = [];
      const Form = Object.isFrozen(base) ? forms.of(base, leaves) : null;
      copy = Form && { Form, leaves };
      if (Object.isFrozen(base)) copies.set(base, copy);
    }
    return copy ? new copy.Form(copy.leaves) : getActiveMove.call(this, base);
  };
}
