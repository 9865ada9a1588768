/** Battles that run elsewhere (a replay, the ladder): the client feeds the same trackers and gets the same rows. */
import { BattleFailure } from "./battle.js";
import { ProtocolError } from "./protocol/messages.js";
import { Tracker } from "../tracker/tracker.js";

/** @typedef {import("../encoder/encoder.js").Encoder} Encoder */

/** The tracked seats of one battle. Like a `LiveBattle` it has a number and encodes rows. */
class TrackedBattle {
  /** @param {number} id @param {Encoder} encoder */
  constructor(id, encoder) {
    this.id = id;
    this.encoder = encoder;
    /** @type {(Tracker | undefined)[]} by seat */
    this.trackers = [undefined, undefined];
  }

  /** @param {0 | 1} seat @returns {Tracker} a new one for a new seat */
  tracker(seat) {
    return (this.trackers[seat] ??= new Tracker(this.encoder.dexInfo, seat));
  }

  /**
   * @param {number} seat
   * @param {Float32Array} observations
   * @param {number} row
   * @param {Uint16Array} legal
   * @param {number} at where the row's legal actions begin
   * @returns {number} of them
   * @throws {BattleFailure}
   */
  encode(seat, observations, row, legal, at) {
    const tracker = this.tracker(seat === 0 ? 0 : 1);
    let numLegal;
    try {
      this.encoder.encode(tracker, observations, row * this.encoder.space.observation_size);
      numLegal = this.encoder.legal(tracker, legal, at);
    } catch (error) {
      throw BattleFailure.from("tracker_error", error);
    }
    if (numLegal <= 0) throw new BattleFailure("tracker_error", "the request asks for no choice");
    return numLegal;
  }

  /** Drop the trackers. */
  destroy() {
    this.trackers = [undefined, undefined];
  }

  /** No view with a row: the client has the lines, and `state` gives the state. */
  view() {
    return null;
  }
}

/** All tracked battles of one client. */
export class TrackedBattles {
  /** @param {Encoder} encoder */
  constructor(encoder) {
    this.encoder = encoder;
    /** @type {Map<number, TrackedBattle>} */
    this.battles = new Map();
  }

  /** @param {number} id @returns {boolean} */
  has(id) {
    return this.battles.has(id);
  }

  /** @param {number} id */
  delete(id) {
    this.battles.delete(id);
  }

  /**
   * Feed one row of a `track` message.
   * @param {import("./protocol/generated/message_types.js").TrackedSeat} row
   * @returns {{asked: TrackedBattle, seat: 0 | 1} | null} the seat, if its request asks for a choice
   * @throws {BattleFailure}
   */
  read({ battle: id, seat, lines, request }) {
    let battle = this.battles.get(id);
    if (!battle) this.battles.set(id, (battle = new TrackedBattle(id, this.encoder)));
    const tracker = battle.tracker(seat);
    try {
      for (const line of lines) tracker.readLine(line);
      if (!request || request.wait) return null;
      tracker.readRequest(/** @type {any} */ (request));
    } catch (error) {
      this.battles.delete(id);
      throw BattleFailure.from("tracker_error", error);
    }
    return { asked: battle, seat };
  }

  /**
   * @param {import("./protocol/generated/message_types.js").TrackedSeat} row that was read
   * @returns {import("./protocol/generated/message_types.js").SeatView | null} the seat's state, if the row asks for it
   */
  state({ battle: id, seat, state }) {
    const tracker = state ? this.battles.get(id)?.trackers[seat] : undefined;
    return tracker ? { battle: id, seat, lines: [], request: null, state: tracker.state() } : null;
  }

  /**
   * @param {import("./protocol/generated/message_types.js").TrackedAction} row
   * @returns {import("./protocol/generated/message_types.js").Choice} the simulator's text for the action, or why there is none;
   *   neither for the first half of a Team Preview, after which the seat's next row asks for the second
   * @throws {ProtocolError}
   */
  choice({ battle: id, seat, action }) {
    const tracker = this.battles.get(id)?.trackers[seat];
    if (!tracker) throw new ProtocolError("bad_message", `choices: seat ${seat} of battle ${id} is not tracked`);
    try {
      // The first half of a Team Preview: a row for the second half follows.
      if (this.encoder.takesHalf(tracker, action)) return { battle: id, seat, choice: null, cause: null };
      return { battle: id, seat, choice: this.encoder.choice(tracker, action), cause: null };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { battle: id, seat, choice: null, cause: error.message };
    }
  }
}
