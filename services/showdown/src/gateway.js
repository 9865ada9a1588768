#!/usr/bin/env node
/** Entry point of the battle gateway: on standard input and output, or with a child process per TCP connection. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import v8 from "node:v8";
import { listen } from "./gateway/listen.js";
import { log } from "./log.js";

const EXIT_USAGE = 64;
const EXIT_INTERNAL = 70;
const MEBIBYTE = 2 ** 20;
/**
 * Heap in use above which the gateway asks to be replaced. 64 battles use 60 to 150 MiB however long they run; much
 * more is a leak. The limit is well below V8's own, which is lower on machines with little memory.
 */
const DEFAULT_MAX_HEAP_MB = Math.floor(Math.min(1024, (0.6 * v8.getHeapStatistics().heap_size_limit) / MEBIBYTE));

const DEFAULT_MAX_CONNECTIONS = 64;
const DEFAULT_IDLE_SECONDS = 900;
/** Clients of a gateway that listens beyond this machine must know it. From the environment: arguments are public. */
const TOKEN = process.env.NASHDEX_GATEWAY_TOKEN || null;

const USAGE = `usage: node gateway.js [--listen HOST:PORT [--health HOST:PORT] [--max-connections N] [--idle-seconds S]]
                       [--max-heap-mb N] [--no-acceleration] [--version]

Plays Pokémon Showdown battles for one client on standard input and output, or for each TCP connection in its own
process. The protocol: docs/reference/gateway.md. Logs are JSON lines on standard error.

  --listen HOST:PORT  accept TCP connections; port 0 takes a free port, which the log names
  --health HOST:PORT  answer GET /healthz with 200 while connections are accepted; for probes, because every
                      connection to the gateway's own port starts a simulator
  --max-connections N close connections beyond N (default ${DEFAULT_MAX_CONNECTIONS}): each is a process
  --idle-seconds S    close a connection that is silent for S seconds (default ${DEFAULT_IDLE_SECONDS}), or sends no hello for 10
  --max-heap-mb N     ask the client to reconnect once more MiB of heap are in use (default here: ${DEFAULT_MAX_HEAP_MB})
  --no-acceleration   run the simulator as published
  --version           print the versions of gateway and simulator

NASHDEX_GATEWAY_TOKEN is a token that clients must send. A gateway that listens on other than this machine's addresses
needs one.
`;

/** @param {string} message @returns {never} */
function refuse(message) {
  process.stderr.write(`gateway: ${message}\n${USAGE}`);
  process.exit(EXIT_USAGE);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        listen: { type: "string" },
        health: { type: "string" },
        "max-connections": { type: "string", default: String(DEFAULT_MAX_CONNECTIONS) },
        "idle-seconds": { type: "string" },
        "max-heap-mb": { type: "string", default: String(DEFAULT_MAX_HEAP_MB) },
        "no-acceleration": { type: "boolean", default: false },
        version: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} text @param {string} option its name @returns {{host: string, port: number}} */
function parseAddress(text, option) {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  if (!match || Number(match[3]) > 65535) refuse(`${option} is ${JSON.stringify(text)}: expected HOST:PORT, such as 127.0.0.1:7400`);
  return { host: match[1] ?? match[2], port: Number(match[3]) };
}

/** @param {string} host @returns {boolean} whether only this machine reaches it */
function isLoopback(host) {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** @param {string} path of a package.json, from this folder @returns {string} */
function packageVersion(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version;
}

const values = readArguments();
const maxHeapMb = Number(values["max-heap-mb"]);
if (values.health !== undefined && values.listen === undefined) refuse("--health needs --listen");
const maxConnections = Number(values["max-connections"]);
if (!(Number.isInteger(maxConnections) && maxConnections > 0)) {
  refuse(`--max-connections is ${JSON.stringify(values["max-connections"])}: expected a whole number above 0`);
}
/** A client on standard input may be idle for ever, because it started this process. */
const idleSeconds = values["idle-seconds"] === undefined ? Infinity : Number(values["idle-seconds"]);
if (!(idleSeconds > 0)) refuse(`--idle-seconds is ${JSON.stringify(values["idle-seconds"])}: expected a number above 0`);
if (!(maxHeapMb > 0)) refuse(`--max-heap-mb is ${JSON.stringify(values["max-heap-mb"])}: expected a number above 0`);

process.on("uncaughtException", (error) => {
  log("error", "uncaught exception", { error: error.stack ?? String(error) });
  process.exit(EXIT_INTERNAL);
});

if (values.help) {
  process.stdout.write(USAGE);
} else if (values.version) {
  const simulator = packageVersion("../node_modules/pokemon-showdown/package.json");
  process.stdout.write(`nashdex-showdown ${packageVersion("../package.json")} (pokemon-showdown ${simulator})\n`);
} else if (values.listen !== undefined) {
  const childArguments = ["--max-heap-mb", String(maxHeapMb), ...(values["no-acceleration"] ? ["--no-acceleration"] : [])];
  childArguments.push("--idle-seconds", values["idle-seconds"] ?? String(DEFAULT_IDLE_SECONDS));
  const address = parseAddress(values.listen, "--listen");
  if (TOKEN === null && !isLoopback(address.host)) {
    refuse(`--listen ${values.listen} is open to other machines: set NASHDEX_GATEWAY_TOKEN here and for clients, or listen on 127.0.0.1`);
  }
  const health = values.health === undefined ? undefined : parseAddress(values.health, "--health");
  listen(address, childArguments, { health, maxConnections });
} else {
  if (!values["no-acceleration"]) (await import("./simulator/accelerate/accelerate.js")).accelerate();
  const { converse } = await import("./gateway/converse.js");
  converse(process.stdin, process.stdout, { maxHeapBytes: maxHeapMb * MEBIBYTE, idleSeconds, token: TOKEN });
}
