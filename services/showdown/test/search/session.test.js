/** The `search` message: an answer for each row, and refusals in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Peer, start } from "../support/peer.js";
import { play } from "../support/tracker_battles.js";

const BUDGET = { nodes: 1, turns: 1, milliseconds: null, teams: [] };

/** @returns {{lines: string[], request: any, legal: number[]}} a seat's decision in a battle that has begun */
function decision() {
  /** @type {any} */
  let found = null;
  play("gen1randombattle", 8, ({ battle, trackers, lines }) => {
    const { choices } = /** @type {any} */ (trackers[0].state());
    if (found === null && battle.turn === 3 && Object.keys(choices).length > 1) {
      found = { lines: [...lines[0]], request: JSON.parse(JSON.stringify(battle.sides[0].activeRequest)), legal: Object.keys(choices).map(Number) };
    }
  }, { maxSteps: 20 });
  assert.ok(found);
  return found;
}

test("a search answers with a mixture over the legal actions, the same for the same seed", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { lines, request, legal } = decision();
  const rows = [7, 8].map((battle) => ({ battle, seat: 0, lines, request, seed: "0000000000000001" }));
  peer.tell({ type: "search", rows, ...BUDGET });
  const [first, second] = (await peer.expect("searched")).rows;
  assert.deepEqual(first.actions, legal);
  assert.equal(first.cause, null);
  assert.ok(first.worlds === 1 && first.nodes >= legal.length);
  assert.deepEqual({ ...second, battle: 7 }, first);
});

test("a limit in milliseconds ends a search that has nodes left", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { lines, request } = decision();
  const rows = [{ battle: 7, seat: 0, lines, request, seed: "0000000000000001" }];
  peer.tell({ type: "search", rows, ...BUDGET, nodes: 1_000_000, milliseconds: 100 });
  const [found] = (await peer.expect("searched")).rows;
  assert.ok(found.worlds >= 1 && found.nodes < 1_000_000);
});

test("doubles are refused", async () => {
  const peer = await Peer.inProcess().hello("gen9randomdoublesbattle");
  peer.tell({ type: "search", rows: [], ...BUDGET });
  assert.match((await peer.expect("error")).message, /gen9randomdoublesbattle is doubles/);
});

test("a format without a generator needs its teams", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  peer.tell({ type: "search", rows: [], ...BUDGET });
  assert.match((await peer.expect("error")).message, /gen1ou generates no teams: give the teams/);
});

test("a request that asks for nothing is refused", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { lines } = decision();
  peer.tell({ type: "search", rows: [{ battle: 1, seat: 0, lines, request: { wait: true }, seed: "0000000000000001" }], ...BUDGET });
  assert.match((await peer.expect("error")).message, /asks for nothing/);
});

test("a battle that does not run cannot be forked", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell({ type: "fork", battle: 3, fork: 4, seat: null, seed: "0000000000000001", teams: [], deadline_seconds: 9 });
  assert.match((await peer.expect("error")).message, /fork: battle 3 does not run/);
});

test("doubles are forked exactly, not by what a seat sees", async () => {
  const peer = await Peer.inProcess().hello("gen9randomdoublesbattle");
  peer.tell({ type: "start", battles: [start(1)] });
  assert.deepEqual((await peer.expect("decisions")).battles, [1, 1]);
  const fork = { type: "fork", battle: 1, fork: 2, seat: null, seed: "0000000000000001", teams: [], deadline_seconds: 9 };
  peer.tell(fork);
  assert.deepEqual((await peer.expect("decisions")).battles, [2, 2]);
  peer.tell({ ...fork, fork: 3, seat: 0 });
  assert.match((await peer.expect("error")).message, /fork: format gen9randomdoublesbattle is doubles/);
});

/** @param {object} [changes] @returns {object} a message that resumes the battle of `decision()` */
function resumed(changes) {
  const { lines, request } = decision();
  const seen = [lines, lines];
  return { type: "resume", battle: 7, seat: 0, seen, request, input: [], seed: "0000000000000001", teams: [], lines: [false, true], states: [true, false], draws: [null, null], log: true, deadline_seconds: 60, ...changes };
}

test("a battle is resumed where a seat stands", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { lines, request } = decision();
  peer.tell(resumed({ seen: [lines, lines] }));
  const { rows } = await peer.expect("lines");
  const own = rows.find((/** @type {any} */ row) => row.seat === 0);
  assert.deepEqual(own.state.own.pokemon.map((/** @type {any} */ { hp }) => hp > 0), request.side.pokemon.map((/** @type {any} */ { condition }) => !condition.endsWith("fnt")));
  assert.deepEqual(rows.find((/** @type {any} */ row) => row.seat === 1).lines, lines, "a seat that reads lines has all of them");
  assert.deepEqual((await peer.expect("decisions")).battles, [7, 7]);
});

test("a battle that runs cannot be resumed under its number", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell(resumed({ lines: [false, false], states: [false, false] }));
  await peer.expect("decisions");
  peer.tell(resumed());
  assert.match((await peer.expect("error")).message, /resume: battle 7 runs already/);
});

test("a request that does not fit its lines fails the battle alone", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { request } = decision();
  peer.tell(resumed({ request: { ...request, side: { ...request.side, pokemon: [{}] } } }));
  const [failed] = (await peer.expect("failed")).battles;
  assert.equal(failed.battle, 7);
  peer.tell(resumed({ lines: [false, false], states: [false, false] }));
  assert.deepEqual((await peer.expect("decisions")).battles, [7, 7]);
});

test("doubles are not resumed", async () => {
  const peer = await Peer.inProcess().hello("gen9randomdoublesbattle");
  peer.tell(resumed());
  assert.match((await peer.expect("error")).message, /resume: format gen9randomdoublesbattle is doubles/);
});
