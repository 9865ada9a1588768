/** Doubles through the gateway: battles end, rejections are rare, and Team Preview takes two decisions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Encoder } from "../../src/encoder/encoder.js";
import { LiveBattle } from "../../src/gateway/battle.js";
import { PRNG, playableFormat, simulatorSeed } from "../../src/simulator/package.js";
import { TeamSource } from "../../src/simulator/teams.js";

const SEED = "0123456789abcdef";

test("a battle with picks of four is played to its end", () => {
  const format = playableFormat("gen9vgc2025regi");
  const encoder = Encoder.forFormat(format.id);
  const source = new TeamSource(playableFormat("gen9randomdoublesbattle"));
  const prng = new PRNG(simulatorSeed(SEED));
  const observations = new Float32Array(encoder.space.observation_size);
  const legal = new Uint16Array(encoder.space.num_actions);
  const battle = new LiveBattle(1, format, encoder, {
    seed: SEED, teams: [source.random(SEED), source.random("fedcba9876543210")], lines: [true, true], states: [true, false], log: true, deadlineSeconds: 60,
  });
  battle.observe();
  /** @type {number[]} */
  const previews = [];
  let decisions = 0;
  while (!battle.ended) {
    for (const seat of battle.seats) {
      while (seat.request) {
        const num = battle.encode(seat.index, observations, 0, legal, 0);
        if (/** @type {any} */ (seat.request).teamPreview) previews.push(num);
        const view = battle.view(seat.index);
        if (seat.index === 0) assert.equal(Object.keys(/** @type {any} */ (view?.state).choices).length, num);
        decisions++;
        battle.answer(seat.index, legal[prng.random(num)]);
      }
    }
    battle.observe();
  }
  const result = battle.result();
  assert.deepEqual(previews, [30, 12, 30, 12]);
  assert.equal(result.decisions[0] + result.decisions[1] + result.rejected, decisions);
  assert.match(String(result.log), /\|gametype\|doubles/);
});
