/** The decisions of one tick as one frame: docs/reference/gateway.md, "Frames". */
import { DECISIONS, HEADER_BYTES, MAX_FRAME_BYTES, writeHeader } from "./frames.js";

/** Bit 0 of a row's flags: the decision is repeated after a rejected choice. */
export const ASKED_AGAIN = 1;
/** Bytes of the payload before the battles: their count and four zero bytes. */
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

/** A decisions frame with a fixed number of rows, to be filled. Its parts are views of one buffer. */
export class DecisionBatch {
  /**
   * @param {number} observationSize floats per row
   * @param {number} numActions mask bytes per row
   * @returns {number} rows that one frame holds, by its limit
   */
  static mostRows(observationSize, numActions) {
    const rowBytes = 4 + 1 + 1 + 4 * observationSize + numActions;
    return Math.max(1, Math.floor((MAX_FRAME_BYTES - HEADER_BYTES - COUNT_BYTES - 4) / rowBytes));
  }

  /**
   * @param {FramePool} pool
   * @param {number} count rows
   * @param {number} observationSize floats per row
   * @param {number} numActions mask bytes per row
   */
  constructor(pool, count, observationSize, numActions) {
    const battlesAt = HEADER_BYTES + COUNT_BYTES;
    const seatsAt = battlesAt + 4 * count;
    const flagsAt = seatsAt + count;
    // The header's 8 bytes are a multiple of 4, so alignment in the frame is alignment in the payload.
    const observationsAt = Math.ceil((flagsAt + count) / 4) * 4;
    const masksAt = observationsAt + 4 * count * observationSize;
    const sizeBytes = masksAt + count * numActions;
    this.buffer = pool.take(sizeBytes);
    this.frame = Buffer.from(this.buffer, 0, sizeBytes);
    this.battles = new Uint32Array(this.buffer, battlesAt, count);
    this.seats = new Uint8Array(this.buffer, seatsAt, count);
    this.flags = new Uint8Array(this.buffer, flagsAt, count);
    this.observations = new Float32Array(this.buffer, observationsAt, count * observationSize);
    this.masks = new Uint8Array(this.buffer, masksAt, count * numActions);
    this.frame.fill(0, flagsAt + count, observationsAt);
    this.frame.writeUInt32LE(count, HEADER_BYTES);
    this.frame.writeUInt32LE(0, HEADER_BYTES + 4);
    writeHeader(this.frame, DECISIONS);
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
  if (payload.length !== COUNT_BYTES + 6 * count) return null;
  return {
    count,
    battle: (row) => payload.readUInt32LE(COUNT_BYTES + 4 * row),
    seat: (row) => payload[COUNT_BYTES + 4 * count + row],
    action: (row) => payload[COUNT_BYTES + 5 * count + row],
  };
}
