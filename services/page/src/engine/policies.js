/** The policies of a page: exported networks, and the scripted ones that need no other program. */
import * as ort from "onnxruntime-web/wasm";
import { column } from "./opponent.js";
import { distribution, softmax } from "./sampling.js";

/** @typedef {import("../../../showdown/src/encoder/layout.js").Space} Space */

/**
 * @typedef {object} PolicyEntry a policy as the page's data describe it
 * @property {string} id
 * @property {string} name
 * @property {"network" | "random" | "max-power" | "mixture" | "ensemble" | "search"} kind
 * @property {string} [network] name of the ONNX file in the page's data
 * @property {number} [temperature] 0 is greedy
 * @property {number[]} [memory_sizes]
 * @property {number} [stab] of max-power
 * @property {string} [reward] that its critic predicts
 * @property {import("./value.js").Chances[]} [chances] maps to calibrated chances
 * @property {Member[]} [members] of a mixture or an ensemble, or what a search is around
 * @property {number} [nodes] of a search
 * @property {number} [milliseconds] of a search; 0: its nodes alone count
 *
 * @typedef {{policy: string, weight: number}} Member
 */

/**
 * @typedef {object} Opinion what a policy thinks of one decision
 * @property {Float64Array} logits of the legal actions
 * @property {number | null} value of the critic, in units of its reward; null without a critic
 * @property {Float32Array[]} memory after the decision
 * @property {Float64Array | null} [prediction] probabilities of the opponent's choices (`nashdex.policies.networks.opponent_choices`)
 */

/**
 * @typedef {object} Decision
 * @property {Float32Array} observation
 * @property {Uint16Array} legal ascending
 * @property {import("../../../showdown/src/tracker/tracker.js").Tracker} [tracker] what the seat knows, for searches, which copy it
 */

/** Open a runtime on its own bytes: the page loads nothing. @param {ArrayBuffer} wasm */
export function openRuntime(wasm) {
  ort.env.wasm.wasmBinary = wasm;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
}

/** @param {Uint8Array} onnx @returns {Promise<ort.InferenceSession>} a network, which several policies may share */
export function openNetwork(onnx) {
  return ort.InferenceSession.create(onnx, { executionProviders: ["wasm"], logSeverityLevel: 3 });
}

/** A network in ONNX, one decision at a time. */
export class NetworkPolicy {
  /** @param {PolicyEntry} entry @param {ort.InferenceSession} session @param {Space} space */
  constructor(entry, session, space) {
    this.id = entry.id;
    this.temperature = entry.temperature ?? 1;
    this.reward = entry.reward ?? "win-loss";
    this.name = entry.name;
    this.chances = entry.chances ?? [];
    this.memorySizes = entry.memory_sizes ?? [];
    this.session = session;
    this.space = space;
  }

  /** @returns {Float32Array[]} the memory at a battle's start */
  begin() {
    return this.memorySizes.map((size) => new Float32Array(size));
  }

  /**
   * @param {Decision} decision
   * @param {Float32Array[]} memory before it
   * @returns {Promise<Opinion>}
   */
  async consider({ observation, legal }, memory) {
    /** @type {Record<string, ort.Tensor>} */
    const feeds = { observations: new ort.Tensor("float32", observation, [1, observation.length]) };
    memory.forEach((state, i) => (feeds[`memory.${i}`] = new ort.Tensor("float32", state, [1, state.length])));
    const found = await this.session.run(feeds);
    const logits = legalLogits(/** @type {Float32Array} */ (found.logits.data), found.logits.dims, legal, this.space);
    const after = memory.map((_, i) => Float32Array.from(/** @type {Float32Array} */ (found[`next_memory.${i}`].data)));
    const prediction = found.prediction ? softmax(/** @type {Float32Array} */ (found.prediction.data)) : null;
    return { logits, value: Number(found.values.data[0]), memory: after, prediction };
  }
}

/**
 * @param {Float32Array} logits of all actions, or of each slot's actions with their factors
 * @param {readonly number[]} dims
 * @param {Uint16Array} legal
 * @param {Space} space
 */
export function legalLogits(logits, dims, legal, space) {
  if (space.num_slots === 1) return Float64Array.from(legal, (action) => logits[action]);
  // Pairs (a, b): f(a) + g(b) + h(a) · k(b), from (1, 2, actions, 1 + factors); nashdex.policies.masked.
  const [, , size, width] = dims;
  return Float64Array.from(legal, (action) => {
    const first = width * Math.floor(action / size);
    const second = width * (size + (action % size));
    let logit = logits[first] + logits[second];
    for (let z = 1; z < width; z++) logit += logits[first + z] * logits[second + z];
    return logit;
  });
}

/** Draws uniformly. */
export class RandomPolicy {
  /** @param {PolicyEntry} entry */
  constructor(entry) {
    this.id = entry.id;
    this.temperature = 1;
    this.reward = "";
  }

  begin() {
    return [];
  }

  /** @param {Decision} decision @returns {Promise<Opinion>} */
  async consider({ legal }) {
    return { logits: new Float64Array(legal.length), value: null, memory: [] };
  }
}

const NEVER = -1e9;
/** Layouts write a multiplier's log2 / 2; no effect at all is -1.5. */
const IMMUNE_BELOW = -1.25;

/** Plays the strongest move, as `nashdex.policies.scripted.max_power` does in singles. */
export class MaxPowerPolicy {
  /** @param {PolicyEntry} entry @param {Space} space */
  constructor(entry, space) {
    this.id = entry.id;
    this.temperature = 0;
    this.reward = "";
    this.space = space;
    this.stab = entry.stab ?? 1.5;
  }

  begin() {
    return [];
  }

  /** @param {Decision} decision @returns {Promise<Opinion>} */
  async consider({ observation, legal }) {
    const powers = this.#powers(observation);
    const rows = column(this.space, observation, "own", "active");
    const active = Math.max(0, rows.indexOf(Math.max(...rows)));
    const each = powers.length / rows.length;
    const worth = Float64Array.from(legal, (action) => {
      const [verb, number] = this.space.actions[action].split(" ");
      const row = Number(number) - 1;
      if (verb === "move") return powers[active * each + row];
      if (verb !== "switch") return NEVER;
      return Math.fround(-1 / (1 + Math.max(...powers.slice(row * each, (row + 1) * each))));
    });
    return { logits: distribution(worth, this.temperature).map(Math.log), value: null, memory: [] };
  }

  /** @param {Float32Array} observation @returns {number[]} expected power of each own Pokémon's moves */
  #powers(observation) {
    const [power, accuracy, effect, stab] = ["power", "accuracy", "effectiveness", "stab"].map((f) => column(this.space, observation, "own_moves", f));
    const f = Math.fround;
    return power.map((value, i) => {
      const multiplier = effect[i] < IMMUNE_BELOW ? 0 : f(4 ** effect[i]);
      return f(f(f(value * accuracy[i]) * multiplier) * (stab[i] > 0 ? this.stab : 1));
    });
  }
}
