/** Variations: a battle played on from several turns keeps every line, and a file gives the same tree back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inWordsOf, onlyLine, recordOf, withLine } from "../src/ui/lines.js";
import { readBattle } from "../src/ui/record.js";

const SEED = "0000000000000001";
/** @param {number[]} first actions of seat 0, step by step @param {number | null} resigned */
const battle = (first, resigned = null) => ({
  format: "gen1ou", setup: { seed: SEED, teams: [null, null], teamSeeds: [SEED, SEED] }, steps: first.map((action) => [[0, action], [1, 0]]),
  players: ["You", "made"], resigned, helped: false, log: "",
});
const TURNS = [1, 2, 2, 3, 4];

/** The battle, a line that leaves it at step 1, and one that leaves that line at step 2. */
function tree() {
  const first = withLine(onlyLine(battle([0, 0, 0, 0])), 0, TURNS, battle([0, 1, 1]));
  return withLine(first.lines, first.shown, TURNS, battle([0, 1, 2, 2], 0));
}

const saved = (/** @type {any} */ record) => JSON.stringify({ kind: "nashdex battle", version: 1, ...record });

test("lines leave each other where their choices differ", () => {
  const { lines, shown } = tree();
  assert.equal(shown, 2);
  assert.deepEqual(lines.map(({ parent, at, turn }) => [parent, at, turn]), [[-1, 0, 0], [0, 1, 2], [1, 2, 2]]);
  assert.deepEqual(inWordsOf(lines), ["1: the battle", "2: from turn 2 of line 1, You against made", "3: from turn 2 of line 2, You against made"]);
});

test("a line that adds nothing is the one that it repeats", () => {
  const { lines } = tree();
  assert.deepEqual(withLine(lines, 0, TURNS, battle([0, 1])), { lines, shown: 1 });
  assert.equal(withLine(lines, 0, TURNS, battle([0, 1], 0)).shown, 3, "to resign is something");
});

test("a saved tree is read back whole", () => {
  const { lines } = tree();
  assert.deepEqual(readBattle(saved(recordOf(lines)), "gen1ou"), lines);
  assert.deepEqual(readBattle(saved(battle([0, 0])), "gen1ou"), onlyLine(battle([0, 0])), "files without variations stay readable");
});

for (const wrong of [{ parent: 2 }, { parent: -1 }, { at: 1.5 }, { steps: "x" }, { turn: "<b>" }, null]) {
  test(`a wrong variation gets one message: ${JSON.stringify(wrong)}`, () => {
    const record = recordOf(tree().lines);
    record.variations[1] = wrong && { ...record.variations[1], ...wrong };
    assert.throws(() => readBattle(saved(record), "gen1ou"), /variations .* not whole/);
  });
}
