/**
 * Search over sampled worlds: in each world, every own choice is played against every choice of the opponent on a copy of
 * the battle, a cheap policy plays on for some turns, and the position is valued. The game of these values, in which the
 * opponent knows its cards and the seat does not, is solved.
 */
import { PRNG, simulatorSeed } from "../simulator/package.js";
import { seedFrom } from "../simulator/teams.js";
import { legalChoices } from "../tracker/actions.js";
import { choicesOf, play } from "./choices.js";
import { copyBattle } from "./clone.js";
import { playOn } from "./playout.js";
import { solveWorlds } from "./solve.js";
import { valueOf } from "./value.js";
import { Worlds } from "./worlds.js";

/** @typedef {import("../tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("./prior.js").Prior} Prior */

/**
 * @typedef {object} Budget
 * @property {number} nodes joint choices that are played out, over all worlds; the last world's are all played
 * @property {number} turns that a node plays, the joint choice's own included
 * @property {number | null} milliseconds after which no world begins; null: nodes alone count, and the same seed gives the same answer
 */

/**
 * @typedef {object} Found
 * @property {number[]} actions legal ones, ascending
 * @property {number[]} probabilities of the mixture, by action
 * @property {number[]} values of the actions against the opponents' mixtures, −1 to 1
 * @property {number} worlds that were searched
 * @property {number} nodes that were played
 */

/** Part of a joint choice's deviation from the means of its row and column that is believed. */
const INTERACTION = 0.4;
/** Share of the most probable action's probability below which an action is not played: what remains of chance. */
const LEAST_SHARE = 0.2;

/** One world, and the choices of both sides in it. */
class World {
  /** @param {any} battle @param {number} seat @param {string[]} own */
  constructor(battle, seat, own) {
    this.battle = battle;
    this.seat = seat;
    this.own = own;
    /** @type {(string | null)[]} null: the opponent has nothing to choose */
    this.foe = choicesOf(battle, 1 - seat);
    if (this.foe.length === 0) this.foe = [null];
  }

  /**
   * Play every joint choice once, all with the same random numbers: chance then favours no choice over its rivals.
   * @param {number} turns
   * @param {string} seed
   * @returns {number[][]} values by own choice and the opponent's
   */
  values(turns, seed) {
    return this.own.map((own) => this.foe.map((foe) => this.#value(own, foe, turns, seed)));
  }

  /** @param {string} own @param {string | null} foe @param {number} turns @param {string} seed @returns {number} */
  #value(own, foe, turns, seed) {
    const copy = copyBattle(this.battle, seed);
    // A replacement comes before the turn that is searched.
    const until = copy.turn + turns;
    play(copy, this.seat === 0 ? [own, foe] : [foe, own]);
    playOn(copy, until, new PRNG(simulatorSeed(seed)));
    return valueOf(copy, this.seat);
  }
}

/**
 * One node for a joint choice is mostly chance, and an opponent that picks the best of such values would be too strong. So
 * each value becomes the sum of the means of its row and column, and a part of what remains.
 * @param {number[][]} values
 * @returns {number[][]}
 */
function smoothed(values) {
  const mean = (/** @type {number[]} */ list) => list.reduce((one, other) => one + other, 0) / list.length;
  const rows = values.map(mean);
  const columns = values[0].map((_, b) => mean(values.map((row) => row[b])));
  const whole = mean(rows);
  return values.map((row, a) => row.map((value, b) => {
    const additive = rows[a] + columns[b] - whole;
    return additive + INTERACTION * (value - additive);
  }));
}

/**
 * @param {Tracker} tracker
 * @param {Prior} prior
 * @param {Budget} budget
 * @param {string} seed 16 hex digits
 * @returns {Found}
 */
export function search(tracker, prior, { nodes, turns, milliseconds }, seed) {
  const choices = legalChoices(tracker);
  const actions = Object.keys(choices).map(Number);
  if (actions.length === 1) return { actions, probabilities: [1], values: [0], worlds: 0, nodes: 0 };
  const started = performance.now();
  const prng = new PRNG(simulatorSeed(seed));
  const worlds = new Worlds(tracker, prior, tracker.dexInfo.dex);
  const own = actions.map((action) => choices[action]);
  /** @type {number[][][]} */
  const payoffs = [];
  let played = 0;
  const isOver = () => (milliseconds !== null && performance.now() - started > milliseconds) || played >= nodes;
  // Whole worlds, so that no choice is judged by other worlds than its rivals.
  do {
    const world = new World(worlds.draw(seedFrom(prng)), tracker.seat, own);
    const values = world.values(turns, seedFrom(prng));
    played += values.length * values[0].length;
    payoffs.push(smoothed(values));
  } while (!isOver());
  const { mixture, values } = solveWorlds(payoffs);
  return { actions, probabilities: withoutTraces(mixture), values, worlds: payoffs.length, nodes: played };
}

/** @param {number[]} mixture @returns {number[]} without the actions that are hardly played */
function withoutTraces(mixture) {
  const least = LEAST_SHARE * Math.max(...mixture);
  const kept = mixture.map((share) => (share < least ? 0 : share));
  const total = kept.reduce((one, other) => one + other, 0);
  return kept.map((share) => share / total);
}
