/** Joint actions: the simulator accepts exactly the legal pairs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choiceOf, writeLegal } from "../../src/tracker/doubles/actions.js";
import { numSlotChoices, slotChoiceNames } from "../../src/tracker/doubles/slots.js";
import { playDoubles } from "../support/doubles_battles.js";

/** @typedef {import("../../src/tracker/tracker.js").Tracker} Tracker */

test("each slot has poke-env's number of choices", () => {
  const sizes = [3, 4, 5, 6, 7, 8, 9].map(numSlotChoices);
  assert.deepEqual(sizes, [27, 27, 27, 47, 67, 87, 107]);
  const names = slotChoiceNames(9);
  assert.equal(names.length, 107);
  assert.deepEqual([0, 1, 6, 7, 9, 11, 26, 27, 106].map((choice) => names[choice]), [
    "pass", "switch 1", "switch 6", "move 1 at own 2", "move 1", "move 1 at foe 2", "move 4 at foe 2", "mega move 1 at own 2", "terastallize move 4 at foe 2",
  ]);
});

const TARGETS = ["", " -2", " -1", " 1", " 2"];

/** @param {any} request @param {number} position @returns {string[]} every distinct text for one slot */
function conceivable(request, position) {
  const active = request.active?.[position];
  const texts = ["pass", ...request.side.pokemon.map((/** @type {unknown} */ _, /** @type {number} */ place) => `switch ${place + 1}`)];
  // Of a locked Pokémon, the simulator ignores other words, as it does of one that is dynamaxed already.
  const suffixes = active?.moves[0].pp === undefined ? [""] : ["", " mega", " zmove", " dynamax", " terastallize"];
  if (active?.maxMoves && !active.canDynamax) suffixes.splice(suffixes.indexOf(" dynamax"), 1);
  for (const [place] of (active?.moves ?? []).entries()) {
    for (const suffix of suffixes) for (const target of TARGETS) texts.push(`move ${place + 1}${suffix}${target}`);
  }
  return texts;
}

/** What the simulator asks a Pokémon again for each choice, though no choice changes it. */
const QUESTIONS = ["getMoveRequestData", "getMoves", "getLockedMove", "getSemiLockedMove"];

/** @param {any} side @param {any} request @returns {string[]} every joint choice that the simulator accepts */
function accepted(side, request) {
  for (const pokemon of side.active) {
    const answers = QUESTIONS.map((question) => pokemon[question]());
    QUESTIONS.forEach((question, i) => (pokemon[question] = () => answers[i]));
  }
  try {
    return triedOut(side, request);
  } finally {
    for (const pokemon of side.active) for (const question of QUESTIONS) delete pokemon[question];
  }
}

/** @param {any} side @param {any} request @returns {string[]} every joint choice that the simulator accepts */
function triedOut(side, request) {
  const flags = side.active.map((/** @type {any} */ pokemon) => pokemon.switchFlag);
  /** @param {string} text @param {boolean} [whole] */
  const takes = (text, whole = true) => {
    let ok = false;
    try {
      ok = side.choose(text) && (!whole || side.isChoiceDone());
    } catch (error) {
      // The simulator throws where more switch in than must.
      if (!/switched too many/.test(String(error))) throw error;
    }
    // A revival clears the flag at once.
    side.active.forEach((/** @type {any} */ pokemon, /** @type {number} */ position) => (pokemon.switchFlag = flags[position]));
    side.clearChoice();
    return ok;
  };
  const firsts = conceivable(request, 0).filter((text) => takes(text, false));
  // A plain move leaves every gimmick to the second slot.
  const plain = firsts.find((text) => /^move \d( -?\d)?$/.test(text)) ?? firsts[0];
  const probes = [plain, firsts[0], firsts.at(-1), firsts[firsts.length >> 1]];
  const seconds = conceivable(request, 1).filter((text) => probes.some((probe) => takes(`${probe}, ${text}`)));
  return firsts.flatMap((first) => seconds.map((second) => `${first}, ${second}`).filter((text) => takes(text)));
}

/** @param {Tracker} tracker @returns {string[]} */
function legalTexts(tracker) {
  const actions = new Uint16Array(5000);
  const num = writeLegal(tracker, actions, 0);
  for (let i = 1; i < num; i++) assert.ok(actions[i] > actions[i - 1], "actions ascend");
  return Array.from(actions.subarray(0, num), (action) => choiceOf(tracker, action));
}

/** Every doubles format that nashdex lists, and a sample with each particular of a generation. */
const SHIPPED = [
  "gen9vgc2023regc", "gen9vgc2023regd", "gen9vgc2024regg", "gen9vgc2025regi", "gen9championsvgc2026regma", "gen9championsvgc2026regmb",
  "gen8vgc2020", "gen8vgc2021", "gen8vgc2022", "gen9randomdoublesbattle", "gen3doublesou", "gen4doublesou", "gen5doublesou", "gen6doublesou",
  "gen7doublesou", "gen8doublesou", "gen9doublesou",
];
const SAMPLE = ["gen9vgc2025regi", "gen9championsvgc2026regma", "gen8vgc2022", "gen7doublesou", "gen6doublesou", "gen9randomdoublesbattle", "gen3doublesou"];
const BATTLES = Number(process.env.NASHDEX_TEST_BATTLES ?? 1);

for (const format of process.env.NASHDEX_TEST_EXHAUSTIVE ? SHIPPED : SAMPLE) {
  test(`the simulator accepts exactly the legal pairs of ${format}`, () => {
    let decisions = 0;
    let refused = 0;
    for (let seed = 1; seed <= BATTLES; seed++) {
      refused += playDoubles(format, seed, ({ battle, trackers }) => {
        for (const [seat, tracker] of trackers.entries()) {
          const side = battle.sides[seat];
          const request = /** @type {any} */ (side.activeRequest);
          const ours = legalTexts(tracker);
          if (!request || request.wait) {
            assert.equal(ours.length, 0);
            continue;
          }
          assert.ok(ours.length > 0);
          assert.equal(new Set(ours).size, ours.length, "two actions mean the same");
          decisions++;
          if (request.teamPreview) {
            for (const choice of ours) {
              // The first of two decisions names the leads; the simulator would complete them.
              assert.ok(side.choose(choice), choice);
              side.clearChoice();
            }
            continue;
          }
          // What the player cannot know is rejected later, with a corrected request.
          if (request.active?.some((/** @type {any} */ active) => active.maybeTrapped || active.maybeDisabled || active.maybeLocked)) continue;
          // A rejection may add to the request why a move is disabled.
          side.activeRequest = structuredClone(request);
          const theirs = accepted(side, request);
          side.activeRequest = request;
          const [known, taken] = [new Set(ours), new Set(theirs)];
          const differing = { missing: theirs.filter((text) => !known.has(text)), refused: ours.filter((text) => !taken.has(text)) };
          assert.deepEqual(differing, { missing: [], refused: [] }, `battle ${seed}: ${JSON.stringify({ differing, request })}`);
        }
      });
    }
    assert.ok(decisions > 5 * BATTLES, `${decisions} decisions`);
    console.log(`${format}: ${decisions} decisions, ${refused} rejected`);
  });
}
