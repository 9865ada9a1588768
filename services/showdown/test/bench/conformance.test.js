/** The accelerated simulator plays the same battles, and the comparison can fail. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { transcribeCase } from "../../bench/conformance/play.js";

const CONFORMANCE = fileURLToPath(new URL("../../bench/conformance/conformance.js", import.meta.url));
const SIMULATOR = new URL("../../src/simulator/package.js", import.meta.url).href;
/** The slow tests play every format. */
const FORMATS = ["gen1randombattle", "gen4ou", "gen9randombattle", "gen9doublesou", "gen9vgc2025regi"];
/** @type {string} */
let folder;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), "nashdex-conformance-"));
});
after(() => rmSync(folder, { recursive: true }));

/** @param {string[]} args @returns {{status: number | null, lines: any[], stderr: string}} */
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CONFORMANCE, ...args], { encoding: "utf8", timeout: 1_200_000 });
  return { status, lines: stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)), stderr };
}

/** @param {string} name @param {string} text @returns {string} path of a module with it */
function module(name, text) {
  const where = path.join(folder, name);
  writeFileSync(where, text);
  return where;
}

test("the accelerated simulator plays the same battles", () => {
  const { status, lines, stderr } = run("--formats", FORMATS.join(), "--battles", String(FORMATS.length));
  assert.equal(status, 0, stderr);
  const { decisions, ...outcome } = lines.at(-1);
  assert.ok(decisions > 30 * FORMATS.length);
  assert.deepEqual(outcome, { formats: FORMATS, battles: FORMATS.length, differences: 0, first_difference: null });
  assert.equal(lines.length, FORMATS.length + 1, "a line for each battle, and the outcome");
});

test("a simulator with one extra draw is found, and where", () => {
  const broken = module("broken.mjs", `
    import { Pokemon } from ${JSON.stringify(SIMULATOR)};
    export function accelerate() {
      const { faint } = Pokemon.prototype;
      Pokemon.prototype.faint = function (...args) { this.battle.random(2); return faint.apply(this, args); };
      return true;
    }`);
  const { status, lines } = run("--formats", "gen1randombattle,gen9randombattle", "--battles", "3", "--module", broken);
  assert.equal(status, 65);
  const { differences, first_difference: first } = lines.at(-1);
  assert.equal(differences, 3);
  assert.equal(first.format, "gen1randombattle");
  assert.notEqual(first.plain, first.accelerated);
});

test("the same case gives the same battle, another case another", () => {
  const played = { format: "gen9randombattle", number: 0, seed: 1 };
  const transcript = transcribeCase(played);
  assert.deepEqual(transcribeCase(played), transcript);
  assert.notDeepEqual(transcribeCase({ ...played, number: 1 }), transcript);
  assert.notDeepEqual(transcribeCase({ ...played, seed: 2 }), transcript);
  assert.ok(transcript.some((entry) => entry.startsWith("line |win|")));
});

/** @type {[string, () => string[], RegExp][]} */
const REFUSED = [
  ["an unknown format", () => ["--formats", "gen1oops"], /^conformance: unknown format "gen1oops"/],
  ["no battles", () => ["--battles", "0"], /--battles is "0": expected an integer of at least 1/],
  ["a simulator that cannot be accelerated", () => ["--module", module("none.mjs", "export const accelerate = () => false;")], /cannot be accelerated/],
  ["an unknown option", () => ["--oops"], /Unknown option/],
];
for (const [name, args, words] of REFUSED) {
  test(`${name} is refused with exit code 64`, () => {
    const { status, stderr } = run(...args());
    assert.equal(status, 64, stderr);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
}
