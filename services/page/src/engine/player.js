/** A policy in a seat of one battle: its memory of the battle, and its own draws. */
import { draw } from "./sampling.js";
import { deriveSeed, seedUniform, uniform } from "./seeds.js";

/** @typedef {import("./policies.js").Opinion} Opinion */
/** @typedef {import("./match.js").OpenDecision} OpenDecision */
/** @typedef {{id: string, temperature: number, reward: string, name?: string, chances?: import("./value.js").Chances[], begin: () => Float32Array[], consider: (decision: import("./policies.js").Decision, memory: Float32Array[], root?: bigint) => Promise<Opinion>, searches?: boolean}} Policy */

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
    const drawn = uniform(this.seed, this.draws++);
    const { searches, temperature } = this.policy;
    // Its uniform number seeds a search, and the draw from what it found.
    const root = BigInt(Math.floor(drawn * 2 ** 53));
    const opinion = await this.policy.consider(decision, this.memory, root);
    this.before = this.memory;
    this.memory = opinion.memory;
    const place = draw(opinion.logits, searches ? seedUniform(deriveSeed(root, "draw")) : drawn, temperature);
    return { action: decision.legal[place], opinion };
  }
}
