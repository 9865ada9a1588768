/**
 * A battle, judged decision by decision: the policy's distribution, the critic's win probability, and what choices and chance
 * changed it.
 *
 * V is seat 0's probability to win before a step, Q(a, b) its mean after the answers a and b over forks of the battle with
 * different dice, V' its value after the step as it was played. Then V' − V = (Q(a, b) − V) + (V' − Q(a, b)): what the players
 * chose, and what the dice did. All answers of a step are tried with the same dice.
 */
import { describe } from "./describe.js";
import { Forks, Valuer, canFork, meanOf, scoreOf } from "./forks.js";
import { Match } from "./match.js";
import { expected } from "./opponent.js";
import { draw, softmax } from "./sampling.js";

/** @typedef {import("../../../showdown/src/gateway/table.js").Table} Table */
/** @typedef {import("./player.js").Policy} Policy */
/** @typedef {import("./game.js").GameRecord} GameRecord */
/** @typedef {{mean: number, error: number, samples: number}} Estimate with the standard error of its mean */

/**
 * @typedef {object} Judged one seat's decision
 * @property {number} seat
 * @property {number | null} played action; null where a log does not show it
 * @property {{action: number, parts: import("./describe.js").Part[], probability: number, win: Estimate | null}[]} choices most
 *   probable first, the played one always; `win` is the seat's own probability to win after it
 * @property {import("./opponent.js").Expected[] | null} opponent what the policy expects of the opponent; null without such a head
 * @property {number | null} loss of win probability against the best of the tried choices (`lossAgainstBest`); null if they were not tried
 *
 * @typedef {object} Step
 * @property {number} turn
 * @property {[any, any]} knowledge of each seat
 * @property {[number, number]} numLines that each seat has seen before it
 * @property {number | null} win seat 0's probability to win before the step
 * @property {Judged[]} decisions
 * @property {{choice: number, chance: number, error: number} | null} change of seat 0's probability by the step
 */

/** Choices that are tried: at least this probable, at most this many, and the played one. */
const LEAST_PROBABILITY = 0.01;
const MOST_CHOICES = 10;

export class Review {
  /** @param {Table} table @param {Policy} policy whose distribution and critic judge @param {readonly string[]} [players] names by seat */
  constructor(table, policy, players) {
    this.table = table;
    this.policy = policy;
    this.valuer = new Valuer(table, policy, players);
  }

  /**
   * @param {GameRecord} record
   * @param {{forks: number, isWanted: () => boolean, onProgress: (done: number, total: number) => void}} options forks of each tried choice; 0: none
   * @returns {Promise<{steps: Step[], lines: [string[], string[]], winner: number | null, end: any}>}
   */
  async of(record, { forks, isWanted, onProgress }) {
    const match = new Match(this.table, record.setup);
    /** @type {[Float32Array[], Float32Array[]]} */
    const memory = [this.policy.begin(), this.policy.begin()];
    const steps = [];
    for (const [number, answers] of record.steps.entries()) {
      const step = await this.judge(match, answers, memory, number, forks);
      match.play(answers);
      steps.push(step);
      onProgress(number + 1, record.steps.length);
      // Other messages are read between the steps.
      await new Promise((resolve) => setTimeout(resolve));
      if (!isWanted()) throw new Error("the analysis was stopped");
    }
    const winner = match.ended ? match.result().winner : record.resigned === null ? null : 1 - record.resigned;
    const end = { turn: match.turn, knowledge: [match.knowledge(0), match.knowledge(1)], win: match.ended ? scoreOf(winner) : await this.valuer.of(match.battle, memory) };
    addChanges(steps, end.win);
    const { lines } = match;
    match.destroy();
    return { steps: steps.map(({ tried, ...step }) => step), lines, winner, end };
  }

  /**
   * @param {Match} match
   * @param {import("./match.js").Answer[]} answers to all open decisions, which are not played
   * @param {[Float32Array[], Float32Array[]]} memory of the policy by seat, changed
   * @param {number} number of the step, which its dice follow from
   * @param {number} forks of each tried choice; 0: none
   */
  async judge(match, answers, memory, number, forks) {
    const played = new Map(answers);
    const open = match.decisions();
    const wins = [];
    /** @type {Judged[]} */
    const decisions = [];
    for (const decision of open) {
      const opinion = await this.policy.consider(decision, memory[decision.seat]);
      if (!decision.again) memory[decision.seat] = opinion.memory;
      const win = this.valuer.chances(decision.seat, opinion.value, decision.observation);
      if (win !== null) wins.push(win);
      decisions.push(judged(match, decision, opinion, this.policy, /** @type {number} */ (played.get(decision.seat))));
    }
    const tried = forks > 0 && wins.length > 0 && canFork(match) ? await this.#tryChoices(new Forks(this.valuer, match, memory, number, forks), decisions, played) : null;
    return {
      turn: match.turn,
      knowledge: /** @type {[any, any]} */ ([match.knowledge(0), match.knowledge(1)]),
      numLines: /** @type {[number, number]} */ ([match.lines[0].length, match.lines[1].length]),
      win: meanOf(wins),
      decisions,
      tried,
      change: null,
    };
  }

  /**
   * Judge a choice that was not played, against what the policy expects of the other seat: it says nothing of what that seat chose.
   *
   * @param {Match} match
   * @param {import("./match.js").Answer} answer of a seat
   * @param {[Float32Array[], Float32Array[]]} memory of the policy by seat, changed
   * @param {number} number of the step, which its dice follow from
   * @param {number} forks of each tried choice
   * @returns {Promise<Judged | null>} null where nothing can be tried
   */
  async teach(match, [seat, action], memory, number, forks) {
    if (!canFork(match)) return null;
    let judgement = null;
    /** @type {[number, number][]} the other seat's choice by fork: quantiles of the policy's distribution */
    let others = [];
    for (const decision of match.decisions()) {
      const opinion = await this.policy.consider(decision, memory[decision.seat]);
      if (!decision.again) memory[decision.seat] = opinion.memory;
      if (decision.seat === seat) judgement = judged(match, decision, opinion, this.policy, action);
      else others = Array.from({ length: forks }, (_, k) => [decision.seat, decision.legal[draw(opinion.logits, (k + 0.5) / forks, this.policy.temperature || 1)]]);
    }
    if (judgement) await this.#tryChoices(new Forks(this.valuer, match, memory, number, forks), [judgement], new Map([[seat, action]]), others);
    return judgement;
  }

  /** @param {Forks} step @param {Judged[]} decisions filled in @param {Map<number, number>} played @param {[number, number][]} [others] further answers by fork @returns {Promise<number[]>} seat 0's probability after the played answers, by fork */
  async #tryChoices(step, decisions, played, others) {
    const actual = await step.after(played, others);
    for (const judgement of decisions) {
      const { seat, choices } = judgement;
      const own = (/** @type {number[]} */ wins) => (seat === 0 ? wins : wins.map((win) => 1 - win));
      const tried = [];
      for (const choice of choices) {
        const isPlayed = choice.action === judgement.played;
        if (!isPlayed && choice.probability < LEAST_PROBABILITY) continue;
        const wins = own(isPlayed ? actual : await step.after(new Map(played).set(seat, choice.action), others));
        choice.win = estimate(wins);
        tried.push(wins);
      }
      judgement.loss = lossAgainstBest(tried, own(actual));
    }
    return actual;
  }
}

/**
 * @param {import("./describe.js").Seen} match
 * @param {import("./match.js").OpenDecision} decision
 * @param {import("./policies.js").Opinion} opinion
 * @param {Pick<Policy, "temperature">} policy whose opinion it is; of a greedy one the distribution whose largest it takes
 * @param {number | null} played
 * @returns {Judged}
 */
export function judged(match, decision, opinion, { temperature }, played) {
  const probabilities = softmax(opinion.logits, temperature || 1);
  const described = describe(match, decision.seat, decision.legal);
  const all = described.map((choice, i) => ({ ...choice, probability: probabilities[i], win: null }));
  all.sort((a, b) => b.probability - a.probability || a.action - b.action);
  const choices = all.filter((choice, i) => i < MOST_CHOICES || choice.action === played);
  return { seat: decision.seat, played, choices, opponent: expected(match, decision, opinion.prediction ?? null), loss: null };
}

/** @param {any[]} steps @param {number | null} last */
function addChanges(steps, last) {
  for (const [i, step] of steps.entries()) {
    const after = i + 1 < steps.length ? steps[i + 1].win : last;
    if (!step.tried || step.win === null || after === null) continue;
    const { mean: expected, error } = estimate(step.tried);
    step.change = { choice: expected - step.win, chance: after - expected, error };
  }
}

/** @param {number[]} values @returns {Estimate} */
export function estimate(values) {
  const average = /** @type {number} */ (meanOf(values));
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  return { mean: average, error: Math.sqrt(squares / Math.max(1, values.length - 1) / values.length), samples: values.length };
}

/**
 * The loss of a choice against the best one. The best of several noisy means looks better than it is, so each half of the dice
 * chooses the best and the other half measures it. The mean of both leans to no side where all are equal, and low elsewhere.
 *
 * @param {number[][]} tried probability to win by choice and fork, the played one among them
 * @param {number[]} played the same after the played choice
 * @returns {number} may be below 0 by chance
 */
export function lossAgainstBest(tried, played) {
  const halves = [0, 1].map((half) => played.map((_, fork) => fork).filter((fork) => fork % 2 === half));
  if (halves[1].length === 0) halves[1] = halves[0];
  const meanOver = (/** @type {number[]} */ wins, /** @type {number[]} */ forks) => /** @type {number} */ (meanOf(forks.map((fork) => wins[fork])));
  const losses = halves.map((chooses, half) => {
    const best = tried.reduce((a, b) => (meanOver(b, chooses) > meanOver(a, chooses) ? b : a), played);
    return meanOver(best, halves[1 - half]) - meanOver(played, halves[1 - half]);
  });
  return /** @type {number} */ (meanOf(losses));
}
