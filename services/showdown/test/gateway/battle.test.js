import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import { Encoder } from "../../src/encoder/encoder.js";
import { LiveBattle } from "../../src/gateway/battle.js";
import { Teams, playableFormat } from "../../src/simulator/package.js";
import { TeamSource } from "../../src/simulator/teams.js";
import { Peer, draws, start } from "../support/peer.js";

const { extractChannelMessages } = createRequire(import.meta.url)("pokemon-showdown/dist/sim/battle.js");

/** @type {string[]} */
let gen1Teams;
before(() => {
  gen1Teams = new TeamSource(playableFormat("gen1ou")).generate(4, "0".repeat(16), "gen1randombattle");
});

/** @param {string} format @param {number} battle @param {object} [fields] @returns {any} */
function startIn(format, battle, fields = {}) {
  const teams = format === "gen1ou" ? [gen1Teams[battle % 4], gen1Teams[(battle + 1) % 4]] : [null, null];
  return start(battle, { teams, ...fields });
}

for (const format of ["gen1randombattle", "gen9randombattle", "gen1ou"]) {
  test(`whole battles in ${format}`, async () => {
    const peer = await Peer.inProcess().hello(format);
    const rows = { asked: 0, again: 0, rejected: 0 };
    const starts = [1, 2, 3, 4].map((battle) => startIn(format, battle));
    const finished = await peer.play(starts, (message) => {
      if (message.type === "rejected") rows.rejected++;
      if (message.type !== "decisions") return;
      rows.asked += message.battles.length;
      rows.again += message.flags.filter((/** @type {number} */ flag) => flag === 1).length;
      for (const observation of message.observations) assert.ok(observation.every(Number.isFinite));
      for (const legal of message.legal) assert.ok(legal.length > 0);
    });
    let answered = 0;
    for (const entry of finished.values()) {
      assert.ok(entry.winner === 0 || entry.winner === 1 || entry.winner === null);
      assert.ok(entry.turns > 3, `${entry.turns} turns`);
      assert.ok(entry.decisions[0] >= entry.turns - 1 && entry.decisions[1] >= entry.turns - 1);
      assert.equal(entry.log, null);
      answered += entry.decisions[0] + entry.decisions[1];
    }
    assert.equal(rows.again, rows.rejected);
    assert.equal(rows.rejected, [...finished.values()].reduce((sum, entry) => sum + entry.rejected, 0));
    // Every row got one answer.
    assert.equal(rows.asked, answered + rows.rejected);
  });

  test(`the same seed and actions give the same battle in ${format}`, async () => {
    /** @param {object} [fields] @returns {Promise<any>} */
    const play = async (fields = {}) => {
      const peer = await Peer.inProcess().hello(format);
      return (await peer.play([startIn(format, 7, { log: true, ...fields })])).get(7);
    };
    const entry = await play();
    assert.match(entry.log, /\n\|(win\|Player [12]|tie)$/);
    assert.doesNotMatch(entry.log, /^\|t:\|/m);
    assert.doesNotMatch(entry.log, /^\|split\|/m);
    assert.deepEqual(await play(), entry);
    assert.notDeepEqual((await play({ seed: "00000000000000ff" })).log, entry.log);
  });
}

test("other battles do not change a battle", async () => {
  const format = "gen1randombattle";
  const alone = (await (await Peer.inProcess().hello(format)).play([startIn(format, 3, { log: true })])).get(3);
  const starts = [1, 2, 3, 4, 5].map((battle) => startIn(format, battle, { log: true }));
  const among = (await (await Peer.inProcess().hello(format)).play(starts)).get(3);
  assert.deepEqual(among, alone);
});

test("a generated team depends only on its seed, on either side", async () => {
  const source = new TeamSource(playableFormat("gen1randombattle"));
  const seeds = [...Array(40).keys()].map((number) => (number * 7919).toString(16).padStart(16, "0"));
  const teams = seeds.map((seed) => Teams.pack(source.random(seed)));
  const backwards = seeds.toReversed().map((seed) => Teams.pack(source.random(seed)));
  assert.deepEqual(backwards.toReversed(), teams);
  assert.equal(new Set(teams).size, teams.length);
});

for (const format of ["gen1ou", "gen9randombattle"]) {
  test(`a seat sees in ${format} exactly what the simulator's channels show it`, async () => {
    const teams = new TeamSource(playableFormat(format));
    for (let battle = 1; battle <= 3; battle++) {
      const { seed, team_seeds: seeds, teams: packed } = startIn(format, battle);
      const [first, second] = [0, 1].map((seat) => (packed[seat] ? teams.legal(packed[seat]) : teams.random(seeds[seat])));
      const live = new LiveBattle(battle, teams.format, Encoder.forFormat(format), {
        seed,
        teams: [first, second],
        lines: [true, true],
        states: [false, false],
        log: true,
        deadlineSeconds: 60,
      });
      const draw = draws(battle);
      const observations = new Float32Array(live.encoder.space.observation_size);
      const legal = new Uint16Array(live.encoder.space.num_actions);
      /** @type {string[][]} */
      const seen = [[], []];
      for (live.observe(); !live.ended; live.observe()) {
        for (const seat of live.seats) {
          if (!seat.request) continue;
          live.encode(seat.index, observations, 0, legal, 0);
          seen[seat.index].push(...(live.view(seat.index)?.lines ?? []));
        }
        for (const seat of live.seats) {
          while (seat.request) {
            const numLegal = live.encode(seat.index, observations, 0, legal, 0);
            live.answer(seat.index, legal[draw(numLegal)]);
          }
        }
      }
      const log = live.simulation.log.join("\n");
      assert.match(log, /^\|split\|p1$/m);
      const channels = extractChannelMessages(log, [-1, 1, 2]);
      const result = live.result();
      const withoutTime = (/** @type {string[]} */ lines) => lines.filter((line) => !line.startsWith("|t:|"));
      for (const seat of [0, 1]) {
        assert.deepEqual([...seen[seat], ...(live.view(seat)?.lines ?? [])], withoutTime(channels[seat + 1]));
      }
      assert.notDeepEqual(channels[1], channels[2]);
      assert.equal(result.log, withoutTime(channels[-1]).join("\n"));
    }
  });
}

test("seats that ask for lines or states get them with their rows", async () => {
  const peer = await Peer.inProcess().hello("gen9randombattle");
  const entry = start(1, { lines: [true, false], states: [false, true] });
  /** @type {any} */
  let views = null;
  const lines = /** @type {string[]} */ ([]);
  await peer.play([entry, start(2)], (message) => {
    if (message.type === "lines") {
      assert.equal(views, null);
      views = message.rows;
    }
    if (message.type !== "decisions") return;
    const asked = message.battles.flatMap((/** @type {number} */ battle, /** @type {number} */ row) => (battle === 1 ? [message.seats[row]] : []));
    assert.deepEqual((views ?? []).map((/** @type {any} */ row) => [row.battle, row.seat]), asked.map((/** @type {number} */ seat) => [1, seat]));
    for (const { seat, lines: shown, request, state } of views ?? []) {
      if (seat === 0) {
        lines.push(...shown);
        assert.equal(request.side.id, "p1");
        assert.equal(state, null);
      } else {
        assert.deepEqual([shown, request], [[], null]);
        assert.equal(typeof state, "object");
      }
    }
    views = null;
  });
  assert.match(lines.join("\n"), /^\|gametype\|singles\n[^]*\n\|turn\|1\n[^]*\n\|turn\|\d+$/);
});

/** @param {string} species @param {string} ability @param {string} moves */
const packed = (species, ability, moves) => `${species}||Leftovers|${ability}|${moves}|Hardy|1,,,,,|||||`;

test("a rejected choice is asked again with the choices that the simulator now allows", async () => {
  const peer = await Peer.inProcess().hello("gen8anythinggoes");
  const trapper = packed("Dugtrio", "Arena Trap", "sandattack");
  const victims = [packed("Pikachu", "Static", "thunderbolt"), packed("Snorlax", "Immunity", "bodyslam")].join("]");
  peer.tell({ type: "start", battles: [start(1, { teams: [victims, trapper] })] });
  assert.deepEqual((await peer.expect("decisions")).masks[0].indexOf(0), 2, "Team Preview offers both to lead");
  peer.act([{ battle: 1, seat: 0, action: 0 }, { battle: 1, seat: 1, action: 0 }]);
  const first = await peer.expect("decisions");
  assert.deepEqual(first.flags, [0, 0]);
  const mask = first.masks[0];
  assert.equal(mask[1], 1, "the player cannot know yet that Snorlax may not come in");
  peer.act([{ battle: 1, seat: 0, action: 1 }]);
  const rejected = await peer.expect("rejected");
  assert.deepEqual(rejected, {
    type: "rejected",
    battle: 1,
    seat: 0,
    action: 1,
    choice: "switch 2",
    cause: "Can't switch: The active Pokémon is trapped",
  });
  const again = await peer.expect("decisions");
  assert.deepEqual([again.battles, again.seats, again.flags], [[1], [0], [1]]);
  assert.deepEqual([...again.masks[0].subarray(0, 6)], [0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...again.masks[0].subarray(6, 10)], [...mask.subarray(6, 10)]);
  peer.act([{ battle: 1, seat: 0, action: 6 }, { battle: 1, seat: 1, action: 6 }]);
  const next = await peer.expect("decisions");
  assert.deepEqual([...next.masks[0].subarray(0, 6)], [0, 0, 0, 0, 0, 0], "this Dugtrio is known to trap");
});

test("a Pokémon whose every possible ability traps is known to trap", async () => {
  const wobbuffet = packed("Wobbuffet", "Shadow Tag", "counter");
  const victims = [packed("Pikachu", "Static", "thunderbolt"), packed("Snorlax", "Immunity", "bodyslam")].join("]");
  for (const [format, legal] of /** @type {[string, number][]} */ ([["gen4anythinggoes", 0], ["gen8anythinggoes", 1]])) {
    // From the fifth generation on, it may have Telepathy instead.
    const peer = await Peer.inProcess().hello(format);
    peer.tell({ type: "start", battles: [start(1, { teams: [victims, wobbuffet] })] });
    let decisions = await peer.expect("decisions");
    if (format === "gen8anythinggoes") {
      peer.act([{ battle: 1, seat: 0, action: 0 }, { battle: 1, seat: 1, action: 0 }]);
      decisions = await peer.expect("decisions");
    }
    assert.equal(decisions.masks[0][1], legal, format);
  }
});

test("an action outside the mask is rejected as often as it is sent, and the mask stays", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell({ type: "start", battles: [start(1)] });
  const [mask] = (await peer.expect("decisions")).masks;
  for (const action of [0, 255, 0]) {
    peer.act([{ battle: 1, seat: 0, action }]);
    const rejected = await peer.expect("rejected");
    assert.equal(rejected.choice, "");
    assert.match(rejected.cause, new RegExp(`action ${action} is not legal now`));
    const again = await peer.expect("decisions");
    assert.deepEqual([again.seats, again.flags, again.masks], [[0], [1], [mask]]);
  }
});

test("a simulator that rejects everything fails its battle instead of asking forever", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell({ type: "start", battles: [start(1), start(2)] });
  let { masks } = await peer.expect("decisions");
  const side = /** @type {any} */ (peer.session?.battles.get(1)).simulation.sides[0];
  side.choose = () => side.emitChoiceError("Can't do that today");
  const numLegal = masks[0].filter((/** @type {number} */ legal) => legal === 1).length;
  for (let attempt = 1; attempt <= numLegal; attempt++) {
    peer.act([{ battle: 1, seat: 0, action: masks[0].indexOf(1) }]);
    if (attempt === numLegal) break;
    assert.equal((await peer.expect("rejected")).cause, "Can't do that today");
    ({ masks } = await peer.expect("decisions"));
  }
  const [failure] = (await peer.expect("failed")).battles;
  assert.deepEqual([failure.battle, failure.cause], [1, "tracker_error"]);
  assert.match(failure.detail, /no action is legal for seat 0/);
  assert.deepEqual([...(peer.session?.battles.keys() ?? [])], [2]);
});

test("an error in the simulator fails only that battle", async () => {
  const peer = await Peer.inProcess().hello("gen1randombattle");
  peer.tell({ type: "start", battles: [start(1), start(2)] });
  const { masks, battles, seats } = await peer.expect("decisions");
  /** @type {any} */ (peer.session?.battles.get(1)).simulation.turnLoop = () => {
    throw new Error("Infinite loop");
  };
  peer.act(battles.map((/** @type {number} */ battle, /** @type {number} */ row) => ({ battle, seat: seats[row], action: masks[row].indexOf(1) })));
  const [failure] = (await peer.expect("failed")).battles;
  assert.deepEqual([failure.battle, failure.cause], [1, "simulator_error"]);
  assert.match(failure.detail, /Infinite loop/);
  assert.ok((await peer.expect("decisions")).battles.every((/** @type {number} */ battle) => battle === 2));
});

test("a battle tracked from its lines gives the rows and choices of the gateway that plays it", async () => {
  const home = await Peer.inProcess().hello("gen9randombattle");
  const away = await Peer.inProcess().hello("gen9randombattle");
  /** @type {any} */
  let view = null;
  let compared = 0;
  const pending = /** @type {(() => Promise<void>)[]} */ ([]);
  await home.play([start(5, { lines: [true, false], states: [true, false] })], (message) => {
    if (message.type === "lines") view = message.rows[0];
    if (message.type !== "decisions" || !view) return;
    const row = message.seats.indexOf(0);
    const [expected, mask, track] = [message.observations[row], message.masks[row], { battle: 90, seat: 0, lines: view.lines, request: view.request, state: true }];
    const { state } = view;
    view = null;
    pending.push(async () => {
      away.tell({ type: "track", rows: [track] });
      assert.deepEqual((await away.expect("lines")).rows, [{ battle: 90, seat: 0, lines: [], request: null, state }]);
      const there = await away.expect("decisions");
      assert.deepEqual([there.battles, there.seats, there.flags], [[90], [0], [0]]);
      assert.deepEqual(there.observations, [expected]);
      assert.deepEqual(there.masks, [mask]);
      const action = mask.indexOf(1);
      away.tell({ type: "choices", rows: [{ battle: 90, seat: 0, action }, { battle: 90, seat: 0, action: 99 }] });
      const [legal, illegal] = (await away.expect("chosen")).rows;
      assert.match(legal.choice, action < 6 ? /^switch \d$/ : /^move \d/);
      assert.equal(illegal.choice, null);
      assert.match(illegal.cause, /99 is not legal/);
      compared++;
    });
  });
  for (const compare of pending) await compare();
  assert.ok(compared > 10);
  away.tell({ type: "untrack", battles: [90] });
  away.tell({ type: "choices", rows: [{ battle: 90, seat: 0, action: 0 }] });
  assert.match((await away.expect("error")).message, /not tracked/);
});
