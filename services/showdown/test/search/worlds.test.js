/** Worlds agree with everything that the seat has seen, and with nothing that it has not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf } from "../../src/search/choices.js";
import { Prior } from "../../src/search/prior.js";
import { search } from "../../src/search/search.js";
import { Worlds } from "../../src/search/worlds.js";
import { Encoder } from "../../src/encoder/encoder.js";
import { LiveBattle } from "../../src/gateway/battle.js";
import { PRNG, playableFormat, simulatorSeed } from "../../src/simulator/package.js";
import { TeamSource } from "../../src/simulator/teams.js";
import { legalChoices } from "../../src/tracker/actions.js";
import { play } from "../support/tracker_battles.js";

const SEED = "000000000000000b";

for (const format of ["gen1randombattle", "gen3randombattle", "gen9randombattle"]) {
  test(`worlds of ${format} look to the seat like its battle`, () => {
    const { dex } = Encoder.forFormat(format).dexInfo;
    const prior = new Prior(playableFormat(format), dex, []);
    let drawn = 0;
    play(format, 5, ({ battle, trackers }) => {
      const [tracker] = trackers;
      if (battle.ended || battle.turn % 3 !== 1 || Object.keys(legalChoices(tracker)).length < 2) return;
      const world = /** @type {any} */ (new Worlds(tracker, prior, dex).draw(SEED));
      const state = /** @type {any} */ (tracker.state());
      const [own, foe] = world.sides;
      drawn++;
      assert.deepEqual(own.pokemon.map((/** @type {any} */ one) => one.hp), battle.sides[0].pokemon.map((one) => one.hp), "own HP");
      const statuses = (/** @type {any[]} */ team) => team.map((one) => (one.fainted ? "" : one.status));
      assert.deepEqual(statuses(own.pokemon), statuses(battle.sides[0].pokemon));
      assert.equal(foe.pokemon.length, state.opponent.team_size);
      for (const known of state.opponent.pokemon) {
        const found = foe.pokemon.find((/** @type {any} */ one) => one.baseSpecies.id === known.species);
        assert.ok(found, `${known.species} was seen`);
        assert.ok(Math.abs(found.hp / found.maxhp - known.hp / known.max_hp) < 0.011, "the opponent's HP");
        assert.equal(found.fainted, known.fainted);
        if (!known.volatiles.transformed) for (const move of known.moves) assert.ok(found.baseMoves.some((/** @type {string} */ id) => move.id.startsWith(id)), move.id);
      }
      assert.equal(foe.active[0].baseSpecies.id, state.opponent.pokemon[state.opponent.active].species);
      // A gimmick is a move with a suffix.
      const legal = Object.values(legalChoices(tracker)).filter((choice) => !/ (mega|zmove|dynamax|terastallize)$/.test(choice));
      assert.deepEqual(choicesOf(world, 0).sort(), legal.sort(), `choices in turn ${battle.turn}`);
    }, { maxSteps: 90 });
    assert.ok(drawn >= 4, `${drawn} worlds`);
  });
}

test("a drawn set has the Tera type that was seen, in the simulator's name", () => {
  const { dex } = Encoder.forFormat("gen9randombattle").dexInfo;
  const prior = new Prior(playableFormat("gen9randombattle"), dex, []);
  const seen = { species: "pikachu", level: 93, gender: "M", moves: [], item: null, ability: "", tera: "water" };
  for (let at = 1; at < 9; at++) {
    const [set] = prior.draw([seen], 1, new PRNG(simulatorSeed(`${at}`.padStart(16, "0"))));
    assert.equal(set.teraType, "Water");
  }
});

/** Leads that open alike; what follows, and the leads' other moves, differ. */
const BENCHES = [
  "Chansey||||softboiled,thunderwave,icebeam,thunderbolt||252,252,252,252,252,252|||||]Snorlax||||bodyslam,earthquake,hyperbeam,selfdestruct||252,252,252,252,252,252|||||",
  "Gengar||||thunderbolt,explosion,hypnosis,nightshade||252,252,252,252,252,252|||||]Alakazam||||psychic,recover,thunderwave,seismictoss||252,252,252,252,252,252|||||",
];
const LEADS = ["bodyslam,earthquake,hyperbeam,blizzard", "bodyslam,thunderbolt,fireblast,stomp"].map((moves) => `Tauros||||${moves}||252,252,252,252,252,252|||||`);
const OWN = "Exeggutor||||psychic,stunspore,explosion,doubleedge||252,252,252,252,252,252|||||]Starmie||||surf,recover,thunderbolt,blizzard||252,252,252,252,252,252|||||";

test("cards that the seat has not seen do not change what it plays", () => {
  const format = playableFormat("gen1ou");
  const encoder = Encoder.forFormat("gen1ou");
  const teams = new TeamSource(format);
  const pool = [OWN, `${LEADS[0]}]${BENCHES[0]}`, `${LEADS[1]}]${BENCHES[1]}`];
  const prior = new Prior(format, encoder.dexInfo.dex, pool);
  const answers = [1, 2].map((opponent) => {
    const battle = new LiveBattle(1, format, encoder, {
      seed: SEED, teams: [teams.legal(pool[0]), teams.legal(pool[opponent])], lines: [true, true], states: [false, false], log: false, deadlineSeconds: 60,
    });
    battle.observe();
    const found = [];
    const observations = new Float32Array(encoder.space.observation_size);
    for (let turn = 0; turn < 3 && battle.numOpen === 2; turn++) {
      const [first, second] = battle.seats;
      const lines = battle.view(0)?.lines;
      found.push({ lines, answer: search(first.tracker, prior, { nodes: 60, turns: 2, milliseconds: null }, SEED) });
      for (const seat of [first, second]) {
        battle.encode(seat.index, observations, 0, new Uint16Array(20), 0);
        // The first move: Exeggutor's Psychic, and the Body Slam that both leads have.
        assert.equal(battle.answer(seat.index, 6), null);
      }
      battle.observe();
    }
    // The teams differ, although the seat has seen no difference.
    assert.equal(battle.simulation.sides[1].pokemon[1].species.id, opponent === 1 ? "chansey" : "gengar");
    battle.destroy();
    return found;
  });
  assert.ok(answers[0].length >= 2, "several decisions");
  assert.deepEqual(answers[0], answers[1]);
  assert.ok(answers[0].every(({ answer }) => answer.nodes >= 60));
});

test("the same seed finds the same, another seed draws other worlds", () => {
  const { dex } = Encoder.forFormat("gen1randombattle").dexInfo;
  const prior = new Prior(playableFormat("gen1randombattle"), dex, []);
  let done = false;
  play("gen1randombattle", 3, ({ battle, trackers }) => {
    if (done || battle.turn !== 2) return;
    done = true;
    const budget = { nodes: 50, turns: 2, milliseconds: null };
    const found = search(trackers[0], prior, budget, SEED);
    assert.deepEqual(search(trackers[0], prior, budget, SEED), found);
    assert.notDeepEqual(search(trackers[0], prior, budget, "00000000000000ff").values, found.values);
    assert.ok(Math.abs(found.probabilities.reduce((one, other) => one + other) - 1) < 1e-9);
    assert.ok(found.values.every((value) => Math.abs(value) <= 1));
  }, { maxSteps: 30 });
  assert.ok(done);
});
