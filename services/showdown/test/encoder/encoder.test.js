/** The encoder writes within its layout, from visible state only, and as documented. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DexInfo } from "../../src/simulator/dex.js";
import { Encoder } from "../../src/encoder/encoder.js";
import { layoutPage } from "../../scripts/observation_page.js";
import { Battle } from "../../src/simulator/package.js";
import { Tracker } from "../../src/tracker/tracker.js";
import { play, seatLines } from "../support/tracker_battles.js";

const FORMATS = ["gen1randombattle", "gen1ou", "gen9randombattle"];
const GUARD = 7;
/** Largest absolute value of a number: the power of the strongest moves, and no effect at all. */
const LARGEST = 1.7;

/** @param {import("../../src/encoder/layout.js").Space} space @param {Float32Array} row @param {string} block @param {number} of @param {string} name */
function read(space, row, block, of, name) {
  const found = space.blocks.find((entry) => entry.name === block);
  const field = found?.fields.find((entry) => entry.name === name);
  assert.ok(found && field, `${block}.${name}`);
  const at = found.offset + of * found.stride + field.offset;
  return Array.from(row.subarray(at, at + field.size));
}

/** @template T @param {T} value @returns {T} the value, which now throws when written to */
function deepFreeze(value) {
  if (value && typeof value === "object") for (const part of Object.values(Object.freeze(value))) deepFreeze(part);
  return value;
}

for (const format of FORMATS) {
  test(`observations of ${format} stay within their layout and scales`, () => {
    for (let seed = 1; seed <= 4; seed++) {
      play(format, seed, ({ encoder, trackers }) => {
        const { space } = encoder;
        for (const tracker of trackers) {
          const row = new Float32Array(space.observation_size + 2).fill(GUARD);
          encoder.encode(tracker, row, 1);
          assert.deepEqual([row[0], row[row.length - 1]], [GUARD, GUARD], "written outside the row");
          for (const block of space.blocks) {
            for (let of = 0; of < block.rows; of++) {
              for (const { name, kind, vocabulary } of block.fields) {
                for (const value of read(space, row.subarray(1), block.name, of, name)) {
                  const fits = kind === "category"
                    ? Number.isInteger(value) && value >= 0 && value < space.vocabularies[vocabulary ?? ""]
                    : Number.isFinite(value) && Math.abs(value) <= LARGEST;
                  assert.ok(fits, `${block.name}.${name} is ${value}`);
                }
              }
            }
          }
        }
      });
    }
  });

  test(`an observation of ${format} depends only on the seat's lines and frozen requests`, () => {
    /** @type {[number, any][][]} by seat: how many lines had been seen, and the request then */
    const requests = [[], []];
    play(format, 11, ({ battle, encoder, trackers, lines }) => {
      for (const [seat, tracker] of trackers.entries()) {
        const live = new Float32Array(encoder.space.observation_size);
        encoder.encode(tracker, live, 0);
        requests[seat].push([lines[seat].length, deepFreeze(structuredClone(battle.sides[seat].activeRequest))]);
        const reader = new Tracker(encoder.dexInfo, seat);
        let from = 0;
        for (const [until, request] of requests[seat]) {
          for (const line of lines[seat].slice(from, until)) reader.readLine(line);
          from = until;
          reader.readRequest(request);
        }
        const replayed = new Float32Array(encoder.space.observation_size);
        encoder.encode(reader, replayed, 0);
        assert.deepEqual(replayed, live);
      }
    }, { maxSteps: 30 });
  });
}

/** @param {string[]} species @param {(set: any) => void} change @returns {any} a team that uses its first move */
function team(species, change) {
  return species.map((name) => {
    const set = {
      name, species: name, level: 80, gender: "F", nature: "Bold", ability: "Regenerator", item: "Leftovers",
      evs: { hp: 0, atk: 0, def: 0, spa: 0, spd: 0, spe: 0 }, moves: ["growl", "toxic"], teraType: "Water",
    };
    change(set);
    return set;
  });
}

test("the opponent's hidden state does not change a seat's observation", () => {
  const format = "gen9customgame";
  const encoder = Encoder.forFormat(format);
  const own = () => team(["Slowbro", "Snorlax"], (set) => Object.assign(set, { moves: ["calmmind", "rest"] }));
  /** @param {any} opponent @returns {{lines: string[], rows: Float32Array[], legal: Uint16Array[], hidden: string}} */
  const observe = (opponent) => {
    const battle = new Battle({ formatid: /** @type {any} */ (format), seed: "gen5,0000000000000001", send() {} });
    battle.setPlayer("p1", { name: "A", team: own() });
    battle.setPlayer("p2", { name: "B", team: opponent });
    const tracker = new Tracker(encoder.dexInfo, 0);
    const seen = { lines: /** @type {string[]} */ ([]), rows: /** @type {Float32Array[]} */ ([]), legal: /** @type {Uint16Array[]} */ ([]), hidden: "" };
    let read = 0;
    for (let step = 0; step < 5; step++) {
      const fresh = seatLines(battle.log, read, 0).filter((line) => !line.startsWith("|t:|"));
      read = battle.log.length;
      for (const line of fresh) tracker.readLine(line);
      seen.lines.push(...fresh);
      if (battle.sides[0].activeRequest) tracker.readRequest(/** @type {any} */ (battle.sides[0].activeRequest));
      const row = new Float32Array(encoder.space.observation_size);
      encoder.encode(tracker, row, 0);
      const legal = new Uint16Array(encoder.space.num_actions);
      seen.rows.push(row);
      seen.legal.push(legal.slice(0, encoder.legal(tracker, legal, 0)));
      for (const side of battle.sides) side.choose(battle.requestState === "teampreview" ? "default" : "move 1");
      battle.commitChoices();
    }
    seen.hidden = JSON.stringify(battle.sides[1].pokemon.map(({ species, moves, item, storedStats, teraType, ability }) => [species.name, moves, item, storedStats, teraType, ability]));
    return seen;
  };
  const first = observe(team(["Vaporeon", "Gengar", "Pikachu"], () => {}));
  const second = observe(
    team(["Vaporeon", "Gengar", "Pikachu"], (set) => {
      Object.assign(set, { nature: "Timid", item: "Life Orb", teraType: "Ghost", ability: set.species === "Vaporeon" ? "Hydration" : "Static" });
      set.evs = { hp: 0, atk: 0, def: 252, spa: 252, spd: 4, spe: 0 };
      set.moves = ["growl", "surf", "icebeam", "wish"];
    }),
  );
  assert.notEqual(first.hidden, second.hidden);
  assert.deepEqual(first.lines, second.lines, "the two battles must look alike to be compared");
  assert.equal(first.rows.length, 5);
  assert.deepEqual(first.rows, second.rows);
  assert.deepEqual(first.legal, second.legal);
  assert.notDeepEqual(first.rows[1], first.rows[4], "something visible changes from turn to turn");
});

test("an unseen bench is not in the observation", () => {
  const rows = [["Gengar", "Pikachu"], ["Tauros", "Mewtwo"]].map((bench) => {
    const battle = new Battle({ formatid: /** @type {any} */ ("gen1ou"), seed: "gen5,0000000000000002", send() {} });
    const sets = (/** @type {string[]} */ names) => team(names, (set) => Object.assign(set, { level: 100, moves: ["bodyslam"], ability: "", item: "" }));
    battle.setPlayer("p1", { name: "A", team: sets(["Snorlax", "Alakazam"]) });
    battle.setPlayer("p2", { name: "B", team: sets(["Starmie", ...bench]) });
    const encoder = Encoder.forFormat("gen1ou");
    const tracker = new Tracker(encoder.dexInfo, 0);
    for (const line of seatLines(battle.log, 0, 0)) tracker.readLine(line);
    tracker.readRequest(/** @type {any} */ (battle.sides[0].activeRequest));
    const row = new Float32Array(encoder.space.observation_size);
    encoder.encode(tracker, row, 0);
    return row;
  });
  assert.deepEqual(rows[0], rows[1]);
});

test("fields hold what their names say", () => {
  const encoder = Encoder.forFormat("gen9randombattle");
  const { space, dexInfo } = encoder;
  const tracker = new Tracker(dexInfo, 0);
  for (const line of [
    "|teamsize|p1|6",
    "|teamsize|p2|5",
    "|switch|p1a: Garchomp|Garchomp, L77, F|200/250",
    "|switch|p2a: Heatran|Heatran, L80, M|50/100 brn",
    "|turn|10",
    "|-boost|p2a: Heatran|spa|3",
    "|move|p2a: Heatran|Magma Storm|p1a: Garchomp",
    "|-activate|p1a: Garchomp|move: Magma Storm|[of] p2a: Heatran",
    "|-sidestart|p1: A|Spikes",
  ]) {
    tracker.readLine(line);
  }
  tracker.learn(/** @type {any} */ (tracker.own.slot.pokemon), dexInfo.moves.of("Earthquake"));
  const row = new Float32Array(space.observation_size);
  encoder.encode(tracker, row, 0);
  const at = (/** @type {string} */ block, /** @type {number} */ of, /** @type {string} */ name) => read(space, row, block, of, name);
  const near = (/** @type {number[]} */ actual, /** @type {number[]} */ expected) =>
    assert.deepEqual(actual.map((value) => value.toFixed(4)), expected.map((value) => value.toFixed(4)));
  near(at("own", 0, "hp"), [0.8]);
  near(at("opponent", 0, "hp"), [0.5]);
  near(at("opponent", 0, "status"), [1, 0, 0, 0, 0, 0]);
  assert.deepEqual(at("opponent", 0, "species"), [dexInfo.species.of("heatran")]);
  assert.deepEqual(at("opponent", 0, "types"), [dexInfo.types.of("Fire"), dexInfo.types.of("Steel"), 0]);
  near(at("opponent", 1, "hp"), [1]);
  near(at("opponent", 5, "present"), [0]);
  // Ground on Fire and Steel is 4×; Dragon on Steel ½.
  near(at("own_moves", 0, "effectiveness"), [1]);
  near(at("own_moves", 0, "stab"), [1]);
  near(at("own", 0, "attack_matchup"), [1]);
  near(at("opponent_moves", 0, "effectiveness"), [-0.5]);
  near(at("opponent_moves", 0, "pp"), [7 / 8]);
  near(at("opponent_moves", 1, "known"), [0]);
  near(at("field", 0, "opponent_boosts"), [0, 0, 0.5, 0, 0, 0, 0]);
  near(at("field", 0, "own_bound"), [1 / 8]);
  near(at("field", 0, "own_side_spikes"), [1 / 3]);
  near(at("field", 0, "turn"), [0.1]);
  near(at("field", 0, "opponent_left"), [5 / 6]);
});

test("blocks tile the observation and fields their rows", () => {
  for (const format of [...FORMATS, "gen3ou", "gen7ou", "gen8ou"]) {
    const { space } = Encoder.forFormat(format);
    let at = 0;
    for (const block of space.blocks) {
      assert.equal(block.offset, at);
      let within = 0;
      for (const field of block.fields) {
        assert.equal(field.offset, within);
        assert.ok(field.description);
        within += field.size;
      }
      assert.equal(within, block.stride);
      at += block.rows * block.stride;
    }
    assert.equal(space.observation_size, at);
    assert.equal(space.actions.length, space.num_actions);
  }
});

test("formats with the same data share a version, others do not", () => {
  assert.equal(Encoder.forFormat("gen1ou").space.version, Encoder.forFormat("gen1randombattle").space.version);
  assert.notEqual(Encoder.forFormat("gen1ou").space.version, Encoder.forFormat("gen2ou").space.version);
  assert.equal(DexInfo.forFormat("gen1ou").species.size, 152);
});

test("docs/reference/observation.md is current", () => {
  const page = readFileSync(new URL("../../../../docs/reference/observation.md", import.meta.url), "utf8");
  assert.equal(page, layoutPage(), "run `make docs`");
});
