/** What clients may say, checked: docs/gateway.md, "Control messages". */
import { isSeed } from "../../simulator/package.js";

export const PROTOCOL = 1;
/** Numbers of battles are u32. */
const MAX_BATTLE = 0xffff_ffff;
/** Most teams that one `generate` makes, so that one message cannot keep running battles waiting for long. */
const MAX_GENERATED = 10_000;

/** @typedef {"protocol" | "unknown_format" | "bad_frame" | "bad_message"} ErrorCode */

/** What the client got wrong about the protocol: the gateway tells it and ends. */
export class ProtocolError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** A start that is wrong for its own battle only. */
export class BadStart extends Error {}

/** @typedef {Record<string, unknown>} Fields */

/**
 * @typedef {object} Start
 * @property {string} seed
 * @property {[string | null, string | null]} teams packed; null for the format's generator
 * @property {[string, string]} teamSeeds of the teams that are null
 * @property {[boolean, boolean]} lines
 * @property {[boolean, boolean]} states
 * @property {boolean} log
 * @property {number} deadlineSeconds
 */

/** @param {unknown} value @returns {value is Fields} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value how it reads in an error @returns {string} */
function shown(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** @param {string} message @returns {never} */
function bad(message) {
  throw new ProtocolError("bad_message", message);
}

/**
 * @param {Buffer} payload
 * @returns {Fields & {type: string}}
 */
export function parseControl(payload) {
  let message;
  try {
    message = JSON.parse(payload.toString("utf8"));
  } catch (error) {
    bad(`a control message is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isObject(message) || typeof message.type !== "string") bad("a control message is not an object with a type");
  return /** @type {Fields & {type: string}} */ (message);
}

/** @param {Fields} message @param {string} name @returns {unknown[]} */
export function listField(message, name) {
  const value = message[name];
  return Array.isArray(value) ? value : bad(`${message.type}: ${name} is ${shown(value)}: expected a list`);
}

/** @param {Fields} message @param {string} name @returns {string[]} */
export function stringsField(message, name) {
  const list = listField(message, name);
  for (const value of list) {
    if (typeof value !== "string") bad(`${message.type}: ${name} holds ${shown(value)}: expected strings`);
  }
  return /** @type {string[]} */ (list);
}

/** @param {Fields} message @returns {Fields[]} the objects in `rows` or `battles` */
export function rowsField(message, name = "rows") {
  const list = listField(message, name);
  for (const value of list) if (!isObject(value)) bad(`${message.type}: ${name} holds ${shown(value)}: expected objects`);
  return /** @type {Fields[]} */ (list);
}

/** @param {unknown} value @param {string} where @returns {number} */
export function battleNumber(value, where) {
  const isBattle = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_BATTLE;
  return isBattle ? Number(value) : bad(`${where}: battle is ${shown(value)}: expected an integer from 0 to ${MAX_BATTLE}`);
}

/** @param {unknown} value @param {string} where @returns {0 | 1} */
export function seatNumber(value, where) {
  return value === 0 || value === 1 ? value : bad(`${where}: seat is ${shown(value)}: expected 0 or 1`);
}

/** @param {Fields} message @returns {{count: number, seed: string, source: string | undefined}} */
export function generateFields({ count, seed, source }) {
  if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > MAX_GENERATED) {
    bad(`generate: count is ${shown(count)}: expected an integer from 1 to ${MAX_GENERATED}`);
  }
  if (!isSeed(seed)) bad(`generate: seed is ${shown(seed)}: expected 16 hex digits in lower case`);
  if (source !== undefined && source !== null && typeof source !== "string") {
    bad(`generate: source is ${shown(source)}: expected the id of a random format`);
  }
  return { count: Number(count), seed: String(seed), source: source ?? undefined };
}

const START_FIELDS = new Set(["battle", "seed", "teams", "team_seeds", "lines", "states", "log", "deadline_seconds"]);

/**
 * @param {Fields} entry one of `start`'s battles
 * @returns {Start}
 * @throws {BadStart}
 */
export function startFields(entry) {
  for (const name of Object.keys(entry)) {
    if (!START_FIELDS.has(name)) throw new BadStart(`unknown field ${shown(name)}: expected ${[...START_FIELDS].join(", ")}`);
  }
  const { seed, teams = [null, null], team_seeds: seeds = [null, null], log = false, deadline_seconds: deadline } = entry;
  const { lines = [false, false], states = [false, false] } = entry;
  if (!isSeed(seed)) throw new BadStart(`seed is ${shown(seed)}: expected 16 hex digits in lower case`);
  const isTeam = (/** @type {unknown} */ value) => value === null || typeof value === "string";
  if (!isPair(teams, isTeam)) throw new BadStart(`teams is ${shown(teams)}: expected two packed teams or nulls`);
  const isTeamSeed = (/** @type {unknown} */ value) => value === null || isSeed(value);
  if (!isPair(seeds, isTeamSeed)) throw new BadStart(`team_seeds is ${shown(seeds)}: expected two times 16 hex digits`);
  for (const seat of [0, 1]) {
    if (teams[seat] === null && seeds[seat] === null) throw new BadStart(`seat ${seat} has neither a team nor a team seed`);
  }
  const isBoolean = (/** @type {unknown} */ value) => typeof value === "boolean";
  if (!isPair(lines, isBoolean)) throw new BadStart(`lines is ${shown(lines)}: expected two booleans`);
  if (!isPair(states, isBoolean)) throw new BadStart(`states is ${shown(states)}: expected two booleans`);
  if (typeof log !== "boolean") throw new BadStart(`log is ${shown(log)}: expected a boolean`);
  if (typeof deadline !== "number" || !(deadline > 0)) {
    throw new BadStart(`deadline_seconds is ${shown(deadline)}: expected a number above 0`);
  }
  return /** @type {Start} */ ({ seed, teams, teamSeeds: seeds, lines, states, log, deadlineSeconds: deadline });
}

/** @param {unknown} value @param {(element: unknown) => boolean} test @returns {value is [unknown, unknown]} */
function isPair(value, test) {
  return Array.isArray(value) && value.length === 2 && value.every(test);
}
