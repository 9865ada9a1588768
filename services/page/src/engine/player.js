/** A policy in a seat of one battle: its memory of the battle, and its own draws. */
import { draw } from "./sampling.js";
import { deriveSeed, uniform } from "./seeds.js";

/** @typedef {import("./policies.js").Opinion} Opinion */
/** @typedef {import("./match.js").OpenDecision} OpenDecision */
/** @typedef {{id: string, temperature: number, reward: string, begin: () => Float32Array[], consider: (decision: import("./policies.js").Decision, memory: Float32Array[]) => Promise<Opinion>}} Policy */

export class Player {
  /** @param {Policy} policy @param {string} battleSeed 16 hex digits @param {number} seat */
  constructor(policy, battleSeed, seat) {
    this.policy = policy;
    this.seed = deriveSeed(BigInt(`0x${battleSeed}`), "seat", seat);
    this.draws = 0;
    this.memory = policy.begin();
    this.before = this.memory;
  }

  /** @param {OpenDecision} decision @returns {Promise<{action: number, opinion: Opinion}>} */
  async decide(decision) {
    // A rejected answer is forgotten: the decision is the same one.
    if (decision.again) this.memory = this.before;
    const opinion = await this.policy.consider(decision, this.memory);
    this.before = this.memory;
    this.memory = opinion.memory;
    const place = draw(opinion.logits, uniform(this.seed, this.draws++), this.policy.temperature);
    return { action: decision.legal[place], opinion };
  }
}
