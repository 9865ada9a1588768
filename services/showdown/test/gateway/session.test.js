import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";
import { DecisionBatch, FramePool } from "../../src/gateway/protocol/batch.js";
import { MAX_FRAME_BYTES } from "../../src/gateway/protocol/frames.js";
import { PROTOCOL } from "../../src/gateway/protocol/messages.js";
import { simulatorVersion } from "../../src/simulator/package.js";
import { Peer, frame, start } from "../support/peer.js";

const LEGAL = "Tauros|||NoAbility|bodyslam,hyperbeam,earthquake,blizzard||252,252,252,252,252,252||30,30,30,30,30,30|||";

/** @param {object} message sent first @param {string} code @param {RegExp} words */
async function refused(message, code, words) {
  const peer = Peer.inProcess();
  peer.tell(message);
  const error = await peer.expect("error");
  assert.equal(error.code, code);
  assert.match(error.message, words);
  assert.equal(peer.session?.isClosed, true);
}

test("welcome gives the simulator's version and the space", async () => {
  const { welcome } = await Peer.inProcess().hello("gen1ou");
  assert.equal(welcome.simulator, simulatorVersion);
  assert.equal(welcome.space.format, "gen1ou");
  assert.equal(welcome.space.num_actions, welcome.space.actions.length);
});

/** @param {string} format */
const hello = (format) => ({ type: "hello", protocol: PROTOCOL, format, token: null });

test("another protocol is refused with both versions, whatever its fields", () =>
  refused({ type: "hello", protocol: PROTOCOL + 1, formats: [] }, "protocol", new RegExp(`protocol ${PROTOCOL + 1}.* ${PROTOCOL}:`)));
test("an unknown format is refused by name", () => refused(hello("gen1oops"), "unknown_format", /"gen1oops"/));
test("a format's name is not its id", () => refused(hello("Gen 1 OU"), "unknown_format", /write its id, gen1ou/));
test("triples are refused", () => refused(hello("gen5triplescustomgame"), "unknown_format", /is triples/));
test("a missing format is refused", () => refused({ type: "hello", protocol: PROTOCOL, token: null }, "bad_message", /has no format/));
test("nothing comes before hello", () => refused({ type: "validate", teams: [] }, "protocol", /validate came before hello/));
test("a message without a type is refused", () => refused({ protocol: 1 }, "bad_message", /not an object with a type/));

/** @type {[string, object, RegExp][]} */
const BAD_MESSAGES = [
  ["a start without a seed", { type: "start", battles: [start(1, { seed: undefined })] }, /battles\.0 has no seed/],
  ["a format without a generator", { type: "generate", count: 1, seed: "0".repeat(16), source: null }, /gen1ou has no team generator/],
  ["an unknown source", { type: "generate", count: 1, seed: "0".repeat(16), source: "gen0" }, /unknown format "gen0"/],
  ["choices of a battle that is not tracked", { type: "choices", rows: [{ battle: 1, seat: 0, action: 0 }] }, /battle 1 is not tracked/],
  ["a second hello", hello("gen1ou"), /hello came twice/],
];
for (const [name, message, words] of BAD_MESSAGES) {
  test(`${name} is refused`, async () => {
    const peer = await Peer.inProcess().hello("gen1ou");
    peer.tell(message);
    assert.match((await peer.expect("error")).message, words);
  });
}

test("control that is not JSON is refused", async () => {
  const peer = Peer.inProcess();
  peer.send(frame("control", Buffer.from("{oops")));
  const error = await peer.expect("error");
  assert.equal(error.code, "bad_message");
  assert.match(error.message, /not JSON/);
});

test("a decisions frame from a client is refused", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  peer.send(frame("decisions", Buffer.alloc(8)));
  assert.equal((await peer.expect("error")).code, "bad_frame");
});

test("an actions frame of the wrong size is refused", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  const payload = Buffer.alloc(13);
  payload.writeUInt32LE(1, 0);
  peer.send(frame("actions", payload));
  assert.equal((await peer.expect("error")).code, "bad_frame");
});

test("a start without a team where the format has no generator fails alone", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  peer.tell({ type: "start", battles: [start(1), start(2, { teams: [LEGAL, LEGAL] })] });
  const { battles } = await peer.expect("failed");
  assert.deepEqual(battles.map((/** @type {any} */ entry) => [entry.battle, entry.cause]), [[1, "bad_start"]]);
  assert.match(battles[0].detail, /gen1ou has no team generator/);
  assert.deepEqual((await peer.expect("decisions")).battles, [2, 2]);
});

test("an illegal team fails its battle with the validator's words", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  peer.tell({ type: "start", battles: [start(4, { teams: [LEGAL, LEGAL.replace("Tauros", "Mewtwo")] })] });
  const [failure] = (await peer.expect("failed")).battles;
  assert.equal(failure.cause, "illegal_team");
  assert.match(failure.detail, /Mewtwo is tagged Uber, which is banned/);
});

test("validate answers with the validator's words or the packed team", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  const text = "Snorlax\nEVs: 252 HP / 252 Atk / 252 Def / 252 SpA / 252 SpD / 252 Spe\n- Body Slam\n- Rest\n";
  peer.tell({ type: "validate", teams: [text, LEGAL, text.replace("Rest", "Spore"), "", "[{}]", "]|||"] });
  const { problems, packed } = await peer.expect("validated");
  assert.deepEqual(problems.slice(0, 2), [null, null]);
  assert.match(packed[0], /^Snorlax\|.*BodySlam,Rest/);
  assert.deepEqual(problems[2], ["Snorlax can't learn Spore."]);
  for (const unreadable of [3, 4, 5]) {
    assert.equal(packed[unreadable], null);
    assert.ok(problems[unreadable].length > 0);
  }
});

test("generated teams of another format's generator are legal and depend only on the seed", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  const ask = async (/** @type {string} */ seed) => {
    peer.tell({ type: "generate", count: 8, seed, source: "gen1randombattle" });
    return (await peer.expect("generated")).teams;
  };
  const teams = await ask("00000000000000aa");
  assert.equal(new Set(teams).size, 8);
  assert.deepEqual(await ask("00000000000000aa"), teams);
  assert.notDeepEqual(await ask("00000000000000ab"), teams);
  peer.tell({ type: "validate", teams });
  assert.deepEqual((await peer.expect("validated")).problems, Array(8).fill(null));
});

test("a battle past its deadline fails; a late action for it is ignored", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell({ type: "start", battles: [start(1, { deadline_seconds: 0.01 }), start(2)] });
  assert.deepEqual((await peer.expect("decisions")).battles, [1, 1, 2, 2]);
  await sleep(20);
  peer.session?.sweep();
  const { battles } = await peer.expect("failed");
  assert.deepEqual(battles.map((/** @type {any} */ entry) => [entry.battle, entry.cause]), [[1, "deadline"]]);
  peer.act([{ battle: 1, seat: 0, action: 6 }]);
  peer.act([{ battle: 2, seat: 0, action: 250 }]);
  assert.equal((await peer.expect("rejected")).battle, 2);
});

test("a battle's number is free again once the battle is over", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  assert.equal((await peer.play([start(1)])).size, 1);
  assert.equal((await peer.play([start(1)])).size, 1);
});

/** @type {[string, {battle: number, seat: number, action: number}[], RegExp][]} */
const BAD_ACTIONS = [
  ["a battle that does not run", [{ battle: 9, seat: 0, action: 6 }], /battle 9, which does not run/],
  ["a seat that does not exist", [{ battle: 1, seat: 2, action: 6 }], /seat 2 of battle 1/],
  ["a seat that has answered", [{ battle: 1, seat: 0, action: 6 }, { battle: 1, seat: 0, action: 6 }], /seat 0 of battle 1, which has nothing to choose/],
  ["a seat whose rejected decision has not been sent again", [{ battle: 1, seat: 0, action: 250 }, { battle: 1, seat: 0, action: 6 }], /nothing to choose/],
];
for (const [name, rows, words] of BAD_ACTIONS) {
  test(`an action for ${name} is refused`, async () => {
    const peer = await Peer.inProcess().hello("gen1randombattle");
    peer.tell({ type: "start", battles: [start(1)] });
    await peer.expect("decisions");
    peer.act(rows);
    const error = await peer.expect("error");
    assert.equal(error.code, "bad_message");
    assert.match(error.message, words);
  });
}

test("a running battle cannot be started or tracked", async () => {
  for (const message of [{ type: "start", battles: [start(1)] }, { type: "track", rows: [{ battle: 1, seat: 0, lines: [], request: null, state: false }] }]) {
    const peer = await Peer.inProcess().hello("gen1randombattle");
    peer.tell({ type: "start", battles: [start(1)] });
    await peer.expect("decisions");
    peer.tell(message);
    assert.match((await peer.expect("error")).message, /battle 1 runs/);
  }
});

test("a tracked seat whose request asks for no choice fails, and others go on", async () => {
  const peer = await Peer.inProcess().hello("gen1ou");
  const mew = { ident: "p1: Mew", details: "Mew", condition: "1/1", active: true, stats: { atk: 1, def: 1, spa: 1, spd: 1, spe: 1 }, moves: ["psychic"] };
  const active = [{ moves: [{ move: "Psychic", id: "psychic", pp: 1, maxpp: 1, target: "normal", disabled: false }] }];
  /** @param {number} battle @param {object} asked */
  const row = (battle, asked) => ({ battle, seat: 0, lines: [], request: { ...asked, side: { id: "p1", name: "Ann", pokemon: [mew] } }, state: false });
  peer.tell({ type: "track", rows: [row(1, {}), row(2, { active })] });
  assert.deepEqual((await peer.expect("failed")).battles, [{ battle: 1, cause: "tracker_error", detail: "the request asks for no choice" }]);
  assert.deepEqual((await peer.expect("decisions")).battles, [2]);
});

test("a finished battle leaves nothing in memory", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = /** @type {() => void} */ (vm.runInNewContext("gc"));
  const peer = await Peer.inProcess().hello("gen1randombattle");
  /** @type {Map<number, WeakRef<object>>} */
  const simulations = new Map();
  await peer.play([start(1), start(2, { log: true, lines: [true, true] })], () => {
    for (const [id, battle] of peer.session?.battles ?? []) simulations.set(id, new WeakRef(battle.simulation));
  });
  peer.tell({ type: "start", battles: [start(3)] });
  simulations.set(3, new WeakRef(/** @type {any} */ (peer.session?.battles.get(3)).simulation));
  await sleep(0);
  collect();
  assert.deepEqual([1, 2, 3].map((id) => simulations.get(id)?.deref() !== undefined), [false, false, true]);
});

test("recycling is asked for once, after the first finished battle", async () => {
  const peer = await Peer.inProcess({ maxHeapBytes: 1 }).hello("gen1randombattle");
  peer.session?.sweep();
  assert.deepEqual(peer.received, []);
  await peer.play([start(1)]);
  peer.session?.sweep();
  assert.match((await peer.expect("recycle")).reason, /MiB of heap are in use/);
  peer.session?.sweep();
  assert.deepEqual(peer.received, []);
});

test("battles that do not fit the memory are refused before one has ended", async () => {
  const peer = await Peer.inProcess({ fatalHeapBytes: 1 }).hello("gen1randombattle");
  peer.tell({ type: "start", battles: Array.from({ length: 2000 }, (_, index) => start(index)) });
  const error = await peer.expect("error");
  assert.equal(error.code, "overloaded");
  assert.match(error.message, /^1 battles use \d+ MiB of heap, above the limit of 0 MiB: run fewer at once/);
});

test("decisions that one frame cannot hold come in several", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  const { observation_size: size, num_actions: numActions } = peer.welcome.space;
  const mostRows = DecisionBatch.mostRows(size, numActions);
  const batch = new DecisionBatch(new FramePool(), mostRows, size, numActions);
  batch.numLegal = mostRows * numActions;
  const { frame: largest } = batch.close();
  assert.ok(largest.length - 4 <= MAX_FRAME_BYTES);
  assert.ok(largest.length + 5 * size > MAX_FRAME_BYTES);
});
