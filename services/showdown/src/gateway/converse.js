/** Runs a session on a pair of byte streams: reading, back-pressure, periodic sweeps, the end. */
import v8 from "node:v8";
import { BadFrame, FrameReader } from "./protocol/frames.js";
import { log } from "../log.js";
import { ProtocolError } from "./protocol/messages.js";
import { Session } from "./session.js";

const EXIT_DATA = 65;
const SWEEP_MILLISECONDS = 200;
/** A client of a listening gateway says hello within this time, because it is a process that waits for it. */
const HELLO_SECONDS = 10;
/** Bytes waiting for a slow client above which the gateway stops reading from it. */
const MAX_UNREAD_BYTES = 8 * 2 ** 20;

/**
 * Growth of the old generation over its live size before V8 collects it again, in per cent. By default, V8 lets about
 * 200 MB of finished battles accumulate. This keeps the resident size flat at no measurable cost, since little is alive.
 */
const HEAP_GROWING_PERCENT = 30;

/**
 * Serve one client until its input ends (exit 0), it breaks the protocol (exit 65) or SIGTERM arrives (exit 0).
 * @param {import("node:stream").Readable} input
 * @param {import("node:stream").Writable} output
 * @param {object} options
 * @param {number} options.maxHeapBytes
 * @param {number} options.idleSeconds silence of a client after which it is sent away; a finite limit also asks for a quick hello
 * @param {string | null} options.token that the client must send; null for none
 */
export function converse(input, output, { maxHeapBytes, idleSeconds, token }) {
  v8.setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const reader = new FrameReader();
  const session = new Session({ write: (bytes, done) => void output.write(bytes, done), maxHeapBytes, token });
  let heardAt = performance.now();
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
      // One answer to everything that arrived together: otherwise small batches would stay small forever.
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

  /** @param {number} code exit code, once the output is flushed or the client is gone */
  function end(code) {
    input.destroy();
    clearInterval(sweeper);
    output.end(() => process.exit(code));
  }

  function sweep() {
    const silentSeconds = (performance.now() - heardAt) / 1000;
    const limitSeconds = session.isOpen ? idleSeconds : Math.min(idleSeconds, HELLO_SECONDS);
    if (!isBlocked && idleSeconds < Infinity && silentSeconds > limitSeconds) {
      log("warning", "client is silent", { seconds: Math.round(silentSeconds), has_said_hello: session.isOpen });
      session.refuse(new ProtocolError("silent", `nothing came for ${Math.round(limitSeconds)} s; connect again`));
    } else session.sweep();
    if (session.isClosed) end(EXIT_DATA);
  }

  const sweeper = setInterval(sweep, SWEEP_MILLISECONDS);
  input.on("data", (chunk) => {
    reader.push(chunk);
    pump();
    heardAt = performance.now(); // The client waits for this process while it works.
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
  // The client left without reading the rest: nothing is left to do.
  output.on("error", (error) => {
    log("warning", "output failed", { error: error.message });
    process.exit(0);
  });
  process.on("SIGTERM", () => process.exit(0));
}
