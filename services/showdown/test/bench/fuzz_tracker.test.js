/** The tracker agrees with the simulator in battles of random teams, and a tracker that misreads a line is found. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fuzz } from "../../bench/fuzz_tracker/differences.js";
import { Tracker } from "../../src/tracker/tracker.js";

const FUZZ_TRACKER = fileURLToPath(new URL("../../bench/fuzz_tracker/fuzz_tracker.js", import.meta.url));
const SEEDS = [1, 2];

/** @param {string[]} args */
function run(...args) {
  return spawnSync(process.execPath, [FUZZ_TRACKER, ...args], { encoding: "utf8", timeout: 600_000 });
}

for (const format of ["gen1ou", "gen4ou", "gen9ou", "gen9doublesou"]) {
  test(`random teams in ${format} show no unknown difference`, () => {
    const differences = fuzz(format, SEEDS);
    assert.deepEqual(differences.sorted().filter(({ reason }) => !reason), []);
    assert.ok(differences.comparisons > 10_000, `${differences.comparisons} comparisons`);
  });
}

/** A tracker that misses every rise of a boost. */
class Inattentive extends Tracker {
  /** @override @param {string} line */
  readLine(line) {
    if (!line.startsWith("|-boost|")) super.readLine(line);
  }
}

test("a tracker that misreads one kind of line is found, by seed, turn and seat", () => {
  const differences = fuzz("gen4ou", SEEDS, { trackerOf: (dexInfo, seat) => new Inattentive(dexInfo, seat) });
  const unknown = differences.sorted().filter(({ reason }) => !reason);
  assert.deepEqual(unknown.map(({ name }) => name).sort(), ["opponent boosts", "own boosts"]);
  for (const { times, example, lines } of unknown) {
    assert.ok(times > 1);
    assert.match(example, /^seed \d+, turn \d+, seat p[12], (own|opponent) .*: tracked \{"atk":.*, true \{"atk":/);
    assert.ok(lines.some((line) => line.startsWith("|-boost|")));
  }
});

test("a tracker that fails is found, and the other battles are played", () => {
  class Failing extends Tracker {
    /** @override @param {string} line */
    readLine(line) {
      if (line === "|turn|3") throw new Error("no third turn");
      super.readLine(line);
    }
  }
  const [{ name, times, example }] = fuzz("gen4ou", SEEDS, { trackerOf: (dexInfo, seat) => new Failing(dexInfo, seat) }).sorted();
  assert.deepEqual([name, times], ["crash", SEEDS.length]);
  assert.match(example, /^seed 1, turn 3, no third turn, at /);
});

test("the command prints a line for each kind of difference and how much it compared", () => {
  const { status, stdout, stderr } = run("--format", "gen1ou", "--battles", "2", "--lines", "3");
  assert.equal(status, 0, stdout);
  const lines = stdout.trimEnd().split("\n").filter((line) => !line.startsWith("    "));
  assert.match(lines.at(-1) ?? "", /^gen1ou: battles 2, comparisons \d+, kinds of differences: \d+ known, 0 unknown$/);
  for (const line of lines.slice(0, -1)) assert.match(line, /^known: \d+ × (own|opponent) .*, first seed [12], turn \d+, seat p[12], .* \(.+\)$/);
  assert.match(stderr, /^battle 1 of 2, seed 1: comparisons \d+, /);
});

/** @type {[string, string[], RegExp][]} */
const REFUSED = [
  ["no format", [], /^fuzz-tracker: --format is missing/],
  ["an unknown format", ["--format", "gen1oops"], /^fuzz-tracker: unknown format "gen1oops"/],
  ["no battles", ["--format", "gen1ou", "--battles", "0"], /--battles is "0": expected an integer of at least 1/],
  ["an unknown option", ["--oops"], /Unknown option/],
];
for (const [name, args, words] of REFUSED) {
  test(`${name} is refused with exit code 64`, () => {
    const { status, stderr } = run(...args);
    assert.equal(status, 64, stderr);
    assert.match(stderr, words);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  });
}
