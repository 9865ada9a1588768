/**
 * One client's conversation with the gateway: frames in, battles stepped, frames out. Knows nothing of sockets or
 * timers: its owner hands it frames, takes bytes, and calls `sweep` now and then.
 */
import v8 from "node:v8";
import { ASKED_AGAIN, DecisionBatch, FramePool, readActions } from "./protocol/batch.js";
import { BattleFailure, LiveBattle } from "./battle.js";
import { Encoder } from "../encoder/encoder.js";
import { ACTIONS, BadFrame, CONTROL, controlFrame } from "./protocol/frames.js";
import {
  BadStart,
  PROTOCOL,
  ProtocolError,
  battleNumber,
  generateFields,
  listField,
  parseControl,
  rowsField,
  startFields,
  stringsField,
} from "./protocol/messages.js";
import { UnknownFormat, gatewayVersion, simulatorVersion, singlesFormat } from "../simulator/package.js";
import { IllegalTeam, NoGenerator, TeamSource } from "../simulator/teams.js";
import { TrackedBattles } from "./tracked_battles.js";

/** @typedef {import("./battle.js").Rejection} Rejection */
/** @typedef {import("./protocol/frames.js").Frame} Frame */
/** @typedef {import("./protocol/messages.js").Fields} Fields */

/**
 * @typedef {object} Asked a battle with open decisions: one that runs here, or one tracked from elsewhere
 * @property {number} id
 * @property {(seat: number, observations: Float32Array, masks: Uint8Array, row: number) => void} encode
 * @property {(seat: number) => object | null} view
 * @property {() => void} destroy
 */

/**
 * @typedef {object} Row a decision that came due
 * @property {Asked} asked
 * @property {number} seat
 * @property {number} flags
 */

/** What a client plays in, once it said hello. */
class Table {
  /** @param {string} formatId @throws {UnknownFormat} */
  constructor(formatId) {
    this.format = singlesFormat(formatId);
    this.encoder = Encoder.forFormat(this.format.id);
    this.teams = new TeamSource(this.format);
    this.tracked = new TrackedBattles(this.encoder);
  }
}

export class Session {
  /**
   * @param {object} options
   * @param {(bytes: Buffer, done?: () => void) => void} options.write takes bytes for the client; `done` when they are gone
   * @param {number} options.maxHeapBytes heap in use after which the client is asked to reconnect
   */
  constructor({ write, maxHeapBytes }) {
    this.write = write;
    this.maxHeapBytes = maxHeapBytes;
    /** @type {Table | null} */
    this.table = null;
    /** @type {Map<number, LiveBattle>} */
    this.battles = new Map();
    /** @type {Set<number>} failed battles: answers to them may still be on their way */
    this.failedBattles = new Set();
    this.pool = new FramePool();
    this.isClosed = false;
    this.askedToRecycle = false;
    this.counts = { finished: 0, failed: 0, decisions: 0, rejected: 0 };
    /** @type {Row[]} decisions that came due since the last flush */
    this.due = [];
    /** @type {LiveBattle[]} */
    this.finished = [];
    /** @type {{battle: number, cause: string, detail: string}[]} */
    this.failed = [];
    /** @type {Rejection[]} */
    this.rejected = [];
  }

  /**
   * Handle one frame. What follows from it waits for `flush`, so that frames that came together are answered together.
   * @param {Frame} frame
   * @throws {ProtocolError} what the client got wrong; call `refuse` with it
   */
  handle({ type, payload }) {
    if (type === CONTROL) this.#control(parseControl(payload));
    else if (type === ACTIONS) this.#actions(payload);
    else throw new ProtocolError("bad_frame", `a frame of type ${type} goes to the client only`);
  }

  /** Fail battles that are past their deadline, and ask for a fresh gateway before memory runs out. */
  sweep() {
    const now = performance.now();
    for (const battle of this.battles.values()) {
      if (now > battle.deadline) this.#fail(battle, new BattleFailure("deadline", "its time was over before the battle was"));
    }
    this.flush();
    const heapBytes = v8.getHeapStatistics().used_heap_size;
    if (heapBytes > this.maxHeapBytes && this.counts.finished > 0 && !this.askedToRecycle) {
      this.askedToRecycle = true;
      const [used, limit] = [heapBytes, this.maxHeapBytes].map((bytes) => Math.round(bytes / 2 ** 20));
      this.#send({ type: "recycle", reason: `${used} MiB of heap are in use, above the limit of ${limit} MiB` });
    }
  }

  /** Tell the client what it got wrong; nothing is handled afterwards. @param {ProtocolError | BadFrame} error */
  refuse(error) {
    const code = error instanceof ProtocolError ? error.code : "bad_frame";
    this.#send({ type: "error", code, message: error.message });
    this.isClosed = true;
  }

  /** @param {Fields & {type: string}} message */
  #control(message) {
    if (message.type === "hello") return this.#hello(message);
    const table = this.table;
    if (!table) throw new ProtocolError("protocol", `${message.type} came before hello`);
    switch (message.type) {
      case "start":
        return this.#start(message, table);
      case "validate": {
        const verdicts = stringsField(message, "teams").map((team) => table.teams.validate(team));
        const problems = verdicts.map((verdict) => verdict.problems);
        return this.#send({ type: "validated", problems, packed: verdicts.map((verdict) => verdict.packed) });
      }
      case "generate":
        return this.#generate(message, table);
      case "stats":
        return this.#stats();
      case "track":
        for (const row of rowsField(message)) this.#track(row, table);
        return;
      case "choices":
        return this.#send({ type: "choices", rows: rowsField(message).map((row) => table.tracked.choice(row)) });
      case "abandon":
        for (const value of listField(message, "battles")) this.#abandon(battleNumber(value, "abandon"), table);
        return;
      default:
        throw new ProtocolError("bad_message", `unknown message type ${JSON.stringify(message.type)}`);
    }
  }

  /** @param {Fields} message */
  #hello({ protocol, format }) {
    if (this.table) throw new ProtocolError("protocol", "hello came twice");
    if (protocol !== PROTOCOL) {
      const versions = `the client speaks protocol ${JSON.stringify(protocol)}, this gateway (${gatewayVersion}) ${PROTOCOL}`;
      throw new ProtocolError("protocol", `${versions}: use versions of the same release`);
    }
    try {
      this.table = new Table(/** @type {string} */ (format));
    } catch (error) {
      if (error instanceof UnknownFormat) throw new ProtocolError("unknown_format", error.message);
      throw error;
    }
    const { encoder } = this.table;
    this.#send({
      type: "welcome",
      protocol: PROTOCOL,
      gateway: gatewayVersion,
      simulator: simulatorVersion,
      node: process.version,
      format: this.table.format.id,
      generation: this.table.teams.validator.gen,
      space: encoder.space,
    });
  }

  /** @param {Fields} message @param {Table} table */
  #start(message, table) {
    for (const entry of rowsField(message, "battles")) {
      const id = battleNumber(entry.battle, "start");
      if (this.battles.has(id) || table.tracked.has(id)) {
        throw new ProtocolError("bad_message", `start: battle ${id} runs already`);
      }
      this.failedBattles.delete(id);
      try {
        const start = startFields(entry);
        const [first, second] = start.teams.map((team, seat) =>
          team === null ? table.teams.random(start.teamSeeds[seat]) : table.teams.legal(team),
        );
        const battle = new LiveBattle(id, table.format, table.encoder, { ...start, teams: [first, second] });
        this.battles.set(id, battle);
        battle.observe();
        this.#due(battle);
      } catch (error) {
        this.#failStart(id, error);
      }
    }
  }

  /** @param {number} id @param {unknown} error */
  #failStart(id, error) {
    this.battles.delete(id);
    if (error instanceof BattleFailure) this.#report(id, error);
    else if (error instanceof IllegalTeam) this.#report(id, new BattleFailure("illegal_team", error.message));
    else if (error instanceof BadStart || error instanceof NoGenerator) {
      this.#report(id, new BattleFailure("bad_start", error.message));
    } else this.#report(id, BattleFailure.from("simulator_error", error));
  }

  /** @param {Fields} message @param {Table} table */
  #generate(message, table) {
    const { count, seed, source } = generateFields(message);
    try {
      this.#send({ type: "generated", teams: table.teams.generate(count, seed, source) });
    } catch (error) {
      if (!(error instanceof NoGenerator || error instanceof UnknownFormat)) throw error;
      throw new ProtocolError("bad_message", `generate: ${error.message}`);
    }
  }

  #stats() {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    this.#send({
      type: "stats",
      resident_bytes: rss,
      heap_bytes: heapUsed,
      cpu_seconds: (user + system) / 1e6,
      battles_running: this.battles.size,
      battles_finished: this.counts.finished,
      battles_failed: this.counts.failed,
      decisions: this.counts.decisions,
      rejected_choices: this.counts.rejected,
    });
  }

  /** @param {Fields} row @param {Table} table */
  #track(row, table) {
    const id = battleNumber(row.battle, "track");
    if (this.battles.has(id)) throw new ProtocolError("bad_message", `track: battle ${id} runs here`);
    try {
      const asked = table.tracked.read(row);
      if (asked) this.due.push({ ...asked, flags: 0 });
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#report(id, error);
    }
  }

  /** @param {number} id @param {Table} table */
  #abandon(id, table) {
    table.tracked.delete(id);
    this.failedBattles.delete(id);
    this.battles.get(id)?.destroy();
    this.battles.delete(id);
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
        this.counts.rejected++;
        this.rejected.push(rejection);
        this.due.push({ asked: battle, seat, flags: ASKED_AGAIN });
        return;
      }
      this.counts.decisions++;
      if (battle.numOpen > 0) return;
      battle.observe();
      this.#due(battle);
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#fail(battle, error);
    }
  }

  /** Take up what a battle that was stepped came to: its end, or decisions. @param {LiveBattle} battle */
  #due(battle) {
    if (battle.ended) {
      this.battles.delete(battle.id);
      this.finished.push(battle);
      this.counts.finished++;
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
    this.counts.failed++;
    this.failedBattles.add(id);
    this.failed.push({ battle: id, cause: failure.kind, detail: failure.message });
  }

  /** Send what came due: control messages first, then the decisions in one frame. */
  flush() {
    const batch = this.#batch();
    for (const rejection of this.rejected) this.#send({ type: "rejected", ...rejection });
    this.rejected = [];
    if (this.failed.length > 0) this.#send({ type: "failed", battles: this.failed });
    this.failed = [];
    if (this.finished.length > 0) {
      this.#send({ type: "finished", battles: this.finished.map((battle) => battle.result()) });
      for (const battle of this.finished) battle.destroy();
      this.finished = [];
    }
    const views = this.due.map(({ asked, seat }) => asked.view(seat)).filter((view) => view !== null);
    if (views.length > 0) this.#send({ type: "lines", rows: views });
    this.due = [];
    if (batch) this.write(batch.frame, () => this.pool.give(batch.buffer));
  }

  /** @returns {DecisionBatch | null} all rows that are due; a battle whose row cannot be written fails */
  #batch() {
    while (this.table && this.due.length > 0) {
      const { observation_size: size, num_actions: numActions } = this.table.encoder.space;
      const batch = new DecisionBatch(this.pool, this.due.length, size, numActions);
      const broken = this.due.find((row, index) => !this.#encode(batch, row, index));
      if (!broken) return batch;
      // The failed battle's rows have left `due`, so the frame is laid out anew.
      this.pool.give(batch.buffer);
    }
    return null;
  }

  /** @param {DecisionBatch} batch @param {Row} row @param {number} index @returns {boolean} */
  #encode(batch, { asked, seat, flags }, index) {
    batch.battles[index] = asked.id;
    batch.seats[index] = seat;
    batch.flags[index] = flags;
    try {
      asked.encode(seat, batch.observations, batch.masks, index);
      return true;
    } catch (error) {
      if (!(error instanceof BattleFailure)) throw error;
      this.#fail(asked, error);
      return false;
    }
  }

  /** @param {object} message */
  #send(message) {
    this.write(controlFrame(message));
  }
}
