/** Every team that nashdex ships is legal by the simulator's validator. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { TeamValidator, Teams } from "../../src/simulator/package.js";

const FOLDER = new URL("../../../nashdex/games/showdown/team_sets/", import.meta.url);
const FILES = readdirSync(FOLDER).filter((file) => file.endsWith(".txt")).sort();

/** @param {string} file @returns {string[]} its teams: packed, one a line, or export text between lines of === */
function teamsOf(file) {
  const text = readFileSync(new URL(file, FOLDER), "utf8");
  if (!text.includes("|")) return text.split(/^===$/m).filter((team) => team.trim());
  return text.split("\n").filter((line) => line.trim() && !line.startsWith("#"));
}

for (const file of FILES) {
  test(`${file} has legal teams`, () => {
    const validator = new TeamValidator(/** @type {any} */ (file.split(".")[0]));
    const teams = teamsOf(file);
    assert.ok(teams.length > 0);
    for (const [i, text] of teams.entries()) {
      const team = Teams.import(text);
      assert.ok(team?.length, `team ${i + 1} cannot be read`);
      assert.equal(validator.validateTeam(team), null, `team ${i + 1}`);
    }
  });
}

test("gen1ou has at least fifty teams, no two alike, the hand-written ones among them", () => {
  const packed = teamsOf("gen1ou.txt");
  assert.ok(packed.length >= 50);
  assert.equal(new Set(packed).size, packed.length);
  const byHand = teamsOf("gen1ou.hand-written.txt");
  const species = (/** @type {string} */ text) => (Teams.import(text) ?? []).map((set) => set.species || set.name).sort().join();
  const known = new Set(packed.map(species));
  for (const team of byHand) assert.ok(known.has(species(team)), "a hand-written team is missing from the set");
});

test("an illegal team would be found", () => {
  const validator = new TeamValidator(/** @type {any} */ ("gen1ou"));
  const problems = validator.validateTeam(Teams.import("Mewtwo\n- Psychic\n"));
  assert.match(String(problems), /Mewtwo is tagged Uber/);
});
