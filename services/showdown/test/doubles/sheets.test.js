/** Open Team Sheets: before Team Preview, each player sees all of the other's team but its stats. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toID } from "../../src/simulator/package.js";
import { playDoubles } from "../support/doubles_battles.js";

const BATTLES = Number(process.env.NASHDEX_TEST_BATTLES ?? 4);

/** Species that the sheet names as the item makes them. */
const CROWNED = /** @type {Record<string, string>} */ ({ zacianrustedsword: "zaciancrowned", zamazentarustedshield: "zamazentacrowned" });

/** @param {any} set of the team @param {boolean} hasTera */
function sheetOf(set, hasTera) {
  return {
    species: CROWNED[toID(set.species + set.item)] ?? toID(set.species), item: toID(set.item), ability: toID(set.ability), moves: set.moves.map(toID).sort(),
    tera: hasTera ? toID(set.teraType) : "",
  };
}

/** @param {any} pokemon of the tracker's state */
function shownOf({ species, item, base_ability: ability, moves, tera }) {
  return { species, item, ability, moves: moves.map((/** @type {any} */ move) => move.id).sort(), tera };
}

/** Formats, and the least number of Pokémon to compare in a battle. @type {[string, number][]} */
const FORMATS = [
  ["gen9championsvgc2026regmabo3", 50], ["gen9vgc2023regcbo3", 40], ["gen9vgc2023regdbo3", 40], ["gen9vgc2024reggbo3", 40], ["gen9vgc2025regibo3", 40],
];

for (const [format, least] of FORMATS) test(`the tracker knows the opponent's sheet in ${format}, and follows its items and moves from there`, () => {
  let previews = 0;
  let compared = 0;
  for (let seed = 1; seed <= BATTLES; seed++) {
    playDoubles(format, seed, ({ battle, trackers }) => {
      for (const [seat, tracker] of trackers.entries()) {
        const state = /** @type {any} */ (tracker.state());
        const other = battle.sides[1 - seat];
        if (battle.requestState === "teampreview") {
          previews++;
          assert.deepEqual(state.opponent.pokemon.map(shownOf), other.team.map((set) => sheetOf(set, !format.includes("champions"))));
          continue;
        }
        for (const pokemon of other.pokemon) {
          const shown = state.opponent.pokemon.find((/** @type {any} */ one) => one.name === pokemon.name);
          if (!shown || pokemon.illusion || pokemon.fainted || pokemon.transformed) continue;
          compared++;
          assert.equal(shown.item, pokemon.item, `${pokemon.name} in battle ${seed}, turn ${battle.turn}`);
          assert.deepEqual(shown.moves.map((/** @type {any} */ move) => move.id).sort(), pokemon.moves.toSorted());
        }
      }
    });
  }
  assert.ok(previews >= 2 * BATTLES && compared > least * BATTLES, `${previews} previews, ${compared} compared`);
});

test("where players may agree on sheets, the tracker reads those that are shown", () => {
  let shown = 0;
  playDoubles("gen9vgc2024regg", 3, ({ battle, trackers, fresh }) => {
    // What the server does once both players have accepted.
    if (battle.requestState === "teampreview") battle.showOpenTeamSheets();
    for (const [seat, tracker] of trackers.entries()) {
      if (!fresh[seat].some((line) => line.startsWith("|showteam|"))) continue;
      shown++;
      const state = /** @type {any} */ (tracker.state());
      const known = Object.fromEntries(state.opponent.pokemon.map((/** @type {any} */ one) => [one.species, one]));
      for (const set of battle.sides[1 - seat].team) {
        const { tera, moves } = known[toID(set.species)];
        assert.equal(tera, toID(set.teraType));
        assert.deepEqual(moves.map((/** @type {any} */ move) => move.id).sort(), set.moves.map(toID).sort());
      }
    }
  }, { maxSteps: 2 });
  assert.equal(shown, 2);
});
