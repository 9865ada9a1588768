/** Control messages from the client, checked against their schema: docs/reference/gateway.md, "Control messages". */
import * as validators from "./generated/validators.js";

export const PROTOCOL = validators.PROTOCOL;

/** @typedef {import("./generated/message_types.js").ClientMessage} ClientMessage */
/** @typedef {import("./generated/message_types.js").ErrorMessage["code"]} ErrorCode */
/**
 * @typedef {object} Problem what ajv says of a value
 * @property {string} instancePath
 * @property {string} keyword
 * @property {{missingProperty?: string, additionalProperty?: string, allowedValues?: unknown[]}} params
 * @property {string} message
 */
/** @typedef {((message: unknown) => boolean) & {errors?: Problem[]}} Validator */

/** @type {Map<string, Validator>} */
const validatorByType = new Map(
  Object.entries(validators).flatMap(([type, validator]) => (typeof validator === "function" ? [[type, validator]] : [])),
);

/** The client broke the protocol. The gateway reports it and ends. */
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

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value @returns {string} how an error shows it */
function shown(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** @param {string} message @returns {never} */
function bad(message) {
  throw new ProtocolError("bad_message", message);
}

/**
 * @param {Buffer} payload of a control frame
 * @returns {ClientMessage}
 * @throws {ProtocolError}
 */
export function readMessage(payload) {
  let message;
  try {
    message = JSON.parse(payload.toString("utf8"));
  } catch (error) {
    bad(`a control message is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isObject(message) || typeof message.type !== "string") bad("a control message is not an object with a type");
  const { type, protocol } = message;
  // The version first: another version may have other fields.
  if (type === "hello" && protocol !== PROTOCOL) {
    const versions = `the client speaks protocol ${shown(protocol)}, this gateway ${PROTOCOL}`;
    throw new ProtocolError("protocol", `${versions}: use one release of both`);
  }
  const validate = validatorByType.get(type);
  if (!validate) bad(`unknown message type ${shown(type)}: expected one of ${[...validatorByType.keys()].join(", ")}`);
  if (!validate(message)) bad(`${type}: ${described(message, validate.errors ?? [])}`);
  return /** @type {ClientMessage} */ (/** @type {unknown} */ (message));
}

/** @param {unknown} message @param {Problem[]} problems of one place in the message @returns {string} */
function described(message, problems) {
  const [{ instancePath, params }] = problems;
  const keys = instancePath.split("/").slice(1);
  const where = keys.join(".") || "the message";
  if (params.missingProperty !== undefined) return `${where} has no ${params.missingProperty}`;
  if (params.additionalProperty !== undefined) return `${where} has an unknown field ${shown(params.additionalProperty)}`;
  const value = keys.reduce((/** @type {any} */ part, key) => part[key], message);
  // Each alternative of a union has its own problem; the union's own repeats that none fits.
  const wanted = problems.filter(({ keyword }) => keyword !== "anyOf").map((problem) => problem.params.allowedValues?.join(" or ") ?? problem.message);
  return `${where} is ${shown(value)}: expected ${[...new Set(wanted)].join(" or ").replaceAll("must be ", "").replaceAll("must ", "to ")}`;
}
