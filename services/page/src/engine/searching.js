/** Policies that look ahead over sampled worlds, as `nashdex.policies.search` does: alone, or around a network or an ensemble. */
import { Expansion } from "../../../showdown/src/search/expansion.js";
import { search } from "../../../showdown/src/search/search.js";
import { copyTracker } from "../../../showdown/src/tracker/copy.js";
import { deriveSeed, hexSeed } from "./seeds.js";
import { winProbability } from "./value.js";

/** @typedef {import("../../../showdown/src/gateway/table.js").Table} Table */
/** @typedef {import("./ensemble.js").EnsemblePolicy} EnsemblePolicy */
/** @typedef {import("./policies.js").NetworkPolicy} NetworkPolicy */
/** @typedef {import("./policies.js").Decision} Decision */
/** @typedef {import("./policies.js").Opinion} Opinion */

/** Temperature of the search's values, which are from −1 to 1. */
const BETA = 0.015;

/** Draws from the mixture that the search finds. */
export class SearchPolicy {
  /** @param {import("./policies.js").PolicyEntry} entry @param {Table} table @param {string[]} teams that players draw from */
  constructor(entry, table, teams) {
    this.id = entry.id;
    this.name = entry.name;
    this.temperature = 1;
    this.reward = "";
    this.searches = true;
    this.budget = budgetOf(entry);
    this.prior = table.searches.priorOf("search", teams);
  }

  begin() {
    return [];
  }

  /** @param {Decision} decision @param {Float32Array[]} _memory @param {bigint} [root] that the search's seed follows from @returns {Promise<Opinion>} */
  async consider({ legal, tracker }, _memory, root = 0n) {
    const found = attempted(() => search(copyTracker(known(tracker)), this.prior, this.budget, searchSeed(root)));
    const probabilities = byAction(found, "probabilities", legal);
    const isFound = probabilities.some((share) => share > 0);
    return { logits: Float64Array.from(probabilities, (share) => (isFound ? Math.log(share) : 0)), value: null, memory: [] };
  }
}

/**
 * Plays in proportion to π · exp(Q / β), with the policy π of a network or an ensemble, and the value Q of each action in
 * the solution of a search, whose leaves its critics help to value, by their mean.
 */
export class GuidedSearchPolicy {
  /** @param {import("./policies.js").PolicyEntry} entry @param {NetworkPolicy | EnsemblePolicy} proposer @param {Table} table @param {string[]} teams */
  constructor(entry, proposer, table, teams) {
    this.id = entry.id;
    this.name = entry.name;
    this.temperature = entry.temperature ?? 1;
    this.reward = proposer.reward;
    this.chances = "chances" in proposer ? proposer.chances : [];
    this.searches = true;
    this.budget = budgetOf(entry);
    this.proposer = proposer;
    /** Each network once, however often it votes. */
    this.judges = "members" in proposer ? [...new Map(proposer.members.map((member) => [member.session, member])).values()] : [proposer];
    this.encoder = table.encoder;
    this.prior = table.searches.priorOf("search", teams);
  }

  begin() {
    return [];
  }

  /** @param {Decision} decision @param {Float32Array[]} _memory @param {bigint} [root] that the search's seed follows from @returns {Promise<Opinion>} */
  async consider(decision, _memory, root = 0n) {
    const opinion = await this.proposer.consider(decision, []);
    const expansion = attempted(() => new Expansion(copyTracker(known(decision.tracker)), this.prior, this.budget, searchSeed(root)));
    if (!expansion) return opinion;
    const values = [];
    for (const tracker of expansion.trackers) values.push(await this.#valueOf(tracker));
    const added = byAction(expansion.solved(values), "values", decision.legal);
    return { ...opinion, logits: opinion.logits.map((logit, i) => Math.fround(logit + added[i] / BETA)) };
  }

  /** @param {import("../../../showdown/src/tracker/tracker.js").Tracker} tracker at a leaf @returns {Promise<number>} from −1 to 1 */
  async #valueOf(tracker) {
    const { space } = this.encoder;
    const observation = new Float32Array(space.observation_size);
    const legal = new Uint16Array(space.num_actions);
    this.encoder.encode(tracker, observation, 0);
    const count = this.encoder.legal(tracker, legal, 0);
    let sum = 0;
    for (const judge of this.judges) {
      const { value } = await judge.consider({ observation, legal: legal.subarray(0, count), tracker }, []);
      sum += 2 * Number(winProbability(value, judge.reward, observation, space)) - 1;
    }
    return sum / this.judges.length;
  }
}

/** @param {import("./policies.js").PolicyEntry} entry */
const budgetOf = ({ nodes = 1, milliseconds = 0 }) => ({ nodes, turns: 1, milliseconds: milliseconds || null });

/** @param {bigint} root */
const searchSeed = (root) => hexSeed(deriveSeed(root, "search"));

/** @param {import("../../../showdown/src/tracker/tracker.js").Tracker | undefined} tracker */
function known(tracker) {
  if (!tracker) throw new Error("a search needs the seat's battle");
  return tracker;
}

/** @template T @param {() => T} find @returns {T | null} null: the position cannot be rebuilt, and the seat still has to choose */
function attempted(find) {
  try {
    return find();
  } catch {
    return null;
  }
}

/** @param {import("../../../showdown/src/search/search.js").Found | null} found @param {"probabilities" | "values"} what @param {Uint16Array} legal @returns {number[]} by legal action; 0 where the search knows nothing */
function byAction(found, what, legal) {
  return Array.from(legal, (action) => found?.[what][found.actions.indexOf(action)] ?? 0);
}
