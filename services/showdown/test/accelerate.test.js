/** The sped-up simulator plays the same: every log line and every request of the same seeds and choices. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { accelerate } from "../src/accelerate.js";
import { Battle, Teams, simulatorSeed } from "../src/simulator.js";
import { draws } from "./peer.js";

const BATTLES = Number(process.env.NASHDEX_CONFORMANCE_BATTLES ?? 6);
const MAX_STEPS = 400;
const MAX_ATTEMPTS = 6;
const FORMATS = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((generation) => `gen${generation}randombattle`),
  ...["gen4randomdoublesbattle", "gen6randomdoublesbattle", "gen8randomdoublesbattle", "gen9randomdoublesbattle"],
  ...["gen7letsgorandombattle", "gen8bdsprandombattle", "gen9babyrandombattle", "gen9challengecup1v1", "gen9hackmonscup"],
  ...["gen1challengecup", "gen2challengecup", "gen3challengecup", "gen5challengecup", "gen7challengecup"],
  ...["gen9randombattlemayhem", "gen9freeforallrandombattle"],
];

/** @param {any} request @param {number} slot @param {(limit: number) => number} draw @param {boolean} isSingles */
function slotChoice(request, slot, draw, isSingles) {
  const { pokemon } = request.side;
  const bench = pokemon.flatMap((/** @type {any} */ mon, /** @type {number} */ i) =>
    mon.active || mon.condition.endsWith(" fnt") ? [] : [`switch ${i + 1}`],
  );
  if (request.forceSwitch) return request.forceSwitch[slot] ? (bench[draw(Math.max(1, bench.length))] ?? "pass") : "pass";
  const active = request.active[slot];
  const moves = active.moves.flatMap((/** @type {any} */ move, /** @type {number} */ i) => (move.disabled ? [] : [i + 1]));
  const gimmick = active.canTerastallize ? " terastallize" : active.canMegaEvo ? " mega" : active.canDynamax ? " dynamax" : "";
  const target = isSingles ? "" : [" 1", " 2", "", " -1"][draw(4)];
  const options = [...bench, ...moves.map((/** @type {number} */ i) => `move ${i}${target}${draw(4) === 0 ? gimmick : ""}`)];
  // Moves are twice as likely as switches, so that battles end.
  return draw(3) > 0 && moves.length ? options[bench.length + draw(moves.length)] : (options[draw(options.length)] ?? "pass");
}

/**
 * @param {string} format
 * @param {number} number
 * @returns {{digest: string, decisions: number, isOver: boolean}} a hash over every log line and request
 */
function play(format, number) {
  const hash = createHash("sha256");
  const draw = draws(number + 7);
  const seed = (/** @type {number} */ salt) => simulatorSeed((number * 7919 + salt).toString(16).padStart(16, "0"));
  const battle = /** @type {any} */ (new Battle({ formatid: /** @type {any} */ (format), seed: seed(1), send() {} }));
  for (let side = 0; side < battle.sides.length; side++) {
    battle.setPlayer(`p${side + 1}`, { name: `p${side + 1}`, team: Teams.generate(format, { seed: seed(2 + side) }) });
  }
  let decisions = 0;
  for (let step = 0; step < MAX_STEPS && !battle.ended; step++) {
    const requests = battle.sides.map((/** @type {any} */ side) => side.activeRequest);
    hash.update(JSON.stringify(requests));
    for (const [i, request] of requests.entries()) {
      if (!request || request.wait || battle.ended) continue;
      const side = battle.sides[i];
      let isChosen = false;
      for (let attempt = 0; attempt < MAX_ATTEMPTS && !isChosen && !request.teamPreview; attempt++) {
        const slots = (request.forceSwitch ?? request.active).length;
        const isSingles = battle.gameType === "singles";
        const choice = Array.from({ length: slots }, (_, slot) => slotChoice(request, slot, draw, isSingles)).join(", ");
        isChosen = battle.choose(side.id, choice);
      }
      if (!isChosen) battle.choose(side.id, "default");
      decisions++;
    }
    battle.sentLogPos = battle.log.length;
    battle.sentRequests = true;
  }
  hash.update(battle.log.filter((/** @type {string} */ line) => !line.startsWith("|t:|")).join("\n"));
  return { digest: hash.digest("hex"), decisions, isOver: battle.ended };
}

test("the same seeds and choices give the same logs and requests", () => {
  const cases = FORMATS.flatMap((format) => Array.from({ length: BATTLES }, (_, number) => ({ format, number })));
  const plain = cases.map(({ format, number }) => play(format, number));
  const again = play(cases[0].format, cases[0].number);
  assert.deepEqual(again, plain[0], "a battle must follow from its seed, or the comparison means nothing");
  assert.notEqual(plain[0].digest, plain[1].digest);
  assert.ok(plain.reduce((sum, { decisions }) => sum + decisions, 0) > 20 * cases.length, "battles are too short to show much");

  assert.ok(accelerate(), "the pinned simulator is one that can be sped up");
  for (const [i, { format, number }] of cases.entries()) {
    assert.deepEqual(play(format, number), plain[i], `${format}, battle ${number}`);
  }
});
