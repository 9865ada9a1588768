/** The schema accepts and refuses the same messages here as in Python (tests/contract/test_gateway_protocol.py). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { definitionsByType, readSchema, reference, typesCode, validatorsCode, validatorsOf } from "../../scripts/make_protocol.js";
import { ProtocolError, readMessage } from "../../src/gateway/protocol/messages.js";

const GENERATED = new URL("../../src/gateway/protocol/generated/", import.meta.url);
/** @type {Record<"client" | "gateway", {good: any[], bad: {why: string, message: any}[]}>} */
const { client, gateway } = JSON.parse(readFileSync(new URL("messages.json", import.meta.url), "utf8"));

/** @param {object} message */
function read(message) {
  return readMessage(Buffer.from(JSON.stringify(message)));
}

for (const message of client.good) {
  test(`a client may send ${JSON.stringify(message).slice(0, 60)}`, () => assert.deepEqual(read(message), message));
}
for (const { why, message } of client.bad) {
  test(`a client may not send ${message.type} with ${why}`, () => {
    assert.throws(() => read(message), (error) => error instanceof ProtocolError && error.message.length < 300);
  });
}
test("the good messages of a client are of every type", () => {
  const types = Object.keys(definitionsByType(readSchema(), "ClientMessage"));
  assert.deepEqual([...new Set(client.good.map(({ type }) => type))].sort(), types.sort());
});

test("messages of the gateway fit the schema or do not", () => {
  const schema = readSchema();
  const names = definitionsByType(schema, "GatewayMessage");
  const ajv = validatorsOf(schema);
  const fits = (/** @type {any} */ message) => message.type in names && ajv.validate(reference(names[message.type]), message);
  for (const message of gateway.good) assert.ok(fits(message), JSON.stringify(message));
  for (const { why, message } of gateway.bad) assert.ok(!fits(message), why);
  assert.deepEqual([...new Set(gateway.good.map(({ type }) => type))].sort(), Object.keys(names).sort());
});

test("validators and types are those of the schema", async () => {
  const advice = "run `make docs`";
  const schema = readSchema();
  assert.equal(readFileSync(new URL("validators.js", GENERATED), "utf8"), validatorsCode(schema), advice);
  assert.equal(readFileSync(new URL("message_types.d.ts", GENERATED), "utf8"), await typesCode(schema), advice);
});

/** @type {[object, RegExp][]} */
const ERRORS = [
  [{ type: "dance" }, /^unknown message type "dance": expected one of choices, expand, fork, generate, hello, /],
  [{ type: "start", battles: 3 }, /^start: battles is 3: expected array$/],
  [{ type: "start", battles: [{}] }, /^start: battles\.0 has no battle$/],
  [{ type: "validate", teams: [], extra: 1 }, /^validate: the message has an unknown field "extra"$/],
  [{ type: "generate", count: 0, seed: "0".repeat(16), source: null }, /^generate: count is 0: expected >= 1$/],
  [{ type: "generate", count: 1, seed: "abc", source: null }, /^generate: seed is "abc": expected to match pattern "\^\[0-9a-f\]\{16\}\$"$/],
  [{ type: "generate", count: 1, seed: "0".repeat(16), source: 7 }, /^generate: source is 7: expected string or null$/],
  [{ type: "choices", rows: [{ battle: 1, seat: 2, action: 0 }] }, /^choices: rows\.0\.seat is 2: expected 0 or 1$/],
];
for (const [message, words] of ERRORS) {
  test(`the error says where and what: ${words.source.slice(1, 40)}`, () => assert.throws(() => read(message), { code: "bad_message", message: words }));
}
