/**
 * One battle, driven directly on the simulator's `Battle` object: no streams, no serialised requests.
 *
 * After each step, the battle is marked as fully sent (`sentLogPos`, `sentRequests`). Otherwise the simulator would
 * serialise updates once 500 lines wait, and report 1,000 waiting lines as an infinite loop.
 */
import { Battle, simulatorSeed } from "../simulator/package.js";
import { IllegalTeam, NoGenerator } from "../simulator/teams.js";
import { Tracker } from "../tracker/tracker.js";
import { parseLine } from "../tracker/lines/lines.js";
import { uniform } from "./uniform.js";

/** @typedef {import("../encoder/encoder.js").Encoder} Encoder */
/** @typedef {import("../simulator/package.js").Format} Format */
/** @typedef {import("../simulator/package.js").PokemonSet} PokemonSet */
/** @typedef {import("../simulator/package.js").ChoiceRequest} ChoiceRequest */

/** @type {readonly ["p1", "p2"]} */
const SIDE_IDS = ["p1", "p2"];
/** Fixed, so that a battle's log depends only on seed, teams and actions. */
const PLAYER_NAMES = ["Player 1", "Player 2"];

const LOWER_S = 0x73;
const LOWER_T = 0x74;
const COLON = 0x3a;
const DIGIT_ONE = 0x31;
/** Index of the digit in `|split|p1`. */
const SPLIT_DIGIT = 8;

/** @param {string} line @returns {boolean} whether it is `|t:|`, a wall-clock time that differs in every run */
function isTimestamp(line) {
  return line.charCodeAt(1) === LOWER_T && line.charCodeAt(2) === COLON;
}

/**
 * @param {string} line
 * @returns {boolean} whether it is `|split|pN`: the next line is for player N, and the one after it, if not empty, for others
 */
function isSplit(line) {
  return line.charCodeAt(1) === LOWER_S && line.startsWith("|split|p");
}

/** @typedef {import("./protocol/generated/message_types.js").FailedBattle["cause"]} FailureCause */

/** Why a battle ended without a result. */
export class BattleFailure extends Error {
  /**
   * @param {FailureCause} kind
   * @param {string} detail
   */
  constructor(kind, detail) {
    super(detail);
    this.kind = kind;
  }

  /**
   * @param {FailureCause} kind
   * @param {unknown} error the detail is its stack
   */
  static from(kind, error) {
    return new BattleFailure(kind, (error instanceof Error && error.stack) || String(error));
  }
}

/** @param {unknown} error that kept a battle from starting @returns {BattleFailure} */
export function startFailure(error) {
  if (error instanceof BattleFailure) return error;
  if (error instanceof IllegalTeam) return new BattleFailure("illegal_team", error.message);
  if (error instanceof NoGenerator) return new BattleFailure("bad_start", error.message);
  return BattleFailure.from("simulator_error", error);
}

/** One player's view of a battle, and its open decision. */
class Seat {
  /**
   * @param {0 | 1} index
   * @param {Tracker} tracker
   * @param {boolean} wantsLines
   * @param {boolean} wantsState
   */
  constructor(index, tracker, wantsLines, wantsState) {
    this.index = index;
    this.tracker = tracker;
    this.wantsState = wantsState;
    /** @type {string[] | null} lines since the last decision; null if the client does not read them */
    this.lines = wantsLines ? [] : null;
    /** @type {ChoiceRequest | null} the open decision */
    this.request = null;
    /** @type {Set<number> | null} actions that the simulator rejected for the open decision */
    this.refused = null;
    /** Whether the open decision has been sent to the client. */
    this.isAsked = false;
    this.decisions = 0;
    /** @type {bigint | null} seed of the choices that are drawn here; null if the client chooses */
    this.drawSeed = null;
    this.numDraws = 0;
  }
}

/**
 * @typedef {object} BattleOptions
 * @property {string} seed 16 hex digits
 * @property {[PokemonSet[], PokemonSet[]]} teams which the battle may change
 * @property {[boolean, boolean]} lines seats that read protocol lines
 * @property {[boolean, boolean]} states seats that read the tracker's state
 * @property {[string | null, string | null]} [draws] by seat, the seed (16 hex digits) from which `draw` chooses
 * @property {boolean} log whether the result has the omniscient log
 * @property {number} deadlineSeconds wall-clock time from now
 */

/** @typedef {import("./protocol/generated/message_types.js").Rejected} Rejected */
/** @typedef {import("./protocol/generated/message_types.js").FinishedBattle} FinishedBattle */
/** @typedef {import("./protocol/generated/message_types.js").SeatView} SeatView */

/** A running battle. After one of its methods throws `BattleFailure`, it can only be destroyed. */
export class LiveBattle {
  /**
   * Set up a battle; `observe` opens its first decisions.
   * @param {number} id the client's number for it
   * @param {Format} format
   * @param {Encoder} encoder
   * @param {BattleOptions | Omit<BattleOptions, "seed" | "teams"> & {simulation: import("../simulator/package.js").Battle}} options
   * @throws {BattleFailure}
   */
  constructor(id, format, encoder, options) {
    this.id = id;
    this.format = format;
    this.encoder = encoder;
    this.wantsLog = options.log;
    this.deadline = performance.now() + options.deadlineSeconds * 1000;
    /** Lines of the simulation's log that led here, for a battle that began within another. */
    this.firstLine = 0;
    this.logPosition = 0;
    this.numOpen = 0;
    this.numRejected = 0;
    const { lines, states, draws = [null, null] } = options;
    /** @type {[Seat, Seat]} */
    this.seats = [
      new Seat(0, new Tracker(encoder.dexInfo, 0), lines[0], states[0]),
      new Seat(1, new Tracker(encoder.dexInfo, 1), lines[1], states[1]),
    ];
    for (const seat of this.seats) {
      const drawSeed = draws[seat.index];
      if (drawSeed !== null) seat.drawSeed = BigInt(`0x${drawSeed}`);
    }
    if ("simulation" in options) {
      this.simulation = options.simulation;
      return;
    }
    try {
      this.simulation = new Battle({ formatid: format.id, seed: simulatorSeed(options.seed) });
      SIDE_IDS.forEach((side, index) => {
        this.simulation.setPlayer(side, { name: PLAYER_NAMES[index], team: options.teams[index] });
      });
    } catch (error) {
      throw BattleFailure.from("simulator_error", error);
    }
  }

  /**
   * @param {number} id
   * @param {Format} format
   * @param {Encoder} encoder
   * @param {object} options as of a new battle, and what led here
   * @param {LiveBattle["simulation"]} options.simulation which waits for choices
   * @param {[Tracker, Tracker]} options.trackers that have read what led here
   * @param {[boolean, boolean]} options.lines
   * @param {[boolean, boolean]} options.states
   * @param {[string | null, string | null]} [options.draws]
   * @param {boolean} options.log
   * @param {number} options.deadlineSeconds
   * @param {[string[], string[]]} [options.seen] lines so far, for seats that read lines and have read none
   * @returns {LiveBattle} a battle whose open decisions are due
   * @throws {BattleFailure}
   */
  static within(id, format, encoder, { trackers, seen = [[], []], ...options }) {
    const battle = new LiveBattle(id, format, encoder, options);
    battle.firstLine = battle.logPosition = options.simulation.log.length;
    for (const [index, seat] of battle.seats.entries()) {
      seat.tracker = trackers[index];
      seat.lines?.push(...seen[index]);
    }
    battle.observe();
    return battle;
  }

  /**
   * @param {number} id of the fork
   * @param {LiveBattle} source whose seats read the same of the fork
   * @param {LiveBattle["simulation"]} simulation of the fork, which waits for choices
   * @param {[Tracker, Tracker]} trackers that have read what led to it
   * @param {number} deadlineSeconds
   * @returns {LiveBattle} a battle whose open decisions are due
   * @throws {BattleFailure}
   */
  static fork(id, { format, encoder, seats }, simulation, trackers, deadlineSeconds) {
    const states = /** @type {[boolean, boolean]} */ (seats.map(({ wantsState }) => wantsState));
    const lines = /** @type {[boolean, boolean]} */ (seats.map((seat) => seat.lines !== null));
    return LiveBattle.within(id, format, encoder, { simulation, trackers, lines, states, log: false, deadlineSeconds });
  }

  /** Whether the battle is over. */
  get ended() {
    return this.simulation.ended;
  }

  /**
   * Answer a seat's open decision. If it was the last open one, the simulator plays on: call `observe` and `draw`. The
   * first half of a Team Preview leaves the request open for the second.
   * @param {number} index the seat; its decision has been sent
   * @param {number} action
   * @returns {Rejected | null} why the decision stays open, if it does
   * @throws {BattleFailure}
   */
  answer(index, action) {
    const seat = this.seats[index];
    seat.isAsked = false;
    let choice = "";
    let refusal = "";
    try {
      if (this.encoder.takesHalf(seat.tracker, action)) {
        seat.decisions++;
        return null;
      }
      choice = this.encoder.choice(seat.tracker, action);
    } catch (error) {
      if (!(error instanceof RangeError)) throw BattleFailure.from("tracker_error", error);
      refusal = error.message;
    }
    if (!refusal) {
      try {
        if (!this.simulation.choose(SIDE_IDS[index], choice)) refusal = this.simulation.sides[index].choice.error;
      } catch (error) {
        throw BattleFailure.from("simulator_error", error);
      }
    }
    if (refusal) {
      this.numRejected++;
      if (choice) {
        // The simulator may reject what its request allowed (because of a trapping ability that the player could not know)
        // and then corrects the request. In case it does not, the action is no longer legal: each rejection leaves fewer.
        (seat.refused ??= new Set()).add(action);
        this.#ask(seat, this.simulation.sides[index].activeRequest);
      }
      return { type: "rejected", battle: this.id, seat: seat.index, action, choice, cause: refusal };
    }
    seat.request = null;
    seat.refused = null;
    seat.decisions++;
    this.numOpen--;
    return null;
  }

  /**
   * Write an open decision's row.
   * @param {number} index the seat
   * @param {Float32Array} observations
   * @param {number} row
   * @param {Uint16Array} legal
   * @param {number} at where the row's legal actions begin
   * @returns {number} of them
   * @throws {BattleFailure}
   */
  encode(index, observations, row, legal, at) {
    const seat = this.seats[index];
    try {
      this.encoder.encode(seat.tracker, observations, row * this.encoder.space.observation_size);
    } catch (error) {
      throw BattleFailure.from("tracker_error", error);
    }
    const numLegal = this.#legal(seat, legal, at);
    seat.isAsked = true;
    return numLegal;
  }

  /** @param {Seat} seat @param {Uint16Array} legal @param {number} at where to write its legal actions @returns {number} of them */
  #legal({ index, tracker, request, refused }, legal, at) {
    let numLegal;
    try {
      numLegal = this.encoder.legal(tracker, legal, at);
    } catch (error) {
      throw BattleFailure.from("tracker_error", error);
    }
    if (refused) {
      let to = at;
      for (let from = at; from < at + numLegal; from++) if (!refused.has(legal[from])) legal[to++] = legal[from];
      numLegal = to - at;
    }
    if (numLegal <= 0) {
      throw new BattleFailure("tracker_error", `no action is legal for seat ${index} with the request ${JSON.stringify(request)}`);
    }
    return numLegal;
  }

  /**
   * Choose for the seats whose choices are drawn here, until the client is asked or the battle is over. Call it after
   * `observe`.
   * @throws {BattleFailure}
   */
  draw() {
    const { legal } = this.encoder.scratch;
    while (!this.ended) {
      for (const seat of this.seats) {
        while (seat.drawSeed !== null && seat.request) {
          const numLegal = this.#legal(seat, legal, 0);
          const place = Math.floor(uniform(seat.drawSeed, seat.numDraws++) * numLegal);
          this.answer(seat.index, legal[Math.min(place, numLegal - 1)]);
        }
      }
      if (this.numOpen > 0) return;
      this.observe();
    }
  }

  /**
   * Open the next decisions that the client is asked for, until the battle is over.
   * @throws {BattleFailure}
   */
  advance() {
    this.observe();
    this.draw();
  }

  /**
   * @param {number} index the seat
   * @returns {SeatView | null} what a seat that reads lines or states gets with its row
   */
  view(index) {
    const seat = this.seats[index];
    if (!seat.lines && !seat.wantsState) return null;
    const lines = seat.lines ?? [];
    if (seat.lines) seat.lines = [];
    const state = seat.wantsState ? seat.tracker.state() : null;
    const request = seat.lines ? /** @type {Record<string, any> | null} */ (seat.request) : null;
    return { battle: this.id, seat: seat.index, lines, request, state };
  }

  /** @returns {FinishedBattle} the battle's entry in a `finished` message */
  result() {
    const { winner, turn, log } = this.simulation;
    const [first, second] = this.seats;
    return {
      battle: this.id,
      winner: winner ? (winner === PLAYER_NAMES[0] ? 0 : 1) : null,
      turns: turn,
      decisions: [first.decisions, second.decisions],
      rejected: this.numRejected,
      log: this.wantsLog ? omniscientLog(log.slice(this.firstLine)) : null,
    };
  }

  /** Cut the cycles between the simulator's objects, so that one scavenge can collect them. */
  destroy() {
    this.simulation?.destroy();
  }

  /**
   * Pass new lines to each seat and open the decisions that the simulator asks for: at the start, and whenever no
   * decision is open.
   * @throws {BattleFailure}
   */
  observe() {
    const { simulation, seats } = this;
    const { log, sides } = simulation;
    simulation.sentLogPos = log.length;
    simulation.sentRequests = true;
    try {
      let position = this.logPosition;
      while (position < log.length) {
        const line = log[position++];
        if (isTimestamp(line)) continue;
        if (isSplit(line)) {
          const owner = line.charCodeAt(SPLIT_DIGIT) - DIGIT_ONE;
          const shared = log[position + 1];
          show(seats[owner], log[position], parseLine(log[position]));
          if (shared) show(seats[1 - owner], shared, parseLine(shared));
          position += 2;
        } else {
          const parsed = parseLine(line);
          show(seats[0], line, parsed);
          show(seats[1], line, parsed);
        }
      }
      this.logPosition = position;
    } catch (error) {
      throw BattleFailure.from("tracker_error", error);
    }
    if (simulation.ended) return;
    for (const seat of seats) {
      const request = sides[seat.index].activeRequest;
      if (!request || request.wait) continue;
      this.numOpen++;
      this.#ask(seat, request);
    }
    if (this.numOpen === 0) throw new BattleFailure("simulator_error", "the battle goes on without a request for a choice");
  }

  /** @param {Seat} seat @param {ChoiceRequest | null} request new or corrected */
  #ask(seat, request) {
    if (!request) throw new BattleFailure("simulator_error", "the simulator rejected a choice and has no open request");
    seat.request = request;
    try {
      seat.tracker.readRequest(request);
    } catch (error) {
      throw BattleFailure.from("tracker_error", error);
    }
  }
}

/**
 * @param {Seat} seat
 * @param {string} line
 * @param {import("../tracker/lines/lines.js").ParsedLine | null} parsed the same line
 */
function show(seat, line, parsed) {
  seat.tracker.readParsed(parsed);
  seat.lines?.push(line);
}

/** @param {string[]} log @returns {string} the log of an observer who sees both sides, without wall-clock times */
function omniscientLog(log) {
  const lines = [];
  for (let i = 0; i < log.length; i++) {
    if (isTimestamp(log[i])) continue;
    if (isSplit(log[i])) {
      lines.push(log[i + 1]);
      i += 2;
    } else {
      lines.push(log[i]);
    }
  }
  return lines.join("\n");
}
