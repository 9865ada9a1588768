/**
 * One step at which both seats choose at the same time, as a matrix game: seat 0's probability to win for every pair of likely
 * choices, by forks of the battle with the same dice for every pair, and the mixtures of an equilibrium of it.
 */
import { solveWorlds } from "../../../showdown/src/search/solve.js";
import { Forks, Valuer, canFork, meanOf } from "./forks.js";
import { Match } from "./match.js";
import { judged } from "./review.js";
import { deriveSeed, uniform } from "./seeds.js";

/** @typedef {import("../../../showdown/src/gateway/table.js").Table} Table */

/**
 * @typedef {object} MatrixChoice
 * @property {number} action
 * @property {import("./describe.js").Part[]} parts
 * @property {number} probability under the policy
 * @property {number} share of the seat's equilibrium mixture
 * @property {number} low bound of the middle 95 % of resampled shares
 * @property {number} high
 * @property {boolean} isPlayed
 *
 * @typedef {object} MatrixGame
 * @property {[MatrixChoice[], MatrixChoice[]]} choices of seat 0, the rows, and of seat 1, the columns; the most probable first
 * @property {[number, number]} left out: probability of the other choices under the policy, by seat
 * @property {{mean: number, error: number}[][]} wins seat 0's probability, with the standard error of the mean
 * @property {{value: number, low: number, high: number}} value seat 0's probability in equilibrium, with the middle 95 % of resamples of the dice
 * @property {number} forks of each pair
 */

/** Choices of a seat: at least this probable, at most this many, and the played one. */
const LEAST_PROBABILITY = 0.01;
const MOST_CHOICES = 6;
const RESAMPLES = 200;
const ITERATIONS = 1000;

/**
 * @param {Table} table
 * @param {import("./player.js").Policy} policy whose distributions choose the rows and columns, and whose critic values
 * @param {import("./game.js").GameRecord} record
 * @param {number} number of the step
 * @param {{forks: number, isWanted: () => boolean, onProgress: (done: number, total: number) => void}} options
 * @returns {Promise<MatrixGame | null>} null: the seats do not choose at the same time there, or nothing values the outcome
 */
export async function matrixAt(table, policy, record, number, { forks, isWanted, onProgress }) {
  const match = new Match(table, record.setup);
  try {
    const memory = await before(match, policy, record.steps.slice(0, number));
    const open = match.decisions();
    if (open.length < 2 || !canFork(match)) return null;
    const played = new Map(record.steps[number]);
    const options = [];
    for (const decision of open) {
      const opinion = await policy.consider(decision, memory[decision.seat]);
      memory[decision.seat] = opinion.memory;
      options.push(judged(match, decision, opinion, policy, played.get(decision.seat) ?? null).choices.filter(({ action, probability }, i) =>
        action === played.get(decision.seat) || (i < MOST_CHOICES && probability >= LEAST_PROBABILITY)));
    }
    const step = new Forks(new Valuer(table, policy, record.players), match, memory, number, forks);
    if ((await step.valuer.of(match.battle, memory)) === null) return null;
    const [rows, columns] = options;
    /** @type {number[][][]} by row, column and fork */
    const wins = [];
    for (const own of rows) {
      const row = [];
      for (const other of columns) {
        row.push(await step.after(new Map([[0, own.action], [1, other.action]])));
        onProgress(wins.length * columns.length + row.length, rows.length * columns.length);
        await new Promise((resolve) => setTimeout(resolve));
        if (!isWanted()) throw new Error("another question was asked");
      }
      wins.push(row);
    }
    return solved(options, played, wins);
  } finally {
    match.destroy();
  }
}

/** @param {Match} match played on to the end of `steps` @param {import("./player.js").Policy} policy @param {import("./match.js").Answer[][]} steps @returns {Promise<import("./forks.js").Memories>} */
async function before(match, policy, steps) {
  const memory = /** @type {import("./forks.js").Memories} */ ([policy.begin(), policy.begin()]);
  const remembers = memory[0].length > 0;
  for (const answers of steps) {
    for (const decision of remembers ? match.decisions() : []) {
      if (!decision.again) memory[decision.seat] = (await policy.consider(decision, memory[decision.seat])).memory;
    }
    match.play(answers);
  }
  return memory;
}

/** @param {any[][]} options of each seat @param {Map<number, number>} played @param {number[][][]} wins by row, column and fork @returns {MatrixGame} */
export function solved(options, played, wins) {
  const forks = wins[0][0].length;
  const whole = equilibrium(wins.map((row) => row.map((values) => /** @type {number} */ (meanOf(values)))));
  const resampled = Array.from({ length: forks > 1 ? RESAMPLES : 0 }, (_, k) => {
    const seed = deriveSeed(0n, "resample", k);
    const drawn = Array.from({ length: forks }, (_, i) => Math.floor(uniform(seed, i) * forks));
    return equilibrium(wins.map((row) => row.map((values) => /** @type {number} */ (meanOf(drawn.map((fork) => values[fork]))))));
  });
  const described = options.map((choices, seat) => choices.map(({ action, parts, probability }, i) => {
    const [low, high] = middle(resampled.map(({ mixtures }) => mixtures[seat][i]), whole.mixtures[seat][i]);
    return { action, parts, probability, share: whole.mixtures[seat][i], low, high, isPlayed: action === played.get(seat) };
  }));
  const [low, high] = middle(resampled.map(({ value }) => value), whole.value);
  return {
    choices: /** @type {any} */ (described),
    left: /** @type {any} */ (options.map((choices) => Math.max(0, 1 - choices.reduce((sum, { probability }) => sum + probability, 0)))),
    wins: wins.map((row) => row.map((values) => {
      const mean = /** @type {number} */ (meanOf(values));
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      return { mean, error: Math.sqrt(squares / Math.max(1, forks - 1) / forks) };
    })),
    value: { value: whole.value, low, high },
    forks,
  };
}

/** @param {number[][]} payoffs of the rows @returns {{mixtures: [number[], number[]], value: number}} */
export function equilibrium(payoffs) {
  const rows = solveWorlds([payoffs], ITERATIONS).mixture;
  const columns = solveWorlds([payoffs[0].map((_, b) => payoffs.map((row) => 1 - row[b]))], ITERATIONS).mixture;
  const value = payoffs.reduce((sum, row, a) => sum + rows[a] * row.reduce((inner, win, b) => inner + columns[b] * win, 0), 0);
  return { mixtures: [rows, columns], value };
}

/** @param {number[]} values @param {number} otherwise if there are none @returns {[number, number]} bounds of the middle 95 % */
function middle(values, otherwise) {
  if (values.length === 0) return [otherwise, otherwise];
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => sorted[Math.round(q * (sorted.length - 1))];
  return [at(0.025), at(0.975)];
}
