import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS, BadFrame, CONTROL, FrameReader, controlFrame } from "../../src/gateway/protocol/frames.js";
import { frame } from "../support/peer.js";

/** @param {FrameReader} reader @returns {[number, string][]} all complete frames */
function drain(reader) {
  /** @type {[number, string][]} */
  const frames = [];
  for (let next = reader.next(); next; next = reader.next()) frames.push([next.type, next.payload.toString()]);
  return frames;
}

const STREAM = Buffer.concat([frame("control", Buffer.from("one")), frame("actions", Buffer.alloc(0)), frame("control", Buffer.from("three"))]);
/** @type {[number, string][]} */
const FRAMES = [[CONTROL, "one"], [ACTIONS, ""], [CONTROL, "three"]];

test("a stream cut anywhere gives the same frames", () => {
  for (let first = 0; first <= STREAM.length; first++) {
    for (let second = first; second <= STREAM.length; second++) {
      const reader = new FrameReader();
      const frames = [];
      for (const [from, to] of [[0, first], [first, second], [second, STREAM.length]]) {
        reader.push(STREAM.subarray(from, to));
        frames.push(...drain(reader));
      }
      assert.deepEqual(frames, FRAMES);
      assert.equal(reader.pendingBytes, 0);
    }
  }
});

test("a frame that arrives byte by byte is whole", () => {
  const reader = new FrameReader();
  const frames = [];
  for (const byte of STREAM) {
    reader.push(Buffer.from([byte]));
    frames.push(...drain(reader));
  }
  assert.deepEqual(frames, FRAMES);
});

test("an unfinished frame is pending", () => {
  const reader = new FrameReader();
  reader.push(STREAM.subarray(0, STREAM.length - 1));
  assert.deepEqual(drain(reader), FRAMES.slice(0, 2));
  assert.equal(reader.pendingBytes, 12);
});

test("a frame over the limit is refused once its length is read", () => {
  const reader = new FrameReader({ maxFrameBytes: 16 });
  reader.push(frame("control", Buffer.alloc(12)));
  assert.equal(drain(reader).length, 1);
  reader.push(frame("control", Buffer.alloc(13)).subarray(0, 8));
  assert.throws(() => reader.next(), (error) => error instanceof BadFrame && /length is 17: expected 4 to 16/.test(error.message));
});

for (const [name, bytes] of /** @type {[string, number[]][]} */ ([
  ["a length without room for the type", [3, 0, 0, 0, 1, 0, 0, 0]],
  ["an unknown type", [4, 0, 0, 0, 9, 0, 0, 0]],
  ["type 0", [4, 0, 0, 0, 0, 0, 0, 0]],
  ["padding that is not zero", [4, 0, 0, 0, 1, 0, 7, 0]],
])) {
  test(`${name} is refused`, () => {
    const reader = new FrameReader();
    reader.push(Buffer.from(bytes));
    assert.throws(() => reader.next(), BadFrame);
  });
}

test("a control frame carries its message in UTF-8", () => {
  const reader = new FrameReader();
  reader.push(controlFrame({ type: "note", text: "Farfetch’d ♂" }));
  const next = reader.next();
  assert.equal(next?.type, CONTROL);
  assert.deepEqual(JSON.parse(next.payload.toString()), { type: "note", text: "Farfetch’d ♂" });
});
