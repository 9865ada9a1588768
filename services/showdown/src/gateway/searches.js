/** Answers `search` messages: the best choice of a tracked seat, by search over worlds that look like its battle. */
import { BattleFailure } from "./battle.js";
import { ProtocolError } from "./protocol/messages.js";
import { Expansion } from "../search/expansion.js";
import { NoPrior, Prior } from "../search/prior.js";
import { search } from "../search/search.js";
import { snapshot } from "../search/snapshot.js";
import { Worlds } from "../search/worlds.js";
import { PRNG, simulatorSeed } from "../simulator/package.js";
import { seedFrom } from "../simulator/teams.js";
import { legalChoices } from "../tracker/actions.js";

/** @typedef {import("../simulator/package.js").Format} Format */
/** @typedef {import("../encoder/encoder.js").Encoder} Encoder */
/** @typedef {import("./tracked_battles.js").TrackedBattles} TrackedBattles */
/** @typedef {import("../tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("./protocol/generated/message_types.js").Search} Search */
/** @typedef {import("./protocol/generated/message_types.js").SearchedSeat} SearchedSeat */
/** @typedef {import("./protocol/generated/message_types.js").Found} Found */
/** @typedef {import("./protocol/generated/message_types.js").Expand} Expand */
/** @typedef {import("./protocol/generated/message_types.js").Expanded} Expanded */
/** @typedef {import("./protocol/generated/message_types.js").ValuedSeat} ValuedSeat */
/** @typedef {import("./protocol/generated/message_types.js").Sample} Sample */
/** @typedef {import("./protocol/generated/message_types.js").SampledSeat} SampledSeat */

/** What a seat knows at a leaf, as a row of decisions. */
class Leaf {
  /** @param {number} id @param {Encoder} encoder @param {Tracker} tracker */
  constructor(id, encoder, tracker) {
    this.id = id;
    this.encoder = encoder;
    this.tracker = tracker;
  }

  /** @param {number} _seat @param {Float32Array} observations @param {number} row @param {Uint16Array} legal @param {number} at */
  encode(_seat, observations, row, legal, at) {
    this.encoder.encode(this.tracker, observations, row * this.encoder.space.observation_size);
    return this.encoder.legal(this.tracker, legal, at);
  }

  view() {
    return null;
  }

  destroy() {}
}

export class Searches {
  /** @param {Format} format @param {Encoder} encoder @param {TrackedBattles} tracked */
  constructor(format, encoder, tracked) {
    this.format = format;
    this.encoder = encoder;
    this.tracked = tracked;
    this.teams = "";
    /** @type {Prior | null} of these teams */
    this.prior = null;
    /** @type {Map<string, {expansion: Expansion | null, actions: number[], cause: string | null}>} whose leaves the client values */
    this.open = new Map();
  }

  /**
   * Read the rows' lines and requests, then search each row.
   * @param {Search} message
   * @returns {Found[]} one for each row
   * @throws {ProtocolError} this format cannot be searched
   */
  answer({ rows, teams, nodes, turns, milliseconds }) {
    const prior = this.priorOf("search", teams);
    return rows.map((row) => this.#search(row, prior, { nodes, turns, milliseconds }));
  }

  /**
   * @param {string} type of the message
   * @param {string[]} teams that players draw from, if the format generates none
   * @returns {Prior}
   * @throws {ProtocolError} worlds of this format cannot be drawn
   */
  priorOf(type, teams) {
    if (this.encoder.dexInfo.numSlots > 1) {
      throw new ProtocolError("bad_message", `${type}: format ${this.format.id} is doubles; worlds are drawn for singles`);
    }
    const text = teams.join("\n");
    if (this.prior && text === this.teams) return this.prior;
    try {
      this.prior = new Prior(this.format, this.encoder.dexInfo.dex, teams);
    } catch (error) {
      if (error instanceof NoPrior) throw new ProtocolError("bad_message", `${type}: ${error.message}`);
      throw error;
    }
    this.teams = text;
    return this.prior;
  }

  /**
   * Read the rows' lines and requests, and play each row's worlds. `solve` goes on.
   * @param {Expand} message
   * @param {import("./session.js").Row[]} due receives the leaves' rows
   * @returns {Expanded}
   * @throws {ProtocolError} this format cannot be searched
   */
  expand({ rows, teams, nodes, turns, milliseconds }, due) {
    const prior = this.priorOf("expand", teams);
    const expanded = rows.map((row) => {
      const { battle, seat } = row;
      const { found: expansion, actions, cause } = this.#attempt("expand", row, (tracker) =>
        new Expansion(tracker, prior, { nodes, turns, milliseconds }, row.seed));
      this.open.set(`${battle}/${seat}`, { expansion, actions, cause });
      const trackers = expansion?.trackers ?? [];
      for (const tracker of trackers) due.push({ asked: new Leaf(battle, this.encoder, tracker), seat, flags: 0 });
      return { battle, seat, leaves: trackers.length };
    });
    return { type: "expanded", rows: expanded };
  }

  /**
   * @param {ValuedSeat[]} rows
   * @returns {Found[]} one for each row
   * @throws {ProtocolError} a row has no leaves, or another number of them
   */
  solve(rows) {
    return rows.map(({ battle, seat, values }) => {
      const open = this.open.get(`${battle}/${seat}`);
      if (!open) throw new ProtocolError("bad_message", `value: seat ${seat} of battle ${battle} was not expanded`);
      const { expansion, actions, cause } = open;
      const wanted = expansion?.trackers.length ?? 0;
      if (values.length !== wanted) throw new ProtocolError("bad_message", `value: seat ${seat} of battle ${battle} has ${wanted} leaves, not ${values.length}`);
      this.open.delete(`${battle}/${seat}`);
      return expansion ? { battle, seat, ...expansion.solved(values), cause } : unsearched(battle, seat, actions, cause);
    });
  }

  /**
   * Read the rows' lines and requests, and draw worlds for each row.
   * @param {Sample} message
   * @returns {SampledSeat[]} one for each row
   * @throws {ProtocolError} worlds of this format cannot be drawn
   */
  sample({ rows, teams, worlds: count }) {
    const prior = this.priorOf("sample", teams);
    return rows.map((row) => {
      const { found, cause } = this.#attempt("sample", row, (tracker) => {
        const prng = new PRNG(simulatorSeed(row.seed));
        const worlds = new Worlds(tracker, prior, this.encoder.dexInfo.dex);
        const drawn = Array.from({ length: count }, () => snapshot(worlds.draw(seedFrom(prng)), row.seat));
        return { choices: legalChoices(tracker), worlds: drawn };
      });
      return { battle: row.battle, seat: row.seat, choices: found?.choices ?? {}, worlds: found?.worlds ?? [], cause };
    });
  }

  /** @param {SearchedSeat} row @param {Prior} prior @param {import("../search/search.js").Budget} budget @returns {Found} */
  #search(row, prior, budget) {
    const { battle, seat, seed } = row;
    const { found, actions, cause } = this.#attempt("search", row, (tracker) => search(tracker, prior, budget, seed));
    return found ? { battle, seat, ...found, cause } : unsearched(battle, seat, actions, cause);
  }

  /**
   * @template T
   * @param {string} type of the message
   * @param {SearchedSeat} row
   * @param {(tracker: Tracker) => T} find
   * @returns {{found: T | null, actions: number[], cause: string | null}} null: why the position could not be searched
   */
  #attempt(type, { battle, seat, lines, request }, find) {
    /** @type {number[]} */
    let actions = [];
    try {
      if (!this.tracked.read({ battle, seat, lines, request, state: false })) {
        throw new ProtocolError("bad_message", `${type}: the request of seat ${seat} of battle ${battle} asks for nothing`);
      }
      const tracker = /** @type {Tracker} */ (this.tracked.battles.get(battle)?.trackers[seat]);
      actions = Object.keys(legalChoices(tracker)).map(Number);
      return { found: find(tracker), actions, cause: null };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // The position cannot be rebuilt, or the simulator cannot play on from it: the seat still has to choose.
      const { message } = error instanceof BattleFailure ? error : BattleFailure.from("simulator_error", error);
      return { found: null, actions, cause: message };
    }
  }
}

/** @param {number} battle @param {0 | 1} seat @param {number[]} actions @param {string | null} cause @returns {Found} a uniform mixture */
function unsearched(battle, seat, actions, cause) {
  const even = actions.map(() => 1 / actions.length);
  return { battle, seat, actions, probabilities: even, values: actions.map(() => 0), worlds: 0, nodes: 0, cause };
}
