/**
 * Search over sampled worlds: in each world, every own choice is played against every choice of the opponent on a copy of
 * the battle, a cheap policy plays on for some turns, and the position is valued, here or by the client. The game of these values, in which the
 * opponent knows its cards and the seat does not, is solved.
 */
import { PRNG, simulatorSeed } from "../simulator/package.js";
import { seedFrom } from "../simulator/teams.js";
import { legalChoices } from "../tracker/actions.js";
import { choicesOf, play } from "./choices.js";
import { copyBattle } from "./clone.js";
import { bestSwitch, playOn } from "./playout.js";
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

/** Nodes that a world gets at least: making a world costs as much as about ten. */
const NODES_OF_WORLD = 30;
/** The opponent's switches that a world plays: the best by estimated damage, and others by chance. */
const FOE_SWITCHES = 2;
/** Part of a joint choice's deviation from the means of its row and column that is believed. */
const INTERACTION = 0.4;
/** Share of the most probable action's probability below which an action is not played: what remains of chance. */
const LEAST_SHARE = 0.2;

/**
 * @template Leaf
 * @typedef {object} Played worlds in which every joint choice was played
 * @property {number[]} actions legal ones, ascending
 * @property {{foe: (string | null)[], passes: Leaf[][][]}[]} worlds the opponent's choices; leaves by pass, own choice and the opponent's
 * @property {number} nodes that were played
 */

/** One world, and the choices of both sides in it. */
class World {
  /** @param {any} battle @param {number} seat @param {string[]} own @param {InstanceType<typeof PRNG>} prng */
  constructor(battle, seat, own, prng) {
    this.battle = battle;
    this.seat = seat;
    this.own = own;
    /** @type {(string | null)[]} null: the opponent has nothing to choose */
    this.foe = choicesOf(battle, 1 - seat);
    if (this.foe.length === 0) this.foe = [null];
    else if (battle.requestState === "move") this.foe = withFewSwitches(battle, 1 - seat, /** @type {string[]} */ (this.foe), prng);
  }

  /** Number of joint choices. */
  get size() {
    return this.own.length * this.foe.length;
  }

  /**
   * Play every joint choice once, all with the same random numbers: chance then favours no choice over its rivals.
   * @template Leaf
   * @param {number} turns
   * @param {string} seed
   * @param {(battle: any) => Leaf} leafOf reads a battle that was played on
   * @returns {Leaf[][]} by own choice and the opponent's
   */
  leaves(turns, seed, leafOf) {
    return this.own.map((own) => this.foe.map((foe) => leafOf(this.#played(own, foe, turns, seed))));
  }

  /** @param {string} own @param {string | null} foe @param {number} turns @param {string} seed @returns {any} a copy that was played on */
  #played(own, foe, turns, seed) {
    const copy = copyBattle(this.battle, seed);
    // A replacement comes before the turn that is searched.
    const until = copy.turn + turns;
    play(copy, this.seat === 0 ? [own, foe] : [foe, own]);
    playOn(copy, until, new PRNG(simulatorSeed(seed)));
    return copy;
  }
}

/**
 * @param {any} battle
 * @param {number} seat
 * @param {string[]} choices
 * @param {InstanceType<typeof PRNG>} prng
 * @returns {string[]}
 */
function withFewSwitches(battle, seat, choices, prng) {
  const moves = choices.filter((choice) => !choice.startsWith("switch"));
  const switches = choices.filter((choice) => choice.startsWith("switch"));
  if (moves.length === 0 || switches.length <= FOE_SWITCHES) return choices;
  prng.shuffle(switches);
  const best = bestSwitch(battle, seat, switches);
  return [...moves, best, ...switches.filter((choice) => choice !== best).slice(0, FOE_SWITCHES - 1)];
}

/**
 * One node for a joint choice is mostly chance, and an opponent that picks the best of such values would be too strong. So
 * each value becomes the sum of the means of its row and column, and a part of what remains. Moves and switches of the
 * opponent are smoothed apart, since an own choice may be good against one kind alone.
 * @param {number[][]} values
 * @param {(string | null)[]} foe the opponent's choices
 * @returns {number[][]}
 */
function smoothed(values, foe) {
  const kinds = foe.map((choice) => choice?.slice(0, 4) ?? "");
  const found = values.map((row) => [...row]);
  for (const kind of new Set(kinds)) {
    const columns = [...kinds.keys()].filter((b) => kinds[b] === kind);
    const rowMeans = values.map((row) => mean(columns.map((b) => row[b])));
    const whole = mean(rowMeans);
    for (const b of columns) {
      const columnMean = mean(values.map((row) => row[b]));
      values.forEach((row, a) => {
        const additive = rowMeans[a] + columnMean - whole;
        found[a][b] = additive + INTERACTION * (row[b] - additive);
      });
    }
  }
  return found;
}

/** @param {number[]} list @returns {number} */
function mean(list) {
  return list.reduce((one, other) => one + other, 0) / list.length;
}

/**
 * @param {Tracker} tracker
 * @param {Prior} prior
 * @param {Budget} budget
 * @param {string} seed 16 hex digits
 * @returns {Found}
 */
export function search(tracker, prior, budget, seed) {
  return solution(playWorlds(tracker, prior, budget, seed, (battle) => valueOf(battle, tracker.seat)), (value) => value);
}

/**
 * @template Leaf
 * @param {Tracker} tracker
 * @param {Prior} prior
 * @param {Budget} budget
 * @param {string} seed 16 hex digits
 * @param {(battle: any) => Leaf} leafOf reads a battle that was played on
 * @param {{isSilent?: boolean}} [options] whether these battles write no log
 * @returns {Played<Leaf>} without worlds if there is nothing to decide
 */
export function playWorlds(tracker, prior, { nodes, turns, milliseconds }, seed, leafOf, { isSilent = true } = {}) {
  const choices = legalChoices(tracker);
  const actions = Object.keys(choices).map(Number);
  /** @type {Played<Leaf>} */
  const played = { actions, worlds: [], nodes: 0 };
  if (actions.length === 1) return played;
  const started = performance.now();
  const prng = new PRNG(simulatorSeed(seed));
  const worlds = new Worlds(tracker, prior, tracker.dexInfo.dex);
  const own = actions.map((action) => choices[action]);
  const isOver = () => (milliseconds !== null && performance.now() - started > milliseconds) || played.nodes >= nodes;
  // Whole worlds, so that no choice is judged by other worlds than its rivals.
  do {
    const world = new World(worlds.draw(seedFrom(prng), { isSilent }), tracker.seat, own, prng);
    /** @type {Leaf[][][]} */
    const passes = [];
    do {
      passes.push(world.leaves(turns, seedFrom(prng), leafOf));
      played.nodes += world.size;
    } while (passes.length * world.size < NODES_OF_WORLD);
    played.worlds.push({ foe: world.foe, passes });
  } while (!isOver());
  return played;
}

/**
 * @template Leaf
 * @param {Played<Leaf>} played
 * @param {(leaf: Leaf) => number} value from −1 to 1
 * @returns {Found}
 */
export function solution({ actions, worlds, nodes }, value) {
  if (worlds.length === 0) return { actions, probabilities: actions.map(() => 1 / actions.length), values: actions.map(() => 0), worlds: 0, nodes };
  const payoffs = worlds.map(({ foe, passes }) => {
    const values = passes.map((rows) => rows.map((row) => row.map(value)));
    return smoothed(values[0].map((row, a) => row.map((_, b) => mean(values.map((pass) => pass[a][b])))), foe);
  });
  const { mixture, values } = solveWorlds(payoffs);
  return { actions, probabilities: withoutTraces(mixture), values, worlds: payoffs.length, nodes };
}

/** @param {number[]} mixture @returns {number[]} without the actions that are hardly played */
function withoutTraces(mixture) {
  const least = LEAST_SHARE * Math.max(...mixture);
  const kept = mixture.map((share) => (share < least ? 0 : share));
  const total = kept.reduce((one, other) => one + other, 0);
  return kept.map((share) => share / total);
}
