/** The gateway on TCP: each connection gets its own process, and so a fresh simulator. */
import { spawn } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { log } from "../log.js";

const EXIT_TRY_AGAIN = 75;
/** After this silence the system asks whether the client's machine still exists. */
const KEEP_ALIVE_MILLISECONDS = 60_000;
/**
 * A larger young generation: most objects die young, and V8's default of 16 MB copies too many of them first. A client
 * that starts a gateway itself should pass the same flag. Flags given to this process come later and win.
 */
const NODE_FLAGS = ["--max-semi-space-size=64"];
const ENTRY = fileURLToPath(new URL("../gateway.js", import.meta.url));

/**
 * Accept connections until SIGTERM or SIGINT; then stop the children and exit 0.
 * @param {{host: string, port: number}} address
 * @param {string[]} childArguments for each connection's gateway
 * @param {object} options
 * @param {{host: string, port: number}} [options.health] address for probes
 * @param {number} options.maxConnections
 */
export function listen({ host, port }, childArguments, { health, maxConnections }) {
  /** @type {Set<import("node:child_process").ChildProcess>} */
  const children = new Set();
  let isStopping = false;

  // Paused, so that this process reads no byte: the socket becomes the child's standard input and output.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    const client = `${socket.remoteAddress}:${socket.remotePort}`;
    if (children.size >= maxConnections) {
      log("warning", "too many clients", { client, max_connections: maxConnections });
      socket.destroy();
      return;
    }
    socket.setKeepAlive(true, KEEP_ALIVE_MILLISECONDS);
    const child = spawn(process.execPath, [...NODE_FLAGS, ...process.execArgv, ENTRY, ...childArguments], {
      stdio: [socket, socket, "inherit"],
    });
    children.add(child);
    log("info", "client connected", { client, child: child.pid });
    child.on("error", (error) => {
      children.delete(child);
      log("error", "child did not start", { client, error: error.message });
    });
    child.on("exit", (code, signal) => {
      children.delete(child);
      const isClean = code === 0 || isStopping;
      log(isClean ? "info" : "error", "client's gateway ended", { client, child: child.pid, code, signal });
      finishIfStopped();
    });
    socket.on("error", () => {}); // Reported by the child, which holds the socket.
    socket.destroy();
  });

  function finishIfStopped() {
    if (isStopping && children.size === 0) process.exit(0);
  }

  function stop() {
    if (isStopping) return;
    isStopping = true;
    server.close();
    probes?.close();
    for (const child of children) child.kill("SIGTERM");
    finishIfStopped();
  }

  const probes =
    health &&
    createHttpServer((request, response) => {
      const status = request.url !== "/healthz" ? 404 : server.listening ? 200 : 503;
      response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
      response.end(`${JSON.stringify({ listening: server.listening, connections: children.size })}\n`);
    });
  accept(server, "listening", { host, port });
  if (probes) accept(probes, "answering probes", health);
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/**
 * @param {import("node:net").Server} server
 * @param {string} event what to log once it listens
 * @param {{host: string, port: number}} address
 */
function accept(server, event, { host, port }) {
  server.on("error", (error) => {
    log("error", "cannot listen", { host, port, error: error.message });
    process.exit(EXIT_TRY_AGAIN);
  });
  // Without a host Node listens on "::", or where the system has no IPv6 on 0.0.0.0.
  server.listen(port, host === "::" ? undefined : host, () => {
    const address = server.address();
    log("info", event, { host, port: typeof address === "object" ? address?.port : port });
  });
}
