/**
 * One client's conversation with the gateway: it reads frames, steps battles and writes frames. It uses no sockets and
 * no timers: its owner passes frames in, takes bytes out and calls `sweep` at intervals.
 */
import v8 from "node:v8";
import { ASKED_AGAIN, DecisionBatch, FramePool, readActions } from "./protocol/batch.js";
import { BattleFailure, LiveBattle, startFailure } from "./battle.js";
import { ACTIONS, BadFrame, CONTROL, controlFrame } from "./protocol/frames.js";
import { ProtocolError, readMessage } from "./protocol/messages.js";
import { UnknownFormat, simulatorVersion } from "../simulator/package.js";
import { NoGenerator } from "../simulator/teams.js";
import { resume, fork } from "./forks.js";
import { Table } from "./table.js";
import { areEqual } from "./token.js";

/** @typedef {import("./protocol/generated/message_types.js").GatewayMessage} GatewayMessage */
/** @typedef {import("./protocol/generated/message_types.js").ClientMessage} ClientMessage */
/** @typedef {import("./protocol/generated/message_types.js").FailedBattle} FailedBattle */
/** @typedef {import("./protocol/generated/message_types.js").Rejected} Rejected */
/** @typedef {import("./protocol/generated/message_types.js").SeatView} SeatView */
/** @typedef {import("./protocol/frames.js").Frame} Frame */

/**
 * @typedef {object} Asked a battle with open decisions: it runs here, or it is tracked
 * @property {number} id
 * @property {(seat: number, observations: Float32Array, row: number, legal: Uint16Array, at: number) => number} encode
 * @property {(seat: number) => SeatView | null} view
 * @property {() => void} destroy
 */

/**
 * @typedef {object} Row a decision to send
 * @property {Asked} asked
 * @property {number} seat
 * @property {number} flags
 */

/** Share of V8's own limit; at the limit, the process dies. */
const FATAL_HEAP_SHARE = 0.75;

export class Session {
  /**
   * @param {object} options
   * @param {(bytes: Buffer, done?: () => void) => void} options.write takes bytes for the client; calls `done` once they are written
   * @param {number} options.maxHeapBytes heap in use above which the client is asked to reconnect
   * @param {number} [options.fatalHeapBytes] heap in use above which no battle starts: this process would soon die
   * @param {string | null} [options.token] that the client must send; null for none
   */
  constructor({ write, maxHeapBytes, fatalHeapBytes = FATAL_HEAP_SHARE * v8.getHeapStatistics().heap_size_limit, token = null }) {
    this.write = write;
    this.maxHeapBytes = maxHeapBytes;
    this.token = token;
    this.fatalHeapBytes = fatalHeapBytes;
    /** @type {Table | null} */
    this.table = null;
    /** @type {Map<number, LiveBattle>} */
    this.battles = new Map();
    /** @type {Set<number>} failed battles, for which actions may still arrive */
    this.failedBattles = new Set();
    this.pool = new FramePool();
    this.isClosed = false;
    this.askedToRecycle = false;
    this.numFinished = 0;
    /** @type {Row[]} decisions to send with the next flush */
    this.due = [];
    /** @type {LiveBattle[]} */
    this.finished = [];
    /** @type {FailedBattle[]} */
    this.failed = [];
    /** @type {Rejected[]} */
    this.rejected = [];
    /** @type {SeatView[]} states of tracked seats to send with the next flush */
    this.states = [];
  }

  /**
   * Handle one frame. Decisions and endings wait for `flush`, so that frames that arrive together are answered together.
   * @param {Frame} frame
   * @throws {ProtocolError} the client broke the protocol; call `refuse` with it
   */
  handle({ type, payload }) {
    if (type === CONTROL) this.#control(readMessage(payload));
    else if (type === ACTIONS) this.#actions(payload);
    else throw new ProtocolError("bad_frame", `a frame of type ${type} only goes to the client`);
  }

  /** Fail battles past their deadline, and ask the client to reconnect before memory runs out. */
  sweep() {
    const now = performance.now();
    for (const battle of this.battles.values()) {
      if (now > battle.deadline) this.#fail(battle, new BattleFailure("deadline", "deadline exceeded"));
    }
    this.flush();
    const heapBytes = v8.getHeapStatistics().used_heap_size;
    if (heapBytes > this.maxHeapBytes && this.numFinished > 0 && !this.askedToRecycle) {
      this.askedToRecycle = true;
      const [used, limit] = [heapBytes, this.maxHeapBytes].map((bytes) => Math.round(bytes / 2 ** 20));
      this.#send({ type: "recycle", reason: `${used} MiB of heap are in use, above the limit of ${limit} MiB` });
    }
  }

  /** Refuse a client that starts more battles than fit, before the whole process dies of it. @throws {ProtocolError} */
  #checkMemory() {
    const heapBytes = v8.getHeapStatistics().used_heap_size;
    if (heapBytes <= this.fatalHeapBytes) return;
    const [used, limit] = [heapBytes, this.fatalHeapBytes].map((bytes) => Math.round(bytes / 2 ** 20));
    const message = `${this.battles.size} battles use ${used} MiB of heap, above the limit of ${limit} MiB: run fewer at once`;
    throw new ProtocolError("overloaded", message);
  }

  /** Report what the client did wrong, and close the session. @param {ProtocolError | BadFrame} error */
  refuse(error) {
    const code = error instanceof ProtocolError ? error.code : "bad_frame";
    this.#send({ type: "error", code, message: error.message });
    this.isClosed = true;
  }

  /** @param {ClientMessage} message */
  #control(message) {
    if (message.type === "hello") return this.#hello(message.format, message.token);
    const table = this.table;
    if (!table) throw new ProtocolError("protocol", `${message.type} came before hello`);
    switch (message.type) {
      case "start":
        for (const entry of message.battles) {
          this.#start(entry, table);
          this.#checkMemory();
        }
        return;
      case "validate": {
        const verdicts = message.teams.map((team) => table.teams.validate(team));
        const problems = verdicts.map((verdict) => verdict.problems);
        return this.#send({ type: "validated", problems, packed: verdicts.map((verdict) => verdict.packed) });
      }
      case "generate":
        return this.#generate(message, table);
      case "track":
        for (const row of message.rows) this.#track(row, table);
        return;
      case "choices":
        return this.#choices(message.rows, table);
      case "search":
      case "expand":
        for (const { battle } of message.rows) this.#checkElsewhere(message.type, battle);
        return this.#send(message.type === "search" ? searched(table.searches.answer(message)) : table.searches.expand(message, this.due));
      case "sample":
        for (const { battle } of message.rows) this.#checkElsewhere(message.type, battle);
        return this.#send({ type: "sampled", rows: table.searches.sample(message) });
      case "value":
        return this.#send(searched(table.searches.solve(message.rows)));
      case "fork":
        return this.#begin(message.fork, () => fork(this.battles, message, table.searches));
      case "resume":
        if (this.battles.has(message.battle) || table.tracked.has(message.battle)) {
          throw new ProtocolError("bad_message", `resume: battle ${message.battle} runs already`);
        }
        return this.#begin(message.battle, () => resume(message, table.searches));
      case "stop":
        for (const id of message.battles) this.#stop(id);
        return;
      case "untrack":
        for (const id of message.battles) this.#untrack(id, table);
    }
  }

  /** Whether the client has said hello. */
  get isOpen() {
    return this.table !== null;
  }

  /** @param {string} formatId @param {string | null} token */
  #hello(formatId, token) {
    if (this.table) throw new ProtocolError("protocol", "hello came twice");
    if (this.token !== null && !areEqual(token ?? "", this.token)) {
      throw new ProtocolError("unauthorized", "the token is missing or wrong: set the gateway's NASHDEX_GATEWAY_TOKEN for the client");
    }
    try {
      this.table = new Table(formatId);
    } catch (error) {
      if (error instanceof UnknownFormat) throw new ProtocolError("unknown_format", error.message);
      throw error;
    }
    this.#send({ type: "welcome", simulator: simulatorVersion, space: this.table.encoder.space });
  }

  /** @param {import("./protocol/generated/message_types.js").BattleStart} entry @param {Table} table */
  #start({ battle: id, seed, teams, team_seeds: teamSeeds, lines, states, draws, log, deadline_seconds: deadlineSeconds }, table) {
    if (this.battles.has(id) || table.tracked.has(id)) {
      throw new ProtocolError("bad_message", `start: battle ${id} runs already`);
    }
    this.failedBattles.delete(id);
    try {
      const [first, second] = teams.map((team, seat) =>
        team === null ? table.teams.random(teamSeeds[seat]) : table.teams.legal(team),
      );
      const options = { seed, teams: /** @type {[any, any]} */ ([first, second]), lines, states, draws, log, deadlineSeconds };
      const battle = new LiveBattle(id, table.format, table.encoder, options);
      this.battles.set(id, battle);
      battle.advance();
      this.#collect(battle);
    } catch (error) {
      this.#failStart(id, error);
    }
  }

  /** @param {number} id @param {unknown} error */
  #failStart(id, error) {
    this.battles.delete(id);
    this.#report(id, startFailure(error));
  }

  /** @param {import("./protocol/generated/message_types.js").Generate} message @param {Table} table */
  #generate({ count, seed, source }, table) {
    try {
      this.#send({ type: "generated", teams: table.teams.generate(count, seed, source ?? undefined) });
    } catch (error) {
      if (!(error instanceof NoGenerator || error instanceof UnknownFormat)) throw error;
      throw new ProtocolError("bad_message", `generate: ${error.message}`);
    }
  }

  /** @param {string} type of the message @param {number} id @throws {ProtocolError} the battle runs here */
  #checkElsewhere(type, id) {
    if (this.battles.has(id)) throw new ProtocolError("bad_message", `${type}: battle ${id} runs here`);
  }

  /** @param {import("./protocol/generated/message_types.js").TrackedSeat} row @param {Table} table */
  #track(row, table) {
    this.#checkElsewhere("track", row.battle);
    try {
      const asked = table.tracked.read(row);
      if (asked) this.due.push({ ...asked, flags: 0 });
      const state = table.tracked.state(row);
      if (state) this.states.push(state);
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#report(row.battle, error);
    }
  }

  /** @param {number} id @param {() => LiveBattle} begin gives a battle whose decisions are due */
  #begin(id, begin) {
    this.failedBattles.delete(id);
    try {
      const battle = begin();
      this.battles.set(id, battle);
      battle.draw();
      this.#collect(battle);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      this.#failStart(id, error);
    }
    this.#checkMemory();
  }

  /** @param {number} id of a battle to forget, if it runs */
  #stop(id) {
    const battle = this.battles.get(id);
    if (!this.battles.delete(id) || !battle) return;
    battle.destroy();
    this.due = this.due.filter(({ asked }) => asked !== battle);
  }

  /** @param {import("./protocol/generated/message_types.js").TrackedAction[]} rows @param {Table} table */
  #choices(rows, table) {
    const chosen = rows.map((row) => table.tracked.choice(row));
    this.#send({ type: "chosen", rows: chosen });
    for (const { battle, seat, choice, cause } of chosen) {
      const asked = choice === null && cause === null ? table.tracked.battles.get(battle) : undefined;
      if (asked) this.due.push({ asked, seat, flags: 0 });
    }
  }

  /** @param {number} id @param {Table} table */
  #untrack(id, table) {
    table.tracked.delete(id);
    this.failedBattles.delete(id);
    this.due = this.due.filter(({ asked }) => asked.id !== id);
  }

  /** @param {Buffer} payload of an actions frame */
  #actions(payload) {
    if (!this.table) throw new ProtocolError("protocol", "actions came before hello");
    const rows = readActions(payload);
    if (!rows) throw new ProtocolError("bad_frame", `an actions frame of ${payload.length} bytes does not hold its count of rows`);
    for (let row = 0; row < rows.count; row++) this.#act(rows.battle(row), rows.seat(row), rows.action(row));
  }

  /** @param {number} id @param {number} seat @param {number} action */
  #act(id, seat, action) {
    const battle = this.battles.get(id);
    if (!battle) {
      if (this.failedBattles.has(id)) return;
      throw new ProtocolError("bad_message", `an action for battle ${id}, which does not run`);
    }
    if (!battle.seats[seat]?.isAsked) {
      throw new ProtocolError("bad_message", `an action for seat ${seat} of battle ${id}, which has nothing to choose`);
    }
    try {
      const rejection = battle.answer(seat, action);
      if (rejection) {
        this.rejected.push(rejection);
        this.due.push({ asked: battle, seat, flags: ASKED_AGAIN });
        return;
      }
      if (battle.seats[seat].request) {
        // The first half of a Team Preview: the same request asks for the second.
        this.due.push({ asked: battle, seat, flags: 0 });
        return;
      }
      if (battle.numOpen > 0) return;
      battle.advance();
      this.#collect(battle);
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#fail(battle, error);
    }
  }

  /** Queue the end or the decisions of a battle that has just been stepped. @param {LiveBattle} battle */
  #collect(battle) {
    if (battle.ended) {
      this.battles.delete(battle.id);
      this.finished.push(battle);
      this.numFinished++;
      return;
    }
    for (const seat of battle.seats) if (seat.request) this.due.push({ asked: battle, seat: seat.index, flags: 0 });
  }

  /** @param {Asked} asked @param {BattleFailure} failure */
  #fail(asked, failure) {
    this.battles.delete(asked.id);
    this.table?.tracked.delete(asked.id);
    asked.destroy();
    this.due = this.due.filter((row) => row.asked !== asked);
    this.rejected = this.rejected.filter((rejection) => rejection.battle !== asked.id);
    this.#report(asked.id, failure);
  }

  /** @param {number} id @param {BattleFailure} failure */
  #report(id, failure) {
    this.failedBattles.add(id);
    this.failed.push({ battle: id, cause: failure.kind, detail: failure.message });
  }

  /** Send what is queued: control messages first, then all decisions in one frame, or several if one cannot hold them. */
  flush() {
    const batches = this.#batches();
    for (const rejection of this.rejected) this.#send(rejection);
    this.rejected = [];
    if (this.failed.length > 0) this.#send({ type: "failed", battles: this.failed });
    this.failed = [];
    if (this.finished.length > 0) {
      this.#send({ type: "finished", battles: this.finished.map((battle) => battle.result()), cpu_seconds: cpuSeconds() });
      for (const battle of this.finished) battle.destroy();
      this.finished = [];
    }
    const views = this.states.concat(this.due.map(({ asked, seat }) => asked.view(seat)).filter((view) => view !== null));
    this.states = [];
    if (views.length > 0) this.#send({ type: "lines", rows: views });
    this.due = [];
    for (const batch of batches) this.write(batch.frame, () => this.pool.give(batch.buffer));
  }

  /** @returns {DecisionBatch[]} all queued rows, in as few frames as hold them; a battle whose row cannot be written fails */
  #batches() {
    if (!this.table) return [];
    const { observation_size: size, num_actions: numActions } = this.table.encoder.space;
    const mostRows = DecisionBatch.mostRows(size, numActions);
    /** @type {DecisionBatch[]} */
    const batches = [];
    for (let from = 0; from < this.due.length; from += mostRows) {
      const rows = this.due.slice(from, from + mostRows);
      const batch = new DecisionBatch(this.pool, rows.length, size, numActions);
      batches.push(batch);
      if (rows.every((row, index) => this.#encode(batch, row, index))) {
        batch.close();
        continue;
      }
      // The failed battle's rows have left `due`: lay out smaller frames.
      for (const { buffer } of batches) this.pool.give(buffer);
      batches.length = 0;
      from = -mostRows;
    }
    return batches;
  }

  /** @param {DecisionBatch} batch @param {Row} row @param {number} index @returns {boolean} */
  #encode(batch, { asked, seat, flags }, index) {
    batch.battles[index] = asked.id;
    batch.seats[index] = seat;
    batch.flags[index] = flags;
    try {
      batch.numLegal += asked.encode(seat, batch.observations, index, batch.legal, batch.numLegal);
      batch.ends[index] = batch.numLegal;
      return true;
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#fail(asked, error);
      return false;
    }
  }

  /** @param {GatewayMessage} message */
  #send(message) {
    this.write(controlFrame(message));
  }
}

/** @param {import("./protocol/generated/message_types.js").Searched["rows"]} rows @returns {GatewayMessage} */
function searched(rows) {
  return { type: "searched", rows, cpu_seconds: cpuSeconds() };
}

/** @returns {number} CPU time of this process so far, user and system */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
