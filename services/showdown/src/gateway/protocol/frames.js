/**
 * Frames on a byte stream, little-endian: `u32` length of what follows, `u8` type, three zero bytes, payload.
 * See docs/reference/gateway.md, "Frames".
 */

export const CONTROL = 1;
export const DECISIONS = 2;
export const ACTIONS = 3;

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 8;
/** Bytes besides the payload that a frame's length includes: its type and the zero bytes after it. */
const COUNTED_HEADER_BYTES = 4;
/** Most bytes after the length field. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Bytes that are no frame: wrong length, type or padding. The rest of the stream cannot be read. */
export class BadFrame extends Error {}

/**
 * @typedef {object} Frame
 * @property {number} type
 * @property {Buffer} payload a view of the bytes read, valid until the reader's next `push`
 */

/** Cuts a byte stream into frames. The caller pulls frames, so it can stop between two frames of one chunk. */
export class FrameReader {
  /** @param {{maxFrameBytes?: number}} [limits] */
  constructor({ maxFrameBytes = MAX_FRAME_BYTES } = {}) {
    this.maxFrameBytes = maxFrameBytes;
    /** @type {Buffer[]} chunks not yet joined; the first is consumed up to `offset` */
    this.chunks = [];
    this.offset = 0;
    this.sizeBytes = 0;
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    this.chunks.push(chunk);
    this.sizeBytes += chunk.length;
  }

  /** Bytes of an incomplete frame. */
  get pendingBytes() {
    return this.sizeBytes;
  }

  /**
   * @returns {Frame | null} the next complete frame, or null if more bytes are needed
   * @throws {BadFrame}
   */
  next() {
    if (this.sizeBytes < HEADER_BYTES) return null;
    if (this.chunks[0].length - this.offset < HEADER_BYTES) this.#join();
    const head = this.chunks[0];
    const length = head.readUInt32LE(this.offset);
    // Check the length before waiting for the payload, so that a wrong one costs no memory.
    if (length < COUNTED_HEADER_BYTES || length > this.maxFrameBytes) {
      throw new BadFrame(`a frame's length is ${length}: expected ${COUNTED_HEADER_BYTES} to ${this.maxFrameBytes}`);
    }
    const type = head[this.offset + 4];
    if (type < CONTROL || type > ACTIONS) {
      throw new BadFrame(`a frame's type is ${type}: expected ${CONTROL}, ${DECISIONS} or ${ACTIONS}`);
    }
    if (head[this.offset + 5] || head[this.offset + 6] || head[this.offset + 7]) {
      throw new BadFrame("the three bytes after a frame's type are not zero");
    }
    const totalBytes = length + 4;
    if (this.sizeBytes < totalBytes) return null;
    if (this.chunks[0].length - this.offset < totalBytes) this.#join();
    const chunk = this.chunks[0];
    const end = this.offset + totalBytes;
    const payload = chunk.subarray(this.offset + HEADER_BYTES, end);
    this.sizeBytes -= totalBytes;
    if (end === chunk.length) {
      this.chunks.shift();
      this.offset = 0;
    } else {
      this.offset = end;
    }
    return { type, payload };
  }

  /** Join all chunks, once for a frame that arrived in pieces. */
  #join() {
    this.chunks = [Buffer.concat([this.chunks[0].subarray(this.offset), ...this.chunks.slice(1)], this.sizeBytes)];
    this.offset = 0;
  }
}

/**
 * Write a frame's header.
 * @param {Buffer} frame the whole frame: header and payload
 * @param {number} type
 */
export function writeHeader(frame, type) {
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.writeUInt32LE(type, 4);
}

/**
 * @param {object} message a control message with a `type`
 * @returns {Buffer} its frame
 * @throws {BadFrame} if it is too large
 */
export function controlFrame(message) {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text) + COUNTED_HEADER_BYTES;
  if (length > MAX_FRAME_BYTES) {
    throw new BadFrame(`a control message has ${length} bytes: expected at most ${MAX_FRAME_BYTES}; ask for less at once`);
  }
  const frame = Buffer.allocUnsafe(length + 4);
  frame.write(text, HEADER_BYTES);
  writeHeader(frame, CONTROL);
  return frame;
}
