/**
 * Parses the protocol's lines and finds their handlers by type. Lines without a handler contain nothing that is tracked.
 * Reference: sim/SIM-PROTOCOL.md in the simulator's package, and the simulator's `add` calls.
 */
import { handlers as condition } from "./condition.js";
import { handlers as field } from "./field.js";
import { handlers as moves } from "./moves.js";
import { handlers as switching } from "./switching.js";
import { handlers as volatiles } from "./volatiles.js";

/** @typedef {import("./common.js").Handler} Handler */

/** @type {ReadonlyMap<string, Handler>} */
const HANDLERS = new Map([...switching, ...moves, ...condition, ...volatiles, ...field]);
const BAR = 0x7c;

/**
 * @typedef {object} ParsedLine a line that any number of trackers can read
 * @property {Handler} handler
 * @property {string[]} parts the handler's argument
 */

/** @param {string} line of the protocol @returns {ParsedLine | null} null if it has no handler */
export function parseLine(line) {
  if (line.charCodeAt(0) !== BAR) return null;
  const end = line.indexOf("|", 1);
  const handler = HANDLERS.get(end < 0 ? line.slice(1) : line.slice(1, end));
  return handler ? { handler, parts: partsOf(line) } : null;
}

/** @param {string} line @returns {string[]} `line.split("|")`, at half the cost for short lines */
function partsOf(line) {
  const parts = [];
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    if (line.charCodeAt(at) !== BAR) continue;
    parts.push(line.slice(from, at));
    from = at + 1;
  }
  parts.push(line.slice(from));
  return parts;
}
