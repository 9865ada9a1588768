/** Several networks that decide together, as `nashdex.policies.ensembles` does. */
import { softmax } from "./sampling.js";
import { chancesOf } from "./value.js";

/** @typedef {import("./policies.js").NetworkPolicy} NetworkPolicy */
/** @typedef {import("./policies.js").Decision} Decision */

/** Plays in proportion to the geometric mean of its members' probabilities, each at its own temperature. */
export class EnsemblePolicy {
  /** @param {import("./policies.js").PolicyEntry} entry @param {NetworkPolicy[]} members @param {import("./policies.js").Space} space */
  constructor(entry, members, space) {
    this.id = entry.id;
    this.name = entry.name;
    this.temperature = entry.temperature ?? 1;
    this.members = members;
    /** Its value is twice the mean of its members' calibrated chances, minus one. */
    this.reward = "win-loss";
    this.winsOf = members.map((member) => chancesOf(member, space));
  }

  begin() {
    return this.members.flatMap((member) => member.begin());
  }

  /** @param {Decision} decision @param {Float32Array[]} memory of all members, one after the other @returns {Promise<import("./policies.js").Opinion>} */
  async consider(decision, memory) {
    const sum = new Float64Array(decision.legal.length);
    const [wins, predictions, after] = [/** @type {(number | null)[]} */ ([]), /** @type {any[]} */ ([]), /** @type {Float32Array[]} */ ([])];
    for (const [i, member] of this.members.entries()) {
      const opinion = await member.consider(decision, memory.slice(after.length, after.length + member.memorySizes.length));
      softmax(opinion.logits, member.temperature).forEach((probability, at) => (sum[at] += Math.log(probability)));
      wins.push(this.winsOf[i](0, opinion.value, decision.observation));
      predictions.push(opinion.prediction);
      after.push(...opinion.memory);
    }
    const num = this.members.length;
    const win = wins.includes(null) ? null : wins.reduce((total, each) => Number(total) + Number(each), 0);
    return {
      logits: sum.map((total) => Math.fround(total / num)),
      value: win === null ? null : (2 * win) / num - 1,
      memory: after,
      prediction: predictions.every(Boolean) ? predictions[0].map((/** @type {number} */ _, /** @type {number} */ c) => predictions.reduce((total, each) => total + each[c], 0) / num) : null,
    };
  }
}
