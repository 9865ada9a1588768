/** Action numbers: the simulator accepts exactly the legal ones. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Teams } from "../../src/simulator/package.js";
import { actionNames, numActions } from "../../src/tracker/actions.js";
import { Encoder } from "../../src/encoder/encoder.js";
import { Tracker } from "../../src/tracker/tracker.js";
import { play } from "../support/tracker_battles.js";

test("the number of actions is poke-env's for each generation", () => {
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(numActions);
  assert.deepEqual(sizes, [10, 10, 10, 10, 10, 14, 18, 22, 26]);
  assert.deepEqual(actionNames(9).slice(22), ["terastallize move 1", "terastallize move 2", "terastallize move 3", "terastallize move 4"]);
  assert.deepEqual(actionNames(1).slice(4, 8), ["switch 5", "switch 6", "move 1", "move 2"]);
});

/** @param {any} request @returns {string[]} every distinct choice */
function conceivable(request) {
  // Other fields of a locked request are ignored.
  const suffixes = request.active?.[0].moves[0].pp === undefined ? [""] : ["", " mega", " zmove", " dynamax", " terastallize"];
  // Of a Pokémon that is dynamaxed already, the simulator ignores the word.
  if (request.active?.[0].maxMoves && !request.active[0].canDynamax) suffixes.splice(suffixes.indexOf(" dynamax"), 1);
  const choices = request.side.pokemon.map((/** @type {unknown} */ _, /** @type {number} */ place) => `switch ${place + 1}`);
  for (const [place] of (request.active?.[0].moves ?? []).entries()) {
    for (const suffix of suffixes) choices.push(`move ${place + 1}${suffix}`);
  }
  return choices;
}

const TEAM_SETS = new URL("../../../nashdex/games/showdown/team_sets/", import.meta.url);
const GENERATIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Every singles format that nashdex ships, and a sample with each particular of a generation. */
const SHIPPED = [
  ...GENERATIONS.map((generation) => `gen${generation}randombattle`), "gen7letsgorandombattle", "gen8bdsprandombattle",
  ...readdirSync(TEAM_SETS).map((file) => file.split(".")[0]).filter((format, i, all) => all.indexOf(format) === i && /^gen/.test(format) && !/vgc|doubles/.test(format)),
];
const SAMPLE = ["gen1randombattle", "gen9randombattle", "gen6randombattle", "gen7randombattle", "gen8randombattle", "gen2ou", "gen9ou"];
const BATTLES = Number(process.env.NASHDEX_TEST_BATTLES ?? 3);

/** @param {string} format @param {number} seed @returns {{teams?: [any, any]}} two teams of the format's own set, if it has one */
function ownTeams(format, seed) {
  if (format.endsWith("randombattle")) return {};
  const lines = readFileSync(new URL(`${format}.txt`, TEAM_SETS), "utf8").split("\n").filter((line) => line.includes("|") && !line.startsWith("#"));
  return { teams: [Teams.unpack(lines[(2 * seed) % lines.length]), Teams.unpack(lines[(2 * seed + 1) % lines.length])] };
}

for (const format of process.env.NASHDEX_TEST_EXHAUSTIVE ? SHIPPED : SAMPLE) {
  test(`the simulator accepts exactly the legal actions of ${format}`, () => {
    let decisions = 0;
    for (let seed = 21; seed < 21 + BATTLES; seed++) {
      play(format, seed, ({ battle, encoder, trackers }) => {
        for (const [seat, tracker] of trackers.entries()) {
          const side = battle.sides[seat];
          const request = /** @type {any} */ (side.activeRequest);
          const room = new Uint16Array(encoder.space.num_actions + 1);
          const legal = encoder.legal(tracker, room, 1);
          const actions = new Set(room.subarray(1, 1 + legal));
          assert.equal(room[0], 0, "it writes where it is asked to");
          assert.deepEqual([...actions], [...actions].sort((a, b) => a - b), "ascending");
          if (!request || request.wait) {
            assert.equal(legal, 0);
            continue;
          }
          assert.ok(legal > 0);
          decisions++;
          const ours = new Set();
          for (let action = 0; action < encoder.space.num_actions; action++) {
            if (actions.has(action)) ours.add(encoder.choice(tracker, action));
            else assert.throws(() => encoder.choice(tracker, action), RangeError);
          }
          assert.equal(ours.size, legal, "two actions mean the same");
          // Trying a revival would already perform a part of it.
          if (tracker.reviving) continue;
          if (request.teamPreview) {
            for (const choice of ours) {
              assert.ok(side.choose(choice), choice);
              side.clearChoice();
            }
            continue;
          }
          // The simulator rejects a trap or disabled move that the player cannot know of later, with a corrected request.
          if (request.active?.[0].maybeTrapped || request.active?.[0].maybeDisabled || request.active?.[0].maybeLocked) continue;
          const taken = conceivable(request).filter((choice) => {
            // A rejection may correct the request.
            side.activeRequest = structuredClone(request);
            const ok = side.choose(choice);
            side.clearChoice();
            return ok;
          });
          side.activeRequest = request;
          assert.deepEqual([...ours].sort(), taken.sort(), `battle ${seed}: ${JSON.stringify(request)}`);
        }
      }, ownTeams(format, seed));
    }
    assert.ok(decisions > 100 * Math.min(1, BATTLES / 3));
  });
}

const POKEMON = ["Mew", "Gengar", "Snorlax"].map((name, place) => ({
  ident: `p1: ${name}`, details: name, condition: "100/100", active: place === 0, item: "", baseAbility: "pressure",
  stats: { atk: 1, def: 1, spa: 1, spd: 1, spe: 1 }, moves: ["psychic", "surf", "recover", "icebeam"],
}));

/** @param {string} format @param {any} request @returns {Record<string, string>} */
function choices(format, request) {
  const tracker = new Tracker(Encoder.forFormat(format).dexInfo, 0);
  tracker.readLine("|switch|p1a: Mew|Mew|100/100");
  tracker.readRequest({ side: { pokemon: POKEMON }, ...request });
  return /** @type {any} */ (tracker.state()).choices;
}

test("a single move that is not the Pokémon's own is action 6", () => {
  for (const [id, move] of [["recharge", "Recharge"], ["struggle", "Struggle"], ["fight", "Fight"], ["outrage", "Outrage"]]) {
    assert.deepEqual(choices("gen9randombattle", { active: [{ moves: [{ id, move }], trapped: true }] }), { 6: "move 1" });
  }
});

test("a possible trap is certain by what is known of the opponent", () => {
  const moves = POKEMON[0].moves.map((id) => ({ id, move: id, pp: 10 }));
  /** @param {string} format @param {string[]} lines @returns {boolean} whether a switch is legal */
  const maySwitch = (format, ...lines) => {
    const tracker = new Tracker(Encoder.forFormat(format).dexInfo, 0);
    for (const line of ["|switch|p1a: Mew|Mew|100/100", ...lines]) tracker.readLine(line);
    tracker.readRequest(/** @type {any} */ ({ active: [{ moves, maybeTrapped: true }], side: { pokemon: POKEMON } }));
    return "1" in /** @type {any} */ (tracker.state()).choices;
  };
  const [gothitelle, magnezone] = ["Gothitelle", "Magnezone"].map((name) => `|switch|p2a: ${name}|${name}, L90|100/100`);
  assert.ok(maySwitch("gen9ou", gothitelle), "it may have Frisk");
  assert.ok(!maySwitch("gen9ou", gothitelle, "|-ability|p2a: Gothitelle|Shadow Tag"));
  assert.ok(maySwitch("gen9ou", gothitelle, "|-ability|p2a: Gothitelle|Frisk"));
  assert.ok(!maySwitch("gen9randombattle", gothitelle), "in the published sets it always has Shadow Tag");
  assert.ok(maySwitch("gen9randombattle", magnezone), "in the published sets it may have Analytic");
  assert.ok(maySwitch("gen9randombattle", gothitelle, "|-ability|p2a: Gothitelle|Insomnia|[from] move: Worry Seed"));
  // Of a copy, the simulator says "maybe" even if its types, which the opponent has not been shown, make it immune.
  const leaves = (/** @type {string} */ copied, /** @type {string} */ trapper) => maySwitch(
    "gen9randombattle", `|switch|p2a: ${copied}|${copied}, L80|100/100`, `|-transform|p1a: Mew|p2a: ${copied}`,
    `|switch|p2a: ${trapper}|${trapper}, L90|100/100`,
  );
  assert.deepEqual(["Tornadus", "Klefki", "Gengar"].map((copied) => leaves(copied, "Dugtrio")), [true, false, true]);
  assert.deepEqual(["Tornadus", "Klefki", "Gholdengo"].map((copied) => leaves(copied, "Probopass")), [true, false, true]);
  assert.deepEqual(["Tornadus", "Klefki", "Gengar"].map((copied) => leaves(copied, "Gothitelle")), [false, false, true]);
});

test("of a request that was rebuilt from a log, the tracker knows what traps and which moves are spent", () => {
  const moves = POKEMON[0].moves.map((id) => ({ id, pp: null }));
  /** @param {object} active @param {string[]} lines @returns {string[]} legal choices */
  const legal = (active, ...lines) => {
    const tracker = new Tracker(Encoder.forFormat("gen9ou").dexInfo, 0);
    const entry = ["|switch|p1a: Mew|Mew|100/100", "|switch|p2a: Gothitelle|Gothitelle|100/100"];
    for (const line of [...entry, ...lines]) tracker.readLine(line);
    tracker.readRequest(/** @type {any} */ ({ active: [{ moves, ...active }], side: { pokemon: POKEMON } }));
    return Object.values(/** @type {any} */ (tracker.state()).choices);
  };
  const shadowTag = "|-ability|p2a: Gothitelle|Shadow Tag";
  assert.ok(legal({}).includes("switch 2"), "it may have another ability");
  assert.ok(!legal({}, shadowTag).includes("switch 2"));
  assert.ok(legal({ trapped: false }, shadowTag).includes("switch 2"), "the log shows a switch");
  const tracker = new Tracker(Encoder.forFormat("gen9ou").dexInfo, 0);
  const request = () => /** @type {any} */ ({ active: [{ moves }], side: { pokemon: POKEMON } });
  for (const line of ["|switch|p1a: Mew|Mew|100/100", "|switch|p2a: Ditto|Ditto|100/100"]) tracker.readLine(line);
  tracker.readRequest(request());
  const name = POKEMON[0].moves[0];
  const most = /** @type {any} */ (tracker.state()).own.pokemon[0].moves[0].max_pp;
  for (let use = 0; use < most; use++) tracker.readLine(`|move|p1a: Mew|${name}|p2a: Ditto`);
  tracker.readRequest(request());
  assert.ok(!Object.values(/** @type {any} */ (tracker.state()).choices).includes("move 1"));
  assert.ok(Object.values(/** @type {any} */ (tracker.state()).choices).includes("move 2"));
});

test("in doubles, a partner that is trapped for no other reason shows which opposing Pokémon traps", () => {
  const moves = POKEMON[0].moves.map((id) => ({ id, move: id, pp: 10 }));
  const [mew, gengar, snorlax] = POKEMON;
  const pokemon = [mew, { ...snorlax, active: true }, gengar];
  /** @param {string[]} lines @returns {boolean} whether the second of two may switch after the first is trapped */
  const maySwitch = (...lines) => {
    const tracker = new Tracker(Encoder.forFormat("gen8vgc2020").dexInfo, 0);
    const leads = ["|switch|p1a: Mew|Mew|100/100", "|switch|p1b: Snorlax|Snorlax|100/100"];
    for (const line of [...leads, "|switch|p2a: Gothitelle|Gothitelle, L50|100/100", ...lines]) tracker.readLine(line);
    const active = [{ moves, trapped: true }, { moves, maybeTrapped: true }];
    tracker.readRequest(/** @type {any} */ ({ active, side: { pokemon } }));
    return Object.values(/** @type {any} */ (tracker.state()).choices).some((choice) => String(choice).endsWith("switch 3"));
  };
  const dusclops = "|switch|p2b: Dusclops|Dusclops, L50|100/100";
  assert.ok(!maySwitch(dusclops), "Gothitelle has Shadow Tag");
  assert.ok(maySwitch(dusclops, "|-activate|p1a: Mew|trapped"), "a move traps the partner");
  assert.ok(maySwitch("|switch|p2b: Dugtrio|Dugtrio, L50|100/100"), "either of two may be the one that traps");
  assert.ok(!maySwitch("|switch|p2b: Dugtrio|Dugtrio, L50|100/100", "|-ability|p2a: Gothitelle|Frisk"), "only Dugtrio is left");
});

test("a locked move of the Pokémon's own keeps its number", () => {
  const locked = { active: [{ moves: [{ id: "recover", move: "Recover" }], trapped: true }] };
  assert.deepEqual(choices("gen9randombattle", locked), { 8: "move 1" });
});

test("a dynamaxed Pokémon may use the Max move of a disabled move, where the request does not disable that one too", () => {
  const moves = ["psychic", "surf", "recover", "icebeam"].map((id) => ({ id, move: id, pp: 10, disabled: id !== "surf" }));
  const maxMoves = [{ move: "maxmindstorm" }, { move: "maxgeyser" }, { move: "maxguard", disabled: true }, { move: "maxhailstorm" }];
  const request = { active: [{ moves, trapped: true, maxMoves: { maxMoves } }] };
  assert.deepEqual(choices("gen8randombattle", request), { 6: "move 1", 7: "move 2", 9: "move 4" });
});

test("switches follow the own rows in any order of the simulator", () => {
  const tracker = new Tracker(Encoder.forFormat("gen9randombattle").dexInfo, 0);
  tracker.readLine("|switch|p1a: Mew|Mew|100/100");
  tracker.readRequest(/** @type {any} */ ({ forceSwitch: [true], side: { pokemon: POKEMON } }));
  const [mew, gengar, snorlax] = POKEMON;
  const swapped = [{ ...snorlax, active: true }, gengar, { ...mew, active: false }];
  tracker.readRequest(/** @type {any} */ ({ forceSwitch: [true], side: { pokemon: swapped } }));
  assert.deepEqual(/** @type {any} */ (tracker.state()).choices, { 0: "switch 3", 1: "switch 2" });
});

test("a revival chooses among fainted Pokémon", () => {
  const side = { pokemon: POKEMON.map((entry, place) => ({ ...entry, reviving: place === 0, condition: place === 2 ? "0 fnt" : "100/100" })) };
  assert.deepEqual(choices("gen9randombattle", { forceSwitch: [true], side }), { 2: "switch 3" });
});

test("Team Preview chooses the leader and keeps the others in order", () => {
  assert.deepEqual(choices("gen9ou", { teamPreview: true }), { 0: "team 1, 2, 3", 1: "team 2, 1, 3", 2: "team 3, 1, 2" });
});
