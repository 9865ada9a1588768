/** A small client of the gateway for tests: on a process's streams, a socket, or a session in this process. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ACTIONS, BadFrame, CONTROL, DECISIONS, FrameReader, controlFrame, writeHeader } from "../../src/gateway/protocol/frames.js";
import { PROTOCOL, ProtocolError } from "../../src/gateway/protocol/messages.js";
import { Session } from "../../src/gateway/session.js";

export const GATEWAY = fileURLToPath(new URL("../../src/gateway.js", import.meta.url));
const PATIENCE_MILLISECONDS = 600_000;

/**
 * @typedef {object} Decisions
 * @property {number[]} battles
 * @property {number[]} seats
 * @property {number[]} flags
 * @property {Float32Array[]} observations
 * @property {number[][]} legal legal actions by row, ascending
 * @property {Uint8Array[]} masks the same, 1 where an action is legal
 */

const TYPES = { control: CONTROL, decisions: DECISIONS, actions: ACTIONS };

/** @param {keyof typeof TYPES} type @param {Buffer} payload @returns {Buffer} */
export function frame(type, payload) {
  const bytes = Buffer.concat([Buffer.alloc(8), payload]);
  writeHeader(bytes, TYPES[type]);
  return bytes;
}

/** @param {{battle: number, seat: number, action: number}[]} rows @returns {Buffer} */
export function actionsFrame(rows) {
  const payload = Buffer.alloc(8 + 7 * rows.length);
  payload.writeUInt32LE(rows.length, 0);
  rows.forEach(({ battle, seat, action }, row) => {
    payload.writeUInt32LE(battle, 8 + 4 * row);
    payload.writeUInt16LE(action, 8 + 4 * rows.length + 2 * row);
    payload[8 + 6 * rows.length + row] = seat;
  });
  return frame("actions", payload);
}

/** A start message's entry. @param {number} battle @param {object} [fields] @returns {any} */
export function start(battle, fields = {}) {
  const seed = (/** @type {number} */ salt) => (battle * 1_000_003 + salt).toString(16).padStart(16, "0");
  return {
    battle,
    seed: seed(1),
    teams: [null, null],
    team_seeds: [seed(2), seed(3)],
    lines: [false, false],
    states: [false, false],
    draws: [null, null],
    log: false,
    deadline_seconds: 60,
    ...fields,
  };
}

/** A generator of draws for choices (Lehmer's). @param {number} seed @returns {(limit: number) => number} */
export function draws(seed) {
  let state = (seed * 48_271 + 1) % 2_147_483_647;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

/** @param {ArrayLike<number>} actions @param {number} numActions @returns {Uint8Array} 1 where an action is among them */
export function maskOf(actions, numActions) {
  const mask = new Uint8Array(numActions);
  for (const action of Array.from(actions)) mask[action] = 1;
  return mask;
}

/** @param {Uint8Array} mask @param {(limit: number) => number} draw @returns {number} a legal action */
export function randomAction(mask, draw) {
  const legal = [...mask.keys()].filter((action) => mask[action] === 1);
  return legal[draw(legal.length)];
}

/** The client's end of a conversation. */
export class Peer {
  constructor() {
    this.reader = new FrameReader();
    /** @type {any[]} received messages and decisions that no test has taken */
    this.received = [];
    this.isEnded = false;
    /** @type {(() => void) | null} */
    this.wake = null;
    /** @type {any} */
    this.welcome = null;
    /** @type {import("node:child_process").ChildProcess | null} */
    this.process = null;
    this.logs = "";
    /** @type {Promise<[number | null, string | null]>} the process's code and signal */
    this.exit = Promise.resolve([null, null]);
    /** @type {(bytes: Buffer) => void} */
    this.send = () => {};
    /** @type {Session | null} */
    this.session = null;
  }

  /** A session in this process. @param {{maxHeapBytes?: number, fatalHeapBytes?: number}} [options] */
  static inProcess({ maxHeapBytes = 2 ** 40, fatalHeapBytes = 2 ** 40 } = {}) {
    const peer = new Peer();
    const session = new Session({
      write: (bytes, done) => {
        peer.take(Buffer.from(bytes));
        done?.();
      },
      maxHeapBytes,
      fatalHeapBytes,
    });
    const requests = new FrameReader();
    peer.session = session;
    peer.send = (bytes) => {
      requests.push(bytes);
      try {
        for (let next = requests.next(); next; next = requests.next()) session.handle(next);
        session.flush();
      } catch (error) {
        if (!(error instanceof ProtocolError || error instanceof BadFrame)) throw error;
        session.refuse(error);
        peer.end();
      }
    };
    return peer;
  }

  /** A gateway on standard input and output. @param {string[]} [args] @param {string} [entry] */
  static spawned(args = [], entry = GATEWAY) {
    const child = spawn(process.execPath, [entry, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    const peer = Peer.onStreams(child.stdout, child.stdin);
    peer.process = child;
    peer.exit = /** @type {any} */ (once(child, "exit"));
    child.stderr.on("data", (chunk) => (peer.logs += chunk));
    return peer;
  }

  /** @param {import("node:stream").Readable} input @param {import("node:stream").Writable} output */
  static onStreams(input, output) {
    const peer = new Peer();
    input.on("data", (chunk) => peer.take(chunk));
    input.on("end", () => peer.end());
    input.on("error", () => peer.end());
    output.on("error", () => {});
    peer.send = (bytes) => void output.write(bytes);
    return peer;
  }

  /** @param {Buffer} bytes */
  take(bytes) {
    this.reader.push(bytes);
    for (let next = this.reader.next(); next; next = this.reader.next()) {
      this.received.push(next.type === CONTROL ? JSON.parse(next.payload.toString()) : this.#decode(next.payload));
    }
    this.wake?.();
  }

  end() {
    this.isEnded = true;
    this.wake?.();
  }

  /** @param {Buffer} payload @returns {Decisions & {type: "decisions"}} */
  #decode(payload) {
    const { observation_size: size, num_actions: numActions } = this.welcome.space;
    const count = payload.readUInt32LE(0);
    const numLegal = payload.readUInt32LE(4);
    const endsAt = 8 + 4 * count;
    const flagsAt = 8 + 9 * count;
    const observationsAt = Math.ceil((flagsAt + count) / 4) * 4;
    assert.ok(payload.subarray(flagsAt + count, observationsAt).every((byte) => byte === 0));
    const legalAt = observationsAt + 4 * size * count;
    assert.equal(payload.length, legalAt + 2 * numLegal);
    const rows = [...Array(count).keys()];
    const ends = [0, ...rows.map((row) => payload.readUInt32LE(endsAt + 4 * row))];
    assert.equal(ends[count], numLegal);
    const legal = rows.map((row) => Array.from({ length: ends[row + 1] - ends[row] }, (_, at) => payload.readUInt16LE(legalAt + 2 * (ends[row] + at))));
    for (const actions of legal) assert.ok(actions.every((action, at) => action < numActions && !(action <= actions[at - 1])), `${actions}`);
    return {
      type: "decisions",
      battles: rows.map((row) => payload.readUInt32LE(8 + 4 * row)),
      seats: rows.map((row) => payload[8 + 8 * count + row]),
      flags: rows.map((row) => payload[flagsAt + row]),
      observations: rows.map((row) => {
        const bytes = Uint8Array.prototype.slice.call(payload, observationsAt + 4 * size * row, observationsAt + 4 * size * (row + 1));
        return new Float32Array(bytes.buffer);
      }),
      legal,
      masks: legal.map((actions) => maskOf(actions, numActions)),
    };
  }

  /** @returns {Promise<any>} the next message or decisions; null at the end */
  async next() {
    // A session in this process answers before `send` returns.
    const patience = this.session ? 0 : PATIENCE_MILLISECONDS;
    const deadline = performance.now() + patience;
    while (this.received.length === 0 && !this.isEnded) {
      assert.ok(performance.now() < deadline, `nothing arrived in ${patience} ms; logs: ${this.logs}`);
      await new Promise((resolve) => {
        this.wake = () => resolve(undefined);
        setTimeout(resolve, 500);
      });
    }
    return this.received.shift() ?? null;
  }

  /** @param {string} type @returns {Promise<any>} the next message, which must be of this type */
  async expect(type) {
    const message = await this.next();
    assert.equal(message?.type, type, JSON.stringify(message)?.slice(0, 500));
    return message;
  }

  /** @param {object} message */
  tell(message) {
    this.send(controlFrame(message));
  }

  /** @param {string} format @param {string | null} [token] @returns {Promise<this>} */
  async hello(format, token = null) {
    this.tell({ type: "hello", protocol: PROTOCOL, format, token });
    this.welcome = await this.expect("welcome");
    return this;
  }

  /** @param {{battle: number, seat: number, action: number}[]} rows */
  act(rows) {
    this.send(actionsFrame(rows));
  }

  /**
   * Play battles of random legal actions to their end. A battle's actions depend on its number and seat alone.
   * @param {object[]} starts
   * @param {(message: any) => void} [watch] sees every message and batch of decisions
   * @returns {Promise<Map<number, any>>} entry of `finished` by battle
   */
  async play(starts, watch = () => {}) {
    const draw = new Map();
    const finished = new Map();
    this.tell({ type: "start", battles: starts });
    while (finished.size < starts.length) {
      const message = await this.next();
      assert.ok(message, `the gateway ended; logs: ${this.logs}`);
      watch(message);
      if (message.type === "finished") for (const entry of message.battles) finished.set(entry.battle, entry);
      assert.notEqual(message.type, "failed", JSON.stringify(message));
      assert.notEqual(message.type, "error", JSON.stringify(message));
      if (message.type !== "decisions") continue;
      const rows = message.battles.map((/** @type {number} */ battle, /** @type {number} */ row) => {
        const seat = message.seats[row];
        const key = 2 * battle + seat;
        if (!draw.has(key)) draw.set(key, draws(key));
        return { battle, seat, action: randomAction(message.masks[row], draw.get(key)) };
      });
      this.act(rows);
    }
    return finished;
  }
}
