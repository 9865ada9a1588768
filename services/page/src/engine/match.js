/**
 * One battle in the page: the simulator, what each seat sees, and every answer so far. A battle follows from its setup and its
 * answers alone, so that taking a turn back is playing the battle again up to there.
 */
import { LiveBattle } from "../../../showdown/src/gateway/battle.js";
import { knowledgeOf } from "./knowledge.js";

/** @typedef {import("../../../showdown/src/gateway/table.js").Table} Table */
/** @typedef {import("./policies.js").Decision} Decision */

/**
 * @typedef {object} Setup
 * @property {string} seed 16 hex digits
 * @property {[string | null, string | null]} teams packed, by seat; null: generated from the team's seed
 * @property {[string, string]} teamSeeds 16 hex digits each
 */

/** @typedef {[number, number]} Answer a seat and its action */

/** @typedef {Decision & {seat: number, again: boolean}} OpenDecision with `again`: the seat's last answer was rejected */

export class Match {
  /** @param {Table} table @param {Setup} setup */
  constructor(table, setup) {
    this.table = table;
    this.setup = setup;
    /** @type {Answer[][]} answers of the seats that were asked together */
    this.steps = [];
    /** @type {[string[], string[]]} protocol lines that each seat has seen */
    this.lines = [[], []];
    const teams = /** @type {[any, any]} */ (setup.teams.map((team, seat) =>
      team === null ? table.teams.random(setup.teamSeeds[seat]) : table.teams.legal(team)));
    this.battle = new LiveBattle(0, table.format, table.encoder, {
      seed: setup.seed, teams, lines: [true, true], states: [false, false], log: true, deadlineSeconds: Infinity,
    });
    /** @type {Set<number>} seats whose last answer was rejected */
    this.rejected = new Set();
    this.battle.observe();
    this.#collect();
  }

  /** @param {Table} table @param {Setup} setup @param {Answer[][]} steps @returns {Match} */
  static replay(table, setup, steps) {
    const match = new Match(table, setup);
    for (const answers of steps) match.play(answers);
    return match;
  }

  get ended() {
    return this.battle.ended;
  }

  get turn() {
    return this.battle.simulation.turn;
  }

  /** @returns {number[]} seats that have a decision open */
  get asked() {
    return this.ended ? [] : this.battle.seats.filter(({ request }) => request).map(({ index }) => index);
  }

  /** @returns {OpenDecision[]} the open decisions, by seat */
  decisions() {
    const { observation_size: size, num_actions: numActions } = this.table.encoder.space;
    return this.asked.map((seat) => {
      const observation = new Float32Array(size);
      const legal = new Uint16Array(numActions);
      const count = this.battle.encode(seat, observation, 0, legal, 0);
      return { seat, observation, legal: legal.slice(0, count), again: this.rejected.has(seat), tracker: this.battle.seats[seat].tracker };
    });
  }

  /**
   * Answer every open decision.
   * @param {Answer[]} answers one for each seat that is asked
   * @returns {string[]} why answers were rejected: their seats are asked again
   */
  play(answers) {
    const asked = this.asked;
    if (answers.length !== asked.length || answers.some(([seat]) => !asked.includes(seat))) {
      throw new Error(`seats ${asked.join(" and ") || "of nobody"} have to answer, not ${answers.map(([seat]) => seat).join(" and ")}`);
    }
    this.rejected.clear();
    const why = [];
    for (const [seat, action] of answers) {
      const rejection = this.battle.answer(seat, action);
      if (!rejection) continue;
      this.rejected.add(seat);
      why.push(rejection.cause);
    }
    this.steps.push(answers.map(([seat, action]) => [seat, action]));
    if (this.battle.numOpen === 0) this.battle.observe();
    this.#collect();
    return why;
  }

  /** @param {number} seat @returns {Record<string, any>} all that the seat knows, and its request */
  knowledge(seat) {
    const { tracker, request } = this.battle.seats[seat];
    return { ...knowledgeOf(tracker), request };
  }

  /** @returns {{winner: number | null, turns: number, log: string}} the result of a battle that ended */
  result() {
    const { winner, turns, log } = this.battle.result();
    return { winner, turns, log: log ?? "" };
  }

  destroy() {
    this.battle.destroy();
  }

  #collect() {
    for (const seat of [0, 1]) {
      const view = this.battle.view(seat);
      if (view) this.lines[seat].push(...view.lines);
    }
  }
}
