/** A session on a pair of byte streams: reading, back-pressure, the sweep, the end. */
import v8 from "node:v8";
import { BadFrame, FrameReader } from "./protocol/frames.js";
import { log } from "../log.js";
import { ProtocolError } from "./protocol/messages.js";
import { Session } from "./session.js";

const EXIT_DATA = 65;
const SWEEP_MILLISECONDS = 200;
/** Bytes that may wait for a client that does not read; then nothing more is read from it either. */
const MAX_UNREAD_BYTES = 8 * 2 ** 20;

/**
 * By how much the old generation may grow over what was alive in it before it is collected again, in per cent. V8's
 * own choice lets some 200 MB of finished battles gather first; this keeps the resident size flat at no cost that
 * could be measured, since little is alive.
 */
const HEAP_GROWING_PERCENT = 30;

/**
 * Serve one client until its input ends (exit 0), it breaks the protocol (exit 65) or SIGTERM comes (exit 0).
 * @param {import("node:stream").Readable} input
 * @param {import("node:stream").Writable} output
 * @param {number} maxHeapBytes
 */
export function converse(input, output, maxHeapBytes) {
  v8.setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const reader = new FrameReader();
  const session = new Session({ write: (bytes, done) => void output.write(bytes, done), maxHeapBytes });
  let isBlocked = false;
  let hasEnded = false;

  function pump() {
    try {
      while (!session.isClosed && !isBlocked) {
        const frame = reader.next();
        if (!frame) break;
        session.handle(frame);
        isBlocked = output.writableLength > MAX_UNREAD_BYTES;
      }
      // One answer to all that came together: small batches would stay small for ever, each answered by another.
      session.flush();
      isBlocked = output.writableLength > MAX_UNREAD_BYTES;
    } catch (error) {
      if (!(error instanceof ProtocolError || error instanceof BadFrame)) throw error;
      log("error", "client broke the protocol", { error: error.message });
      session.refuse(error);
    }
    if (session.isClosed) end(EXIT_DATA);
    else if (isBlocked) input.pause();
    else if (hasEnded) {
      if (reader.pendingBytes > 0) log("warning", "input ended inside a frame", { pending_bytes: reader.pendingBytes });
      end(0);
    }
  }

  /** @param {number} code exit with it once what was written is gone, or the client is */
  function end(code) {
    input.destroy();
    clearInterval(sweeper);
    output.end(() => process.exit(code));
  }

  const sweeper = setInterval(() => session.sweep(), SWEEP_MILLISECONDS);
  input.on("data", (chunk) => {
    reader.push(chunk);
    pump();
  });
  output.on("drain", () => {
    if (!isBlocked) return;
    isBlocked = false;
    input.resume();
    pump();
  });
  input.on("end", () => {
    hasEnded = true;
    pump();
  });
  input.on("error", (error) => {
    log("warning", "input failed", { error: error.message });
    process.exit(0);
  });
  // The client went without reading what it asked for: nothing is left to do for it.
  output.on("error", (error) => {
    log("warning", "output failed", { error: error.message });
    process.exit(0);
  });
  process.on("SIGTERM", () => process.exit(0));
}
