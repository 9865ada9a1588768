/** Leaves that the client values: what they show is what the battle itself would show there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { play as playChoices, choicesOf } from "../../src/search/choices.js";
import { copyBattle } from "../../src/search/clone.js";
import { Expansion } from "../../src/search/expansion.js";
import { ownLines } from "../../src/search/lines.js";
import { Prior } from "../../src/search/prior.js";
import { forkBattle } from "../../src/simulator/fork.js";
import { playableFormat } from "../../src/simulator/package.js";
import { legalChoices } from "../../src/tracker/actions.js";
import { copyTracker } from "../../src/tracker/copy.js";
import { Peer } from "../support/peer.js";
import { play } from "../support/tracker_battles.js";

const SEED = "00000000000000a7";

for (const format of ["gen1randombattle", "gen4randombattle", "gen9randombattle"]) {
  test(`a copy of a ${format} battle writes the log that the simulator's own copy writes`, () => {
    let compared = 0;
    play(format, 11, ({ battle, trackers, encoder }) => {
      if (battle.turn % 4 !== 2 || battle.requestState !== "move") return;
      const theirs = /** @type {any} */ (forkBattle(battle, SEED));
      const from = theirs.log.length;
      const original = battle.log.length;
      const ours = /** @type {any} */ (copyBattle(battle, SEED));
      for (const one of [ours, theirs]) for (let step = 0; step < 3 && !one.ended; step++) playChoices(one, [0, 1].map((seat) => choicesOf(one, seat)[0] ?? null));
      const withoutTime = (/** @type {string[]} */ log) => log.filter((line) => !line.startsWith("|t:|"));
      assert.deepEqual(withoutTime(ours.log), withoutTime(theirs.log.slice(from)), `from turn ${battle.turn}`);
      assert.equal(battle.log.length, original, "the battle writes nothing");
      if (ours.ended || !ours.sides[0].activeRequest || ours.sides[0].activeRequest.wait) return;
      const rows = [ours, theirs].map((one, at) => {
        const tracker = copyTracker(trackers[0]);
        for (const line of ownLines(at === 0 ? one.log : one.log.slice(from), 0)) tracker.readLine(line);
        tracker.readRequest(one.sides[0].activeRequest);
        const row = new Float32Array(encoder.space.observation_size);
        encoder.encode(tracker, row, 0);
        return row;
      });
      assert.deepEqual(rows[0], rows[1], "what the seat sees there");
      compared++;
    }, { maxSteps: 60 });
    assert.ok(compared >= 4, `${compared} copies`);
  });
}

test("leaves show the seat's own decision one turn later, and the answer follows their values", () => {
  const format = "gen1randombattle";
  let done = 0;
  play(format, 3, ({ battle, trackers, encoder }) => {
    if (done === 3 || battle.turn % 5 !== 2 || battle.requestState !== "move") return;
    const prior = new Prior(playableFormat(format), encoder.dexInfo.dex, []);
    const before = JSON.stringify(trackers[0].state());
    const expansion = new Expansion(trackers[0], prior, { nodes: 40, turns: 1, milliseconds: null }, SEED);
    assert.equal(JSON.stringify(trackers[0].state()), before, "the seat's own knowledge");
    const { actions } = expansion.solved(expansion.trackers.map(() => 0));
    assert.deepEqual(actions, Object.keys(legalChoices(trackers[0])).map(Number));
    if (actions.length === 1) return;
    assert.ok(expansion.trackers.length > 0);
    for (const tracker of expansion.trackers) {
      assert.ok(/** @type {any} */ (tracker.state()).turn > battle.turn);
      assert.ok(Object.keys(legalChoices(tracker)).length > 0);
    }
    const again = new Expansion(trackers[0], prior, { nodes: 40, turns: 1, milliseconds: null }, SEED);
    const values = expansion.trackers.map((_, row) => Math.sin(row));
    assert.deepEqual(again.solved(values), expansion.solved(values));
    assert.notDeepEqual(expansion.solved(values.map((value) => -value)).probabilities, expansion.solved(values).probabilities);
    done++;
  }, { maxSteps: 60 });
  assert.ok(done >= 2, `${done} decisions`);
});

test("the client gets a row for each leaf, and gives each a value", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  /** @type {any[]} */
  const rows = [];
  play("gen1randombattle", 8, ({ battle, lines }) => {
    if (battle.turn === 3 && rows.length === 0) rows.push({ battle: 7, seat: 0, lines: [...lines[0]], request: JSON.parse(JSON.stringify(battle.sides[0].activeRequest)), seed: SEED });
  }, { maxSteps: 20 });
  peer.tell({ type: "expand", rows, nodes: 1, turns: 1, milliseconds: null, teams: [] });
  const [{ leaves }] = (await peer.expect("expanded")).rows;
  const decisions = await peer.expect("decisions");
  assert.ok(leaves > 0);
  assert.deepEqual(decisions.battles, Array(leaves).fill(7));
  const values = [];
  for (const worth of [0.5, -0.5]) {
    if (values.length > 0) {
      peer.tell({ type: "expand", rows: [{ ...rows[0], lines: [] }], nodes: 1, turns: 1, milliseconds: null, teams: [] });
      await peer.expect("expanded");
      await peer.expect("decisions");
    }
    peer.tell({ type: "value", rows: [{ battle: 7, seat: 0, values: Array(leaves).fill(worth) }] });
    const [found] = (await peer.expect("searched")).rows;
    assert.equal(found.cause, null);
    values.push(found.values);
  }
  const [higher, lower] = values;
  higher.forEach((/** @type {number} */ value, /** @type {number} */ at) => {
    assert.ok(Math.abs(value - lower[at] - 0.5) < 1e-6, "half of a leaf's value is the client's");
    assert.ok(Math.abs(value - 0.25) < 0.25 && Math.abs(value - 0.25) > 1e-9, "the other half is the position's own");
  });
  peer.tell({ type: "value", rows: [{ battle: 7, seat: 0, values: [] }] });
  assert.match((await peer.expect("error")).message, /seat 0 of battle 7 was not expanded/);
});
