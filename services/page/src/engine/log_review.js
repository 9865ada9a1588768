/**
 * A logged battle, judged at the start of each turn. A log holds neither the dice nor what was never shown, so there are no forks:
 * choices have a probability and no value, and nothing separates them from chance.
 */
import { Tracker } from "../../../showdown/src/tracker/tracker.js";
import { describe } from "./describe.js";
import { meanOf } from "./forks.js";
import { knowledgeOf } from "./knowledge.js";
import { seenBy } from "./log.js";
import { judged } from "./review.js";
import { shownAction } from "./shown_choices.js";
import { partsOf, shownRequest, shownTeam } from "./shown_team.js";
import { chancesOf } from "./value.js";

/** @typedef {import("./log.js").LoggedBattle} LoggedBattle */

export class LogReview {
  /** @param {import("../../../showdown/src/gateway/table.js").Table} table @param {import("./player.js").Policy} policy whose distribution and critic judge */
  constructor(table, policy) {
    this.table = table;
    this.policy = policy;
  }

  /**
   * @param {LoggedBattle} battle
   * @param {{isWanted: () => boolean, onProgress: (done: number, total: number) => void}} options
   * @returns {Promise<{steps: any[], lines: [string[], string[]], winner: number | null, end: any}>} as `Review.of`
   */
  async of({ lines, winner, isWhole }, { isWanted, onProgress }) {
    const reader = new Reader(this.table, lines, this.policy);
    const starts = lines.flatMap((line, at) => (line.startsWith("|turn|") ? [at] : []));
    const steps = [];
    for (const [number, at] of starts.entries()) {
      reader.read(lines.slice(reader.position, at + 1));
      steps.push(await reader.judge(lines.slice(at + 1, starts[number + 1] ?? lines.length)));
      onProgress(number + 1, starts.length);
      // Other messages are read between the turns.
      await new Promise((resolve) => setTimeout(resolve));
      if (!isWanted()) throw new Error("the analysis was stopped");
    }
    reader.read(lines.slice(reader.position));
    const score = isWhole ? (winner === null ? 0.5 : 1 - winner) : (steps.at(-1)?.win ?? null);
    return { steps, lines: reader.lines, winner, end: { turn: steps.at(-1)?.turn ?? 0, knowledge: reader.knowledge(), win: score } };
  }
}

const SHOWN_CHARACTERS = 60;

/**
 * @template T
 * @param {string} line
 * @param {() => T} read
 * @returns {T}
 * @throws {Error} the log has lines that no simulator writes, or not in this order
 */
function asShowdownWrites(line, read) {
  try {
    return read();
  } catch (cause) {
    throw new Error(`The log cannot be read at ${line.slice(0, SHOWN_CHARACTERS)}; expected a battle as Showdown writes it.`, { cause });
  }
}

/** Follows a log from both seats. */
class Reader {
  /** @param {import("../../../showdown/src/gateway/table.js").Table} table @param {string[]} lines @param {import("./player.js").Policy} policy */
  constructor(table, lines, policy) {
    const { dexInfo } = table.encoder;
    this.table = table;
    this.policy = policy;
    this.position = 0;
    this.teams = [0, 1].map((seat) => shownTeam(lines, seat));
    this.battle = { seats: [0, 1].map((seat) => ({ tracker: new Tracker(dexInfo, seat) })) };
    this.memory = [policy.begin(), policy.begin()];
    /** @type {[string[], string[]]} */
    this.lines = [[], []];
    /** @type {Record<string, string>} name by position */
    this.active = {};
    this.terastallized = new Set();
  }

  /** @param {string[]} lines */
  read(lines) {
    this.position += lines.length;
    for (const line of lines) {
      this.#follow(line);
      for (const [seat, { tracker }] of this.battle.seats.entries()) {
        const seen = seenBy(line, seat);
        asShowdownWrites(line, () => tracker.readLine(seen));
        this.lines[seat].push(seen);
      }
    }
  }

  /** @param {string} line */
  #follow(line) {
    const [, kind, who = "", what = ""] = line.split("|");
    if (!who.includes(": ")) return;
    const [position, name] = partsOf(who);
    if (kind === "switch" || kind === "drag" || kind === "replace") this.active[position] = name;
    if (kind === "-terastallize") this.terastallized.add(position.slice(0, 2));
    if (kind === "swap" && position.length === 3) {
      const other = `${position.slice(0, 2)}${position[2] === "a" ? "b" : "a"}`;
      if (what) [this.active[position], this.active[other]] = [this.active[other], this.active[position]];
    }
  }

  /** @param {string[]} following lines of the turn that begins @returns {Promise<any>} a step */
  async judge(following) {
    const { encoder } = this.table;
    const wins = [];
    const decisions = [];
    for (const [seat, { tracker }] of this.battle.seats.entries()) {
      const side = `p${seat + 1}`;
      const active = [..."ab"].slice(0, tracker.own.slots.length).map((letter) => this.active[side + letter]);
      const observation = new Float32Array(encoder.space.observation_size);
      const legal = new Uint16Array(encoder.space.num_actions);
      const numLegal = asShowdownWrites(`|turn|${tracker.turn}`, () => {
        tracker.readRequest(shownRequest(this.teams[seat], seat, active, this.terastallized.has(side), encoder.dexInfo));
        encoder.encode(tracker, observation, 0);
        return encoder.legal(tracker, legal, 0);
      });
      const decision = { seat, observation, legal: legal.slice(0, numLegal), again: false, tracker };
      if (decision.legal.length === 0) continue;
      const opinion = await this.policy.consider(decision, this.memory[seat]);
      this.memory[seat] = opinion.memory;
      const win = chancesOf(this.policy, encoder.space)(seat, opinion.value, observation);
      if (win !== null) wins.push(win);
      const played = shownAction(following, seat, describe(this, seat, decision.legal));
      decisions.push(judged(this, decision, opinion, this.policy, played));
    }
    const [{ tracker }] = this.battle.seats;
    return { turn: tracker.turn, knowledge: this.knowledge(), numLines: [this.lines[0].length, this.lines[1].length], win: meanOf(wins), decisions, change: null };
  }

  knowledge() {
    return this.battle.seats.map(({ tracker }) => knowledgeOf(tracker));
  }
}
