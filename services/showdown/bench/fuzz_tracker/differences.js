/** Collects the differences between tracked and true states by kind, and sets those that are known apart. */
import { DexInfo } from "../../src/simulator/dex.js";
import { compare } from "./compare.js";
import { reasonFor } from "./known.js";
import { playBattle } from "./play.js";

/** @typedef {import("../../src/tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("./play.js").Moment} Moment */

/** The innermost call of an error's stack. */
const CALL = /\n +(at .*)/;

/**
 * @typedef {object} Kind of difference
 * @property {string} name
 * @property {string} reason why it is accepted; empty for an unknown one
 * @property {number} times that one began
 * @property {string} example the first
 * @property {string[]} lines that the seat of the example had seen by then
 */

export class Differences {
  /** @type {Map<string, Kind>} by name and reason */
  kinds = new Map();
  comparisons = 0;
  seed = 0;
  /** Differences that the last moment had, too: each counts once, however long it lasts. @type {Set<string>} */
  #lasting = new Set();

  /** @returns {Kind[]} unknown ones first, then by how often */
  sorted() {
    return [...this.kinds.values()].sort((a, b) => Number(a.reason !== "") - Number(b.reason !== "") || b.times - a.times);
  }

  /** Begin another battle. @param {number} seed */
  begin(seed) {
    this.seed = seed;
    this.#lasting.clear();
  }

  /** @param {Moment} moment */
  compare({ battle, trackers, lines }) {
    /** @type {Set<string>} */
    const present = new Set();
    for (const [seat, tracker] of trackers.entries()) {
      const { comparisons, differences } = compare(battle, tracker, seat);
      this.comparisons += comparisons;
      for (const difference of differences) {
        const { kind, subject, tracked, truth } = difference;
        const key = `${seat} ${kind} ${subject}`;
        present.add(key);
        if (this.#lasting.has(key)) continue;
        const text = `${subject}: tracked ${JSON.stringify(tracked)}, true ${JSON.stringify(truth)}`;
        this.#count(kind, reasonFor(difference, battle), `turn ${battle.turn}, seat p${seat + 1}, ${text}`, lines[seat]);
      }
    }
    this.#lasting = present;
  }

  /** @param {Moment} moment @param {number} seat @param {string} choice that the tracker took for legal @param {string} error the simulator's */
  refuse({ battle, lines }, seat, choice, error) {
    this.#count("refused choice", "", `turn ${battle.turn}, seat p${seat + 1}, ${choice}: ${error}`, lines[seat]);
  }

  /** @param {Moment} moment @param {unknown} error that ended the battle */
  crash({ battle, lines }, error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    this.#count("crash", "", `turn ${battle.turn}, ${message}, ${CALL.exec(stack ?? "")?.[1]}`, lines[0]);
  }

  /** @param {string} name @param {string} reason @param {string} example @param {string[]} lines */
  #count(name, reason, example, lines) {
    const key = `${name}: ${reason}`;
    const kind = this.kinds.get(key);
    if (kind) kind.times++;
    else this.kinds.set(key, { name, reason, times: 1, example: `seed ${this.seed}, ${example}`, lines: [...lines] });
  }
}

/**
 * @param {string} format
 * @param {Iterable<number>} seeds of the battles
 * @param {{trackerOf?: (dexInfo: DexInfo, seat: number) => Tracker, report?: (differences: Differences) => void}} [options] `report`
 *   is called after each battle
 * @returns {Differences}
 */
export function fuzz(format, seeds, { trackerOf, report = () => {} } = {}) {
  const dexInfo = DexInfo.forFormat(format);
  const differences = new Differences();
  for (const seed of seeds) {
    differences.begin(seed);
    playBattle(dexInfo, seed, differences, trackerOf);
    report(differences);
  }
  return differences;
}
