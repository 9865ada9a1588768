import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { playableFormat } from "../../src/simulator/package.js";
import { TeamSource } from "../../src/simulator/teams.js";

const RAW = fileURLToPath(new URL("../../bench/raw.js", import.meta.url));
/** @type {string} */
let folder;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), "nashdex-raw-"));
});
after(() => rmSync(folder, { recursive: true }));

/** @param {string[]} args */
function run(...args) {
  return spawnSync(process.execPath, [RAW, ...args], { encoding: "utf8", timeout: 600_000 });
}

/** @param {string} name @param {string[]} lines @returns {string} path of a file with them */
function file(name, lines) {
  const where = path.join(folder, name);
  writeFileSync(where, lines.map((line) => `${line}\n`).join(""));
  return where;
}

for (const [format, accelerated] of /** @type {[string, boolean][]} */ ([["gen1ou", false], ["gen1randombattle", true], ["gen9randomdoublesbattle", false]])) {
  test(`speed of ${format}${accelerated ? ", accelerated" : ""}`, () => {
    const teams = new TeamSource(playableFormat("gen1ou")).generate(3, "0".repeat(16), "gen1randombattle");
    const own = format === "gen1ou" ? ["--teams", file("teams.txt", teams)] : [];
    const { status, stdout, stderr } = run("--format", format, "--seconds", "0.4", "--warm-up", "0.2", "--battles", "4", ...own, ...(accelerated ? ["--accelerated"] : []));
    assert.equal(status, 0, stderr);
    const result = JSON.parse(stdout);
    assert.deepEqual(Object.keys(result), ["format", "accelerated", "decisions", "cpu_seconds", "battles", "decisions_per_cpu_second"]);
    assert.equal(result.format, format);
    assert.equal(result.accelerated, accelerated);
    assert.ok(result.decisions > 50 && result.battles >= 0);
    assert.ok(Math.abs(result.decisions / result.cpu_seconds / result.decisions_per_cpu_second - 1) < 0.01);
  });
}

/** @type {[string, () => string[], number, RegExp][]} */
const REFUSED = [
  ["no format", () => [], 64, /--format is missing/],
  ["an unknown format", () => ["--format", "gen1oops"], 64, /unknown format "gen1oops"/],
  ["an unknown option", () => ["--oops"], 64, /Unknown option '--oops'/],
  ["no seconds", () => ["--format", "gen1ou", "--seconds", "0"], 64, /--seconds is "0": expected a number of at least 0.1/],
  ["a format that needs teams", () => ["--format", "gen1ou"], 64, /no team generator/],
  ["a file that is missing", () => ["--format", "gen1ou", "--teams", path.join(folder, "none")], 65, /cannot read .*none/],
  ["a file without teams", () => ["--format", "gen1ou", "--teams", file("empty.txt", [""])], 65, /has no team/],
  ["an illegal team", () => ["--format", "gen1ou", "--teams", file("bad.txt", ["Mewtwo|||NoAbility|spore||||||||"])], 65, /team 1 is illegal: .*Uber/],
];
for (const [name, args, code, words] of REFUSED) {
  test(`${name} is refused with exit code ${code}`, () => {
    const { status, stderr } = run(...args());
    assert.equal(status, code, stderr);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
}
