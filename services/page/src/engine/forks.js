/** What a position is worth after a step: forks of the battle with other dice, valued by the critic. */
import { LiveBattle } from "../../../showdown/src/gateway/battle.js";
import { freeze, thaw } from "../../../showdown/src/simulator/fork.js";
import { copyTracker } from "../../../showdown/src/tracker/copy.js";
import { deriveSeed, hexSeed } from "./seeds.js";
import { chancesOf } from "./value.js";

/** @typedef {import("../../../showdown/src/gateway/table.js").Table} Table */
/** @typedef {import("./match.js").Match} Match */
/** @typedef {import("./player.js").Policy} Policy */
/** @typedef {[Float32Array[], Float32Array[]]} Memories of a policy, by seat */

/** A critic over battles, of which both teams are known. */
export class Valuer {
  /** @param {Table} table @param {Policy} policy whose critic values @param {readonly string[]} [players] names by seat */
  constructor(table, policy, players) {
    this.space = table.encoder.space;
    this.policy = policy;
    this.chances = chancesOf(policy, this.space, players);
  }

  /** @param {LiveBattle} battle @param {Memories} memory @returns {Promise<number | null>} seat 0's probability, by the critics of the seats that are asked */
  async of(battle, memory) {
    const wins = [];
    for (const seat of battle.seats) {
      if (!seat.request) continue;
      const observation = new Float32Array(this.space.observation_size);
      const legal = new Uint16Array(this.space.num_actions);
      const count = battle.encode(seat.index, observation, 0, legal, 0);
      const { value } = await this.policy.consider({ observation, legal: legal.subarray(0, count), tracker: seat.tracker }, memory[seat.index]);
      const win = this.chances(seat.index, value, observation);
      if (win !== null) wins.push(win);
    }
    return meanOf(wins);
  }
}

/** One step of a battle, to be played many times: every answer with the same dice. */
export class Forks {
  /**
   * @param {Valuer} valuer
   * @param {Match} match before the step
   * @param {Memories} memory of the valuer's policy
   * @param {number} number of the step, which its dice follow from
   * @param {number} count of forks
   */
  constructor(valuer, match, memory, number, count) {
    this.valuer = valuer;
    this.match = match;
    this.memory = memory;
    this.seeds = Array.from({ length: count }, (_, k) => hexSeed(deriveSeed(BigInt(`0x${match.setup.seed}`), "fork", number, k)));
    this.frozen = freeze(match.battle.simulation);
  }

  /**
   * @param {Map<number, number>} answers by seat
   * @param {[number, number][]} [others] a further answer for each fork: a seat and its action
   * @returns {Promise<number[]>} seat 0's probability to win after them, by fork
   */
  async after(answers, others = []) {
    const wins = [];
    for (const [k, seed] of this.seeds.entries()) {
      // Trackers change as they read; the simulator's state is frozen once a step.
      const copies = /** @type {any} */ (this.match.battle.seats.map(({ tracker }) => copyTracker(tracker)));
      const fork = LiveBattle.fork(1, this.match.battle, thaw(this.frozen, seed), copies, Infinity);
      for (const [seat, action] of others[k] ? [...answers, others[k]] : answers) fork.answer(seat, action);
      if (fork.numOpen === 0) fork.observe();
      wins.push(fork.ended ? scoreOf(fork.result().winner) : ((await this.valuer.of(fork, this.memory)) ?? 0.5));
      fork.destroy();
    }
    return wins;
  }
}

/** @param {Match} match @returns {boolean} whether its open step can be forked: every seat that the simulator asks is open, and no Team Preview */
export function canFork(match) {
  const { simulation, numOpen } = match.battle;
  const asking = simulation.sides.filter(({ activeRequest }) => activeRequest && !activeRequest.wait).length;
  return !match.ended && match.asked.length === numOpen && numOpen === asking && simulation.requestState !== "teampreview";
}

/** @param {number[]} values @returns {number | null} */
export const meanOf = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

/** @param {number | null} winner @returns {number} seat 0's score */
export function scoreOf(winner) {
  return winner === null ? 0.5 : 1 - winner;
}
