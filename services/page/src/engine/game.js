/** One battle of the page between people and policies: turns, undo, hints, and the record that analysis and saving read. */
import { describe } from "./describe.js";
import { Match } from "./match.js";
import { Player } from "./player.js";
import { Review } from "./review.js";
import { distribution } from "./sampling.js";
import { chancesOf } from "./value.js";

/** @typedef {import("./match.js").Setup} Setup */
/** @typedef {import("./match.js").Answer} Answer */
/** @typedef {import("./player.js").Policy} Policy */

/**
 * @typedef {object} GameRecord a battle, whole: setup and answers give everything else
 * @property {string} format
 * @property {Setup} setup
 * @property {Answer[][]} steps
 * @property {[string, string]} players names of policies, or "You"
 * @property {number | null} resigned the seat that gave up
 * @property {boolean} helped whether a hint, an undo or the teaching mode was used
 */

export class Game {
  /**
   * @param {import("../../../showdown/src/gateway/table.js").Table} table
   * @param {Setup} setup
   * @param {[Policy | null, Policy | null]} policies by seat; null: a person
   */
  constructor(table, setup, policies) {
    this.table = table;
    this.setup = setup;
    this.policies = policies;
    this.helped = false;
    /** @type {number | null} */
    this.resigned = null;
    this.match = new Match(table, setup);
    this.players = this.#seated();
    /** What policies answer to the open decisions, by seat. @type {Map<number, number>} */
    this.pending = new Map();
  }

  /** @returns {(Player | null)[]} the policies at a battle's start, by seat */
  #seated() {
    return this.policies.map((policy, seat) => policy && new Player(policy, this.setup.seed, seat));
  }

  /** Let policies choose until a person has to, or the battle ends. @returns {Promise<void>} */
  async advance() {
    while (!this.match.ended) {
      for (const decision of this.match.decisions()) {
        const player = this.players[decision.seat];
        if (player && !this.pending.has(decision.seat)) this.pending.set(decision.seat, (await player.decide(decision)).action);
      }
      const asked = this.match.asked;
      if (asked.some((seat) => !this.pending.has(seat))) return;
      this.#answer(asked);
    }
  }

  /** @param {number} seat of a person @param {number} action @returns {Promise<string[]>} why it was rejected, if it was */
  async choose(seat, action) {
    this.pending.set(seat, action);
    const asked = this.match.asked;
    const why = asked.every((each) => this.pending.has(each)) ? this.#answer(asked) : [];
    await this.advance();
    return why;
  }

  /** @param {number[]} asked */
  #answer(asked) {
    const answers = /** @type {Answer[]} */ (asked.map((seat) => [seat, this.pending.get(seat)]));
    this.pending.clear();
    return this.match.play(answers);
  }

  /**
   * Play an earlier part again, policies' memories included, and go on from there.
   * @param {Answer[][]} steps
   */
  async rewind(steps) {
    this.match.destroy();
    this.match = new Match(this.table, this.setup);
    this.players = this.#seated();
    this.pending.clear();
    for (const answers of steps) {
      for (const decision of this.match.decisions()) await this.players[decision.seat]?.decide(decision);
      this.match.play(answers);
    }
    await this.advance();
  }

  /** Take back the last turn in which `seat` chose. @param {number} seat @returns {Promise<boolean>} whether there was one */
  async undo(seat) {
    const { steps } = this.match;
    let last = steps.length - 1;
    while (last >= 0 && !steps[last].some(([each]) => each === seat)) last--;
    if (last < 0) return false;
    this.helped = true;
    this.resigned = null;
    await this.rewind(steps.slice(0, last));
    return true;
  }

  /**
   * @param {number} seat
   * @param {Policy} policy that is asked
   * @returns {Promise<{probabilities: {action: number, probability: number}[], win: number | null}>} what it would do
   */
  async hint(seat, policy) {
    this.helped = true;
    const decision = this.match.decisions().find((open) => open.seat === seat);
    if (!decision) return { probabilities: [], win: null };
    const memory = await this.#memory(policy, seat);
    const opinion = await policy.consider(decision, memory);
    const win = chancesOf(policy, this.table.encoder.space)(seat, opinion.value, decision.observation);
    const probabilities = Array.from(distribution(opinion.logits, policy.temperature), (probability, i) => ({ action: decision.legal[i], probability }));
    return {
      probabilities: probabilities.sort((a, b) => b.probability - a.probability),
      win: win !== null && seat === 1 ? 1 - win : win,
    };
  }

  /**
   * Judge a choice as the board does, without playing it, against what the policy expects of the opponent.
   * @param {number} seat of a person
   * @param {number} action
   * @param {Policy} policy that judges
   * @param {number} forks of each tried choice
   * @returns {Promise<import("./review.js").Judged | null>} null where nothing can be tried
   */
  async judge(seat, action, policy, forks) {
    this.helped = true;
    const { match } = this;
    const memory = /** @type {[Float32Array[], Float32Array[]]} */ ([await this.#memory(policy, 0), await this.#memory(policy, 1)]);
    return new Review(this.table, policy).teach(match, [seat, action], memory, match.steps.length, forks);
  }

  /** @param {Policy} policy @param {number} seat @returns {Promise<Float32Array[]>} its memory of the battle so far */
  async #memory(policy, seat) {
    let memory = policy.begin();
    if (memory.length === 0) return memory;
    const again = new Match(this.table, this.setup);
    for (const answers of this.match.steps) {
      for (const decision of again.decisions()) {
        if (decision.seat === seat && !decision.again) ({ memory } = await policy.consider(decision, memory));
      }
      again.play(answers);
    }
    again.destroy();
    return memory;
  }

  /** @param {number} seat @returns what a person in this seat sees */
  view(seat) {
    const { match } = this;
    const open = match.decisions().find((decision) => decision.seat === seat);
    const over = match.ended || this.resigned !== null;
    return {
      turn: match.turn,
      knowledge: match.knowledge(seat),
      lines: match.lines[seat],
      choices: over || !open ? [] : describe(match, seat, open.legal),
      over,
      winner: this.resigned !== null ? 1 - this.resigned : over ? match.result().winner : null,
      resigned: this.resigned,
      helped: this.helped,
      numSteps: match.steps.length,
    };
  }

  /** @param {[string, string]} players @returns {GameRecord} */
  record(players) {
    const { steps } = this.match;
    return { format: this.table.format.id, setup: this.setup, steps, players, resigned: this.resigned, helped: this.helped };
  }

  destroy() {
    this.match.destroy();
  }
}
