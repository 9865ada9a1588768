/** The split of chance and skill where the answer is known: a certain win, a coin flip by accuracy, a blunder. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Table } from "../../showdown/src/gateway/table.js";
import { describe } from "../src/engine/describe.js";
import { Game } from "../src/engine/game.js";
import { Match } from "../src/engine/match.js";
import { expected } from "../src/engine/opponent.js";
import { Player } from "../src/engine/player.js";
import { MaxPowerPolicy } from "../src/engine/policies.js";
import { Review, lossAgainstBest } from "../src/engine/review.js";
import { matrixAt } from "../src/engine/matrix.js";
import { EnsemblePolicy } from "../src/engine/ensemble.js";
import { chancesOf } from "../src/engine/value.js";
import { bestOf, markMistakes, taughtBy } from "../src/ui/mistakes.js";

// One against one. Houndoom is faster and takes Lucario out with any fire move that hits: Flamethrower always does, Inferno half the time.
// Otherwise Lucario's Aura Sphere, which never misses, takes Houndoom out. Every move ends the battle.
const FORMAT = "gen5ou";
const HOUNDOOM = "Houndoom||leftovers|flashfire|flamethrower,inferno,sunnyday,darkpulse|Timid|,,,252,4,252||,0,,,,|||";
const LUCARIO = "Lucario||leftovers|innerfocus|aurasphere,swordsdance,nastyplot,calmmind|Modest|,,,252,4,||,0,,,,|||";
const FORKS = 200;
/** Four standard errors of the mean of so many fair coins. */
const FOUR_ERRORS = 4 * 0.5 / Math.sqrt(FORKS);
const SEEDS = ["0000000000000001", "0000000000000002", "0000000000000003", "0000000000000004"];

/** @param {(observation: Float32Array) => number} valueOf @returns {any} a policy without preferences, with this critic */
const judge = (valueOf) => ({
  id: "judge", temperature: 1, reward: "win-loss", begin: () => [],
  consider: async (/** @type {any} */ { observation, legal }) => ({ logits: new Float64Array(legal.length), value: valueOf(observation), memory: [] }),
});
const even = judge(() => 0);
const table = new Table(FORMAT);

/** @param {Match} match @param {string[]} names of moves, by seat @returns {[number, number][]} */
function answers(match, names) {
  return match.decisions().map(({ seat, legal }) => {
    const choice = describe(match, seat, legal).find(({ parts }) => parts[0].name === names[seat]);
    assert.ok(choice, `seat ${seat} may use ${names[seat]}`);
    return [seat, choice.action];
  });
}

/** @param {string} seed @param {string} move of Houndoom @returns {Promise<any>} the review's step of the only turn, and how it ended */
async function turnOf(seed, move) {
  const setup = { seed, teams: /** @type {[string, string]} */ ([HOUNDOOM, LUCARIO]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const match = new Match(table, setup);
  match.play(answers(match, ["Houndoom", "Lucario"])); // Team Preview
  match.play(answers(match, [move, "Aura Sphere"]));
  assert.ok(match.ended, "one turn decides");
  const record = { format: FORMAT, setup, steps: match.steps, players: /** @type {[string, string]} */ (["A", "B"]), resigned: null, helped: false };
  match.destroy();
  const review = await new Review(table, even).of(record, { forks: FORKS, isWanted: () => true, onProgress: () => {} });
  markMistakes(review);
  const step = /** @type {any} */ (review.steps[1]);
  assert.equal(step.win, 0.5);
  assert.ok(Math.abs(step.change.choice + step.change.chance - (review.end.win - step.win)) < 1e-12, "the parts sum to the whole");
  return { step, winner: review.winner };
}

/** @param {any} step @param {string} name @returns {any} the estimate of seat 0's move */
const valueOf = (step, name) => step.decisions[0].choices.find((/** @type {any} */ { parts }) => parts[0].name === name).win;

test("a certain win is all choice", async () => {
  const { step, winner } = await turnOf(SEEDS[2], "Flamethrower");
  assert.equal(winner, 0);
  assert.deepEqual(step.change, { choice: 0.5, chance: 0, error: 0 });
  assert.equal(step.decisions[0].loss, 0);
  assert.equal(step.worst, null);
});

test("a coin flip by accuracy is all chance, whichever way it falls", async () => {
  const winners = new Set();
  for (const seed of SEEDS) {
    const { step, winner } = await turnOf(seed, "Inferno");
    winners.add(winner);
    assert.ok(Math.abs(valueOf(step, "Inferno").mean - 0.5) < FOUR_ERRORS, `Inferno wins ${valueOf(step, "Inferno").mean}`);
    assert.ok(Math.abs(step.change.choice) < FOUR_ERRORS);
    assert.ok(Math.abs(step.change.chance - (winner === 0 ? 0.5 : -0.5)) < FOUR_ERRORS);
    assert.ok(Math.abs(step.change.error - 0.5 / Math.sqrt(FORKS)) < 0.001, "the error is that of a fair coin's mean");
  }
  assert.deepEqual(winners, new Set([0, 1]), "among the seeds are both ends");
});

test("a blunder is all choice, and costs what the best choice would have won", async () => {
  const { step, winner } = await turnOf(SEEDS[2], "Sunny Day");
  assert.equal(winner, 1);
  assert.deepEqual(step.change, { choice: -0.5, chance: 0, error: 0 });
  assert.equal(step.decisions[0].loss, 1);
  assert.equal(step.worst, "blunder");
  assert.equal(bestOf(step.decisions[0]).parts[0].name, "Flamethrower");
  assert.equal(valueOf(step, "Flamethrower").mean, 1);
});

test("all parts of a battle sum to its whole change", async () => {
  const random = new Table("gen1randombattle");
  const setup = { seed: SEEDS[3], teams: /** @type {[null, null]} */ ([null, null]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const match = new Match(random, setup);
  for (let i = 0; !match.ended; i++) match.play(match.decisions().map(({ seat, legal }) => [seat, legal[(i * (seat + 1)) % legal.length]]));
  const record = { format: "gen1randombattle", setup, steps: match.steps, players: /** @type {[string, string]} */ (["A", "B"]), resigned: null, helped: false };
  match.destroy();
  const critic = judge((observation) => Math.tanh(observation.reduce((sum, value, i) => sum + value * Math.sin(i), 0) / 10));
  const { steps, end } = /** @type {any} */ (await new Review(random, critic).of(record, { forks: 2, isWanted: () => true, onProgress: () => {} }));
  assert.ok(steps.length > 20 && steps.every((/** @type {any} */ { change }) => change), `${steps.length} steps have a change`);
  const sum = steps.reduce((/** @type {number} */ total, /** @type {any} */ { change }) => total + change.choice + change.chance, 0);
  assert.ok(Math.abs(sum - (end.win - steps[0].win)) < 1e-9);
  assert.ok(steps.some((/** @type {any} */ { change }) => Math.abs(change.choice) > 0.01 && Math.abs(change.chance) > 0.01));
});

test("the loss of a choice leans to no side among equal ones, and low among unequal ones", () => {
  const [numSets, numChoices, numForks] = [4000, 10, 4];
  let state = 7;
  const coin = () => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff < 0.5;
  const sum = { equal: 0, flattered: 0, unequal: 0 };
  for (let set = 0; set < numSets; set++) {
    const tried = Array.from({ length: numChoices }, () => Array.from({ length: numForks }, () => Number(coin() ? 0.65 : 0.35)));
    const means = tried.map((wins) => wins.reduce((a, b) => a + b) / numForks);
    sum.equal += lossAgainstBest(tried, tried[0]);
    sum.flattered += Math.max(...means) - means[0];
    sum.unequal += lossAgainstBest([...tried, tried[1].map((win) => win + 0.3)], tried[0]);
  }
  assert.ok(Math.abs(sum.equal / numSets) < 0.01, `equal choices lose ${sum.equal / numSets}`); // some four standard errors
  assert.ok(sum.flattered / numSets > 0.1, "the best of ten means would be flattered");
  const unequal = sum.unequal / numSets;
  assert.ok(unequal > 0.15 && unequal < 0.3, `a choice .3 below the best loses ${unequal}`);
});

test("one repetition alone measures itself", () => {
  assert.equal(lossAgainstBest([[0.25], [0.75]], [0.25]), 0.5);
});

test("what is no move has a name and nothing else", () => {
  const random = new Table("gen1randombattle");
  const setup = { seed: SEEDS[0], teams: /** @type {[null, null]} */ ([null, null]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const match = new Match(random, setup);
  const [{ seat, legal }] = match.decisions();
  const { request } = /** @type {any} */ (match.battle.seats[seat].tracker);
  request.active[0].moves = request.active[0].moves.map(() => ({ move: "Fight", id: "fight" }));
  const choices = describe(match, seat, legal).flatMap(({ parts }) => parts).filter(({ kind }) => kind === "move");
  match.destroy();
  assert.ok(choices.length > 0);
  for (const choice of choices) assert.deepEqual(Object.keys(choice).filter((key) => choice[/** @type {keyof typeof choice} */ (key)] !== undefined).sort(), ["key", "kind", "name"]);
});

test("what is expected of the opponent is what it has shown, and all else together", () => {
  const random = new Table("gen1randombattle");
  const { move: numMoves, species: numSpecies } = random.encoder.space.vocabularies;
  const setup = { seed: SEEDS[0], teams: /** @type {[null, null]} */ ([null, null]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const match = new Match(random, setup);
  const answerWith = (/** @type {string} */ kind) => match.play(match.decisions().map(({ seat, legal }) =>
    [seat, (describe(match, seat, legal).find(({ parts }) => parts[0].kind === kind) ?? { action: legal[0] }).action]));
  const foe = () => match.decisions().find(({ seat }) => seat === 0);
  answerWith("switch");
  answerWith("move");
  const decision = /** @type {any} */ (foe());
  const { own } = match.battle.seats[1].tracker;
  const active = own.pokemon[own.slots[0].row];
  const used = active.moves[0];
  const prediction = new Float64Array(numMoves + numSpecies);
  prediction[used] = 0.5;
  const first = match.battle.seats[0].tracker.opponent.pokemon.find(({ name }) => name !== active.name);
  assert.ok(first, "the opponent has switched");
  prediction[numMoves + first.species] = 0.3;
  prediction[numMoves] = 0.2;
  const found = expected(match, decision, prediction);
  match.destroy();
  const name = random.encoder.dexInfo.dex.moves.get(random.encoder.dexInfo.moves.ids[used]).name;
  assert.deepEqual(found?.slice(0, 2), [{ kind: "move", name, probability: 0.5 }, { kind: "switch", name: first.name, probability: 0.3 }]);
  assert.equal(found.length, 3);
  assert.ok(found[2].kind === "unseen" && Math.abs(found[2].probability - 0.2) < 1e-12);
  assert.equal(expected(match, decision, null), null);
});

test("the teacher takes back clear mistakes, and nothing else, plays nothing, and does not know what the opponent chose", async () => {
  const setup = { seed: SEEDS[2], teams: /** @type {[string, string]} */ ([HOUNDOOM, LUCARIO]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  /** @param {number} place of the choice that it nearly always makes @returns {any} */
  const preferring = (place) => ({ ...even, consider: async (/** @type {any} */ { legal }) => ({ logits: Float64Array.from(legal, (_, i) => (i === place ? 9 : 0)), value: 0, memory: [] }), temperature: 0 });
  const teacher = preferring(0); // expects Aura Sphere, Lucario's first move
  const said = [];
  for (const opponent of [preferring(0), preferring(1)]) { // Swords Dance is the second
    const game = new Game(table, setup, [null, opponent]);
    await game.advance();
    const actionOf = (/** @type {string} */ name) => /** @type {any} */ (game.view(0).choices.find(({ parts }) => parts[0].name === name)).action;
    assert.equal(taughtBy(await game.judge(0, actionOf("Houndoom"), teacher, 4), "it"), "", "Team Preview is not judged");
    await game.choose(0, actionOf("Houndoom"));
    const judge = async (/** @type {string} */ name) => taughtBy(await game.judge(0, actionOf(name), teacher, 20), "Lucario");
    assert.equal(await judge("Flamethrower"), "");
    said.push(await judge("Sunny Day"));
    assert.match(await judge("Inferno"), /Inferno is a blunder/);
    assert.equal(game.match.steps.length, 1);
    assert.ok(game.view(0).helped);
    game.destroy();
  }
  assert.match(said[0], /^Taken back: Sunny Day is a blunder\. It costs 100 % .* you win 0 % after it, and 100 % after Flamethrower/);
  assert.equal(said[0], said[1]);
});

test("a hint is what the policy would do, at its temperature", async () => {
  const random = new Table("gen1randombattle");
  const setup = { seed: SEEDS[0], teams: /** @type {[null, null]} */ ([null, null]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const maxPower = new MaxPowerPolicy({ id: "max-power", name: "max-power", kind: "max-power" }, random.encoder.space);
  const sloping = (/** @type {number} */ temperature) => ({ ...even, temperature, consider: async (/** @type {any} */ { legal }) => ({ logits: Float64Array.from(legal, (_, i) => 2 * i), value: 0, memory: [] }) });
  const game = new Game(random, setup, [null, maxPower]);
  await game.advance();
  const shares = async (/** @type {any} */ policy) => (await game.hint(0, policy)).probabilities.map(({ probability }) => probability);
  const [open] = game.match.decisions();
  const { action } = await new Player(maxPower, SEEDS[0], 0).decide(open);
  assert.deepEqual((await game.hint(0, maxPower)).probabilities[0], { action, probability: 1 });
  assert.deepEqual((await shares(sloping(0))).slice(0, 2), [1, 0]);
  for (const temperature of [0.5, 1, 8]) {
    const [first, second] = await shares(sloping(temperature));
    assert.ok(Math.abs(first / second - Math.exp(2 / temperature)) < 1e-9, `at ${temperature}`);
  }
  const judgement = await new Review(random, sloping(8)).judge(game.match, [[0, action]], [[], []], 0, 0);
  const [first, second] = judgement.decisions[0].choices;
  assert.ok(Math.abs(first.probability / second.probability - Math.exp(2 / 8)) < 1e-9, "on the board too");
  game.destroy();
});

test("a map of chances counts against its opponent, and from both seats alike", () => {
  const { space } = table.encoder;
  const nothing = new Float32Array(space.observation_size);
  const policy = { ...even, name: "A", chances: [{ against: null, slope: 2, intercept: 0 }, { against: "B", slope: 1, intercept: Math.log(3) }] };
  const itself = chancesOf(policy, space, ["You", "A"]);
  assert.equal(itself(0, 0, nothing), 0.5);
  assert.ok(Math.abs(Number(itself(0, 0.5, nothing)) - 0.9) < 1e-12, "odds of 3 become odds of 9");
  assert.ok(Math.abs(Number(itself(1, 0.5, nothing)) - 0.1) < 1e-12, "the other seat's chance is this one's complement");
  // Against B, what looks even is won three times of four, whoever looks.
  for (const [players, expected] of /** @type {const} */ ([[["A", "B"], 0.75], [["B", "A"], 0.25]])) {
    for (const seat of [0, 1]) assert.ok(Math.abs(Number(chancesOf(policy, space, players)(seat, 0, nothing)) - expected) < 1e-12);
  }
  assert.equal(chancesOf({ ...policy, reward: "" }, space)(0, 0, nothing), null);
  assert.ok(Math.abs(Number(itself(0, 1, nothing)) - 1) < 1e-5, "a certain win has finite odds");
});

test("a turn's matrix finds the certain win, and no game where one side alone chooses", async () => {
  const setup = { seed: SEEDS[2], teams: /** @type {[string, string]} */ ([HOUNDOOM, LUCARIO]), teamSeeds: /** @type {[string, string]} */ ([SEEDS[0], SEEDS[1]]) };
  const match = new Match(table, setup);
  match.play(answers(match, ["Houndoom", "Lucario"]));
  match.play(answers(match, ["Inferno", "Aura Sphere"]));
  const record = { format: FORMAT, setup, steps: match.steps, players: /** @type {[string, string]} */ (["A", "B"]), resigned: null, helped: false };
  match.destroy();
  const done = /** @type {[number, number][]} */ ([]);
  const options = { forks: 40, isWanted: () => true, onProgress: (/** @type {number} */ a, /** @type {number} */ b) => done.push([a, b]) };
  const game = /** @type {any} */ (await matrixAt(table, even, record, 1, options));
  const row = (/** @type {string} */ name) => game.choices[0].findIndex((/** @type {any} */ { parts }) => parts[0].name === name);
  assert.ok(game.choices[0][row("Flamethrower")].share > 0.99);
  assert.equal(game.choices[0][row("Inferno")].isPlayed, true);
  assert.ok(game.value.value > 0.99);
  assert.ok(game.wins[row("Flamethrower")].every((/** @type {any} */ { mean, error }) => mean === 1 && error === 0));
  const sphere = game.choices[1].findIndex((/** @type {any} */ { parts }) => parts[0].name === "Aura Sphere");
  assert.ok(Math.abs(game.wins[row("Inferno")][sphere].mean - 0.5) < 4 * 0.5 / Math.sqrt(40), "Inferno hits half the time");
  assert.deepEqual(done.at(-1), [16, 16]);
  assert.equal(await matrixAt(table, even, record, 0, options), null, "Team Preview is no game of the board");
  await assert.rejects(matrixAt(table, even, record, 1, { ...options, isWanted: () => false }), /another question/);
});

test("an ensemble votes with log-probabilities, each member at its temperature and with its memory", async () => {
  const nothing = new Float32Array(table.encoder.space.observation_size);
  const legal = Uint16Array.from([0, 1]);
  /** @param {number[]} logits @param {number} value @param {number} temperature @param {any[]} chances @returns {any} */
  const member = (logits, value, temperature, chances = []) => ({
    temperature, reward: "win-loss", chances, memorySizes: [1], begin: () => [new Float32Array(1)],
    consider: async (/** @type {any} */ _, /** @type {Float32Array[]} */ [state]) => ({ logits: Float64Array.from(logits), value, memory: [Float32Array.of(state[0] + value)] }),
  });
  const members = [member([1, 0], 0.5, 1), member([0, 4], -0.5, 2, [{ against: null, slope: 1, intercept: Math.log(3) }])];
  const ensemble = new EnsemblePolicy({ id: "e", name: "both", kind: "ensemble", temperature: 1 }, members, table.encoder.space);
  const opinion = await ensemble.consider({ observation: nothing, legal }, ensemble.begin());
  assert.ok(Math.abs(opinion.logits[0] - opinion.logits[1] - (1 - 2) / 2) < 1e-6);
  assert.ok(Math.abs(Number(opinion.value) - (2 * (0.75 + 0.5) / 2 - 1)) < 1e-12, "the mean of calibrated chances");
  const later = await ensemble.consider({ observation: nothing, legal }, opinion.memory);
  assert.deepEqual(later.memory.map(([state]) => state), [1, -1]);
});
