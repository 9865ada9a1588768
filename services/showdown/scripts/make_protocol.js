/**
 * Writes the validators and types of the control messages from src/gateway/protocol/generated/schema.json. It is the second half
 * of `make docs`; a test compares. The validators are compiled ahead, so that the gateway itself needs no ajv.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { compile } from "json-schema-to-typescript";

const FOLDER = new URL("../src/gateway/protocol/generated/", import.meta.url);
const BANNER = "Made by scripts/make_protocol.js from schema.json.";
const SCHEMA_ID = "protocol";

/** @returns {any} the schema of all messages */
export function readSchema() {
  return JSON.parse(readFileSync(new URL("schema.json", FOLDER), "utf8"));
}

/** @param {any} schema @param {boolean} [isSource] keep what standalone code is made from @returns {Ajv2020} with the schema added */
export function validatorsOf(schema, isSource = false) {
  const ajv = new Ajv2020({ code: { source: isSource, esm: true, lines: true }, inlineRefs: false });
  return ajv.addSchema(schema, SCHEMA_ID);
}

/** @param {string} name of a definition @returns {string} its reference */
export function reference(name) {
  return `${SCHEMA_ID}#/$defs/${name}`;
}

/** @param {any} schema @param {string} direction ClientMessage or GatewayMessage @returns {Record<string, string>} definition by type */
export function definitionsByType(schema, direction) {
  /** @type {string[]} */
  const names = schema.$defs[direction].oneOf.map((/** @type {{$ref: string}} */ { $ref }) => $ref.split("/").at(-1));
  return Object.fromEntries(names.map((name) => [schema.$defs[name].properties.type.const, name]));
}

/** @param {any} schema @returns {string} validators.js: one exported function a type of client message, and PROTOCOL */
export function validatorsCode(schema) {
  const types = definitionsByType(schema, "ClientMessage");
  const references = Object.fromEntries(Object.entries(types).map(([type, name]) => [type, reference(name)]));
  const code = standalone.default(validatorsOf(withoutWords(schema), true), references);
  const protocol = schema.$defs.Hello.properties.protocol.const;
  return `// @ts-nocheck\n// ${BANNER}\nexport const PROTOCOL = ${protocol};\n${code.trimEnd()}\n`;
}

/** @param {any} value @returns {any} the schema without what validation ignores */
function withoutWords(value) {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== "object" || value === null) return value;
  const isWord = (/** @type {string} */ key) => ["title", "description", "default"].includes(key) && typeof value[key] !== "object";
  const kept = Object.entries(value).filter(([key]) => !isWord(key) || value[key] === null);
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutWords(part)]));
}

/** @param {any} value @returns {any} the schema with tuples as the type generator reads them: an array of items */
function withItemTuples(value) {
  if (Array.isArray(value)) return value.map(withItemTuples);
  if (typeof value !== "object" || value === null) return value;
  const { prefixItems, title, ...rest } = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withItemTuples(part)]));
  return prefixItems ? { ...rest, items: prefixItems, additionalItems: false } : rest;
}

/** @param {any} schema @returns {Promise<string>} message_types.d.ts */
export async function typesCode(schema) {
  const options = { bannerComment: `// ${BANNER}`, unreachableDefinitions: true, additionalProperties: false };
  const code = await compile(withItemTuples(schema), "Protocol", { ...options, style: { printWidth: 120 } });
  // The generator repeats each definition's name in its comment.
  return code.replaceAll(/(?: \*\n)? \* This interface was referenced by `Protocol`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g, "").replaceAll("/**\n */\n", "");
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const schema = readSchema();
  writeFileSync(new URL("validators.js", FOLDER), validatorsCode(schema));
  writeFileSync(new URL("message_types.d.ts", FOLDER), await typesCode(schema));
}
