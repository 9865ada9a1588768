/**
 * A search whose leaves the caller values too: what the seat would see at each of them, as observations. A leaf is read as
 * the battle itself is, from the lines and the request that the seat would receive there, so it shows the seat's
 * knowledge in a drawn world and nothing else.
 */
import { ownLines } from "./lines.js";
import { playWorlds, solution } from "./search.js";
import { valueOf } from "./value.js";
import { copyTracker } from "../tracker/copy.js";

/** @typedef {import("../tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("./prior.js").Prior} Prior */
/** @typedef {import("./search.js").Budget} Budget */

/**
 * @typedef {object} Leaf
 * @property {number} value of the position by its Pokémon and conditions
 * @property {number} row of the observation that the caller values; -1: the battle is over
 */

/** The caller's part of a leaf's value; the rest is the position's own. docs/reference/search.md has the scores of other parts. */
const CALLERS_SHARE = 0.5;

/** One seat's search, from its worlds to its answer. */
export class Expansion {
  /**
   * @param {Tracker} tracker
   * @param {Prior} prior
   * @param {Budget} budget
   * @param {string} seed 16 hex digits
   */
  constructor(tracker, prior, budget, seed) {
    /** @type {Tracker[]} what the seat knows at each leaf that goes on */
    this.trackers = [];
    this.played = playWorlds(tracker, prior, budget, seed, (battle) => this.#leaf(battle, tracker), { isSilent: false });
  }

  /** @param {any} battle that was played on @param {Tracker} before @returns {Leaf} */
  #leaf(battle, before) {
    const { seat } = before;
    const value = valueOf(battle, seat);
    if (battle.ended) return { value, row: -1 };
    const tracker = copyTracker(before);
    for (const line of ownLines(battle.log, seat)) tracker.readLine(line);
    tracker.readRequest(battle.sides[seat].activeRequest);
    return { value, row: this.trackers.push(tracker) - 1 };
  }

  /**
   * @param {number[]} values of the leaves that go on, in the order of `trackers`
   * @returns {import("./search.js").Found}
   */
  solved(values) {
    return solution(this.played, ({ value, row }) => (row < 0 ? value : value + CALLERS_SHARE * (values[row] - value)));
  }
}
