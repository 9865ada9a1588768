/** Answers `search` messages: what a tracked seat should play, by search over worlds that it cannot tell from its battle. */
import { BattleFailure } from "./battle.js";
import { ProtocolError } from "./protocol/messages.js";
import { NoPrior, Prior } from "../search/prior.js";
import { search } from "../search/search.js";
import { legalChoices } from "../tracker/actions.js";

/** @typedef {import("../simulator/package.js").Format} Format */
/** @typedef {import("../encoder/encoder.js").Encoder} Encoder */
/** @typedef {import("./tracked_battles.js").TrackedBattles} TrackedBattles */
/** @typedef {import("./protocol/generated/message_types.js").Search} Search */
/** @typedef {import("./protocol/generated/message_types.js").SearchedSeat} SearchedSeat */
/** @typedef {import("./protocol/generated/message_types.js").Found} Found */

export class Searches {
  /** @param {Format} format @param {Encoder} encoder @param {TrackedBattles} tracked */
  constructor(format, encoder, tracked) {
    this.format = format;
    this.encoder = encoder;
    this.tracked = tracked;
    this.teams = "";
    /** @type {Prior | null} of these teams */
    this.prior = null;
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

  /** @param {SearchedSeat} row @param {Prior} prior @param {import("../search/search.js").Budget} budget @returns {Found} */
  #search({ battle, seat, lines, request, seed }, prior, budget) {
    /** @type {number[]} */
    let actions = [];
    try {
      if (!this.tracked.read({ battle, seat, lines, request, state: false })) {
        throw new ProtocolError("bad_message", `search: the request of seat ${seat} of battle ${battle} asks for nothing`);
      }
      const tracker = /** @type {import("../tracker/tracker.js").Tracker} */ (this.tracked.battles.get(battle)?.trackers[seat]);
      actions = Object.keys(legalChoices(tracker)).map(Number);
      return { battle, seat, ...search(tracker, prior, budget, seed), cause: null };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // The position cannot be rebuilt, or the simulator cannot play on from it: the seat still has to choose.
      const { message } = error instanceof BattleFailure ? error : BattleFailure.from("simulator_error", error);
      const even = actions.map(() => 1 / actions.length);
      return { battle, seat, actions, probabilities: even, values: actions.map(() => 0), worlds: 0, nodes: 0, cause: message };
    }
  }
}
