/** The decisions of one tick as one frame: docs/reference/gateway.md, "Frames". */
import { DECISIONS, HEADER_BYTES, MAX_FRAME_BYTES, writeHeader } from "./frames.js";

/** Bit 0 of a row's flags: the decision is repeated after a rejected choice. */
export const ASKED_AGAIN = 1;
/** Bytes of the payload before the battles: two counts. */
const COUNT_BYTES = 8;

/** Buffers of sent frames for reuse: a frame has up to several megabytes, and fresh memory costs page faults. */
export class FramePool {
  constructor() {
    /** @type {ArrayBuffer[]} */
    this.free = [];
  }

  /** @param {number} sizeBytes @returns {ArrayBuffer} of at least this size, with arbitrary content */
  take(sizeBytes) {
    const buffer = this.free.pop();
    // A quarter more than needed, so that slowly growing batches do not allocate each time. A small buffer is dropped.
    return buffer && buffer.byteLength >= sizeBytes ? buffer : new ArrayBuffer(Math.ceil(sizeBytes * 1.25));
  }

  /** @param {ArrayBuffer} buffer that nothing else refers to */
  give(buffer) {
    this.free.push(buffer);
  }
}

/**
 * A decisions frame with a fixed number of rows, to be filled in order and then closed. Its parts are views of one
 * buffer. The legal actions come last, because their number is known when all rows are filled; memory is reserved for
 * every action of every row and mostly never touched.
 */
export class DecisionBatch {
  /**
   * @param {number} observationSize floats per row
   * @param {number} numActions most legal actions of a row
   * @returns {number} rows that one frame holds, by its limit
   */
  static mostRows(observationSize, numActions) {
    const rowBytes = 4 + 4 + 1 + 1 + 4 * observationSize + 2 * numActions;
    return Math.max(1, Math.floor((MAX_FRAME_BYTES - HEADER_BYTES - COUNT_BYTES - 4) / rowBytes));
  }

  /**
   * @param {FramePool} pool
   * @param {number} count rows
   * @param {number} observationSize floats per row
   * @param {number} numActions most legal actions of a row
   */
  constructor(pool, count, observationSize, numActions) {
    const battlesAt = HEADER_BYTES + COUNT_BYTES;
    const endsAt = battlesAt + 4 * count;
    const seatsAt = endsAt + 4 * count;
    const flagsAt = seatsAt + count;
    // The header's 8 bytes are a multiple of 4, so alignment in the frame is alignment in the payload.
    const observationsAt = Math.ceil((flagsAt + count) / 4) * 4;
    this.legalAt = observationsAt + 4 * count * observationSize;
    this.buffer = pool.take(this.legalAt + 2 * count * numActions);
    this.frame = Buffer.from(this.buffer, 0, this.legalAt);
    this.battles = new Uint32Array(this.buffer, battlesAt, count);
    /** Where each row's legal actions end in `legal`. */
    this.ends = new Uint32Array(this.buffer, endsAt, count);
    this.seats = new Uint8Array(this.buffer, seatsAt, count);
    this.flags = new Uint8Array(this.buffer, flagsAt, count);
    this.observations = new Float32Array(this.buffer, observationsAt, count * observationSize);
    /** Legal actions of all rows, each row's in ascending order; the first `numLegal` count. */
    this.legal = new Uint16Array(this.buffer, this.legalAt, count * numActions);
    this.numLegal = 0;
    this.frame.fill(0, flagsAt + count, observationsAt);
    this.frame.writeUInt32LE(count, HEADER_BYTES);
  }

  /** @returns {this} with the whole frame, once every row is filled */
  close() {
    this.frame = Buffer.from(this.buffer, 0, this.legalAt + 2 * this.numLegal);
    this.frame.writeUInt32LE(this.numLegal, HEADER_BYTES + 4);
    writeHeader(this.frame, DECISIONS);
    return this;
  }
}

/**
 * Read an actions frame's payload.
 * @param {Buffer} payload
 * @returns {{count: number, battle: (row: number) => number, seat: (row: number) => number, action: (row: number) => number} | null}
 *   null if its size contradicts its count
 */
export function readActions(payload) {
  if (payload.length < COUNT_BYTES) return null;
  const count = payload.readUInt32LE(0);
  if (payload.length !== COUNT_BYTES + 7 * count) return null;
  return {
    count,
    battle: (row) => payload.readUInt32LE(COUNT_BYTES + 4 * row),
    action: (row) => payload.readUInt16LE(COUNT_BYTES + 4 * count + 2 * row),
    seat: (row) => payload[COUNT_BYTES + 6 * count + row],
  };
}
