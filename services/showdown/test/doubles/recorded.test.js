/** Recorded battles: every joint choice that the simulator accepted, found by trying all. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { choiceOf, takeHalf, writeLegal } from "../../src/tracker/doubles/actions.js";
import { DexInfo } from "../../src/simulator/dex.js";
import { Tracker } from "../../src/tracker/tracker.js";

const RECORDED = new URL("../../../../tests/data/vgc/joint-legality-gen9vgc2024regg.jsonl.gz", import.meta.url);

/** @param {string} choice @param {any} request @returns {string} without the words that the simulator ignores of a locked Pokémon */
function canonical(choice, request) {
  return choice.split(", ").map((text, position) =>
    (request.active && request.active[position].moves[0].pp === undefined ? text.replace(/ (mega|terastallize)$/, "") : text)).join(", ");
}

test("the legal pairs of recorded battles are those that the simulator accepted", () => {
  const rows = gunzipSync(readFileSync(RECORDED)).toString().trim().split("\n").map((line) => JSON.parse(line));
  const dexInfo = DexInfo.forFormat("gen9vgc2024regg");
  /** @type {Map<string, Tracker>} */
  const trackers = new Map();
  const actions = new Uint16Array(5000);
  let compared = 0;
  let picked = 0;
  for (const { b, seat, lines, request, legal, pick } of rows) {
    const key = `${b} ${seat}`;
    let tracker = trackers.get(key);
    if (!tracker || request.teamPreview) trackers.set(key, (tracker = new Tracker(dexInfo, seat)));
    for (const line of lines) tracker.readLine(line);
    tracker.readRequest(request);
    const texts = () => Array.from(actions.subarray(0, writeLegal(tracker, actions, 0)), (action) => choiceOf(tracker, action));
    if (request.teamPreview) {
      const [first, second, ...others] = pick.slice(5).split("").map(Number);
      // One recorded pick names Pokémon that its team does not have.
      if (Math.max(first, second, ...others) > request.side.pokemon.length) continue;
      const leads = texts().findIndex((text) => text.startsWith(`team ${first}, ${second}`));
      assert.ok(takeHalf(tracker, actions[leads]));
      assert.ok(texts().includes(`team ${pick.slice(5).split("").join(", ")}`), pick);
      picked++;
      continue;
    }
    const ours = texts();
    if (request.wait) {
      assert.equal(ours.length, 0);
      continue;
    }
    const theirs = new Set(legal.map((/** @type {string} */ choice) => canonical(choice, request)));
    assert.deepEqual([...ours].sort(), [...theirs].sort(), JSON.stringify(request));
    assert.ok(ours.includes(canonical(pick, request)));
    compared++;
  }
  assert.deepEqual([compared, picked], [423, 31]);
});
