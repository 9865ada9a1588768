#!/usr/bin/env node
/**
 * Runs the stock Showdown server of the `pokemon-showdown` package, for people and outside agents.
 *
 * The server writes beside its own code. Here it runs from a folder of links to the package, in which the few writable
 * parts are real folders, so the package may be read-only and two servers do not share logs. NODE_PRESERVE_SYMLINKS keeps
 * Node from resolving the links, which would lead the code back to the package's folder.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { greets } from "./greeting.js";
import { log } from "./log.js";

const EXIT_USAGE = 64;
const EXIT_TRY_AGAIN = 75;
const POLL_MILLISECONDS = 50;
/** How long the server's children may take to exit before they are killed. */
const STOP_MILLISECONDS = 3000;

const NODE_MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));
const PACKAGE = path.join(NODE_MODULES, "pokemon-showdown");
const ENDS_WITH_INPUT = new URL("./ends_with_input.js", import.meta.url).href;
/** Parts of the package's folder that the server writes to; the other parts are links. */
const WRITABLE = ["config", "databases", "logs"];

const USAGE = `usage: node server.js [--port N] [--host HOST] [--state-dir DIR] [--timeout SECONDS] [--until-input-ends]

Runs the stock Showdown server and prints one JSON line once it answers logins. SIGTERM ends it with exit code 0.

  --port N           port to listen on (default 8000)
  --host HOST        address to listen on (default 127.0.0.1)
  --state-dir DIR    folder for ladders and logs (default: a temporary folder, removed at the end)
  --timeout SECONDS  longest wait until the server answers logins (default 60)
  --until-input-ends end as by SIGTERM once standard input ends, so that the server does not outlive a killed parent
`;

/**
 * The server's settings that differ from its defaults: no REPL sockets, no limits for public servers (--no-security
 * removes the rest), no polling, and separate processes only for slow tasks.
 * @param {string} host
 * @param {number} port
 */
function configuration(host, port) {
  const settings = {
    port,
    bindaddress: host,
    repl: false,
    watchconfig: false,
    backdoor: false,
    loguserstats: 0,
    autolockdown: false,
    consoleips: [],
    subprocesses: {
      ...{ network: 1, simulator: 1, validator: 1 },
      ...{ verifier: 0, localartemis: 0, remoteartemis: 0, friends: 0, chatdb: 0 },
      ...{ modlog: 0, pm: 0, battlesearch: 0, datasearch: 0 },
    },
  };
  const lines = Object.entries(settings).map(([key, value]) => `exports.${key} = ${JSON.stringify(value)};\n`);
  return `"use strict";\n// Written by server.js at every start.\n${lines.join("")}`;
}

/** @param {string} target @param {string} link created unless it exists, so that a state folder can be reused */
function linkOnce(target, link) {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  }
}

/**
 * Lay out a server's folder.
 * @param {string} state
 * @param {string} host
 * @param {number} port
 * @returns {string} the folder that replaces the package's
 */
function prepare(state, host, port) {
  const home = path.join(state, "pokemon-showdown");
  for (const folder of ["config/chat-plugins", "databases", "logs/repl"]) mkdirSync(path.join(home, folder), { recursive: true });
  linkOnce(NODE_MODULES, path.join(state, "node_modules"));
  for (const name of readdirSync(PACKAGE)) {
    if (!WRITABLE.includes(name)) {
      linkOnce(path.join(PACKAGE, name), path.join(home, name));
      continue;
    }
    for (const part of readdirSync(path.join(PACKAGE, name))) {
      linkOnce(path.join(PACKAGE, name, part), path.join(home, name, part));
    }
  }
  writeFileSync(path.join(home, "config", "config.js"), configuration(host, port));
  return home;
}

/** @param {string} host @param {number} port @returns {Promise<boolean>} whether a server listens there */
function answers(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** @param {string} message @param {number} code @returns {never} */
function refuse(message, code) {
  process.stderr.write(`server: ${message}\n`);
  process.exit(code);
}

/** @param {string} text @param {string} name @param {number} most @returns {number} */
function positive(text, name, most) {
  const value = Number(text);
  return value > 0 && value <= most ? value : refuse(`--${name} is ${JSON.stringify(text)}: expected a number from 1 to ${most}`, EXIT_USAGE);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: "string", default: "8000" },
        host: { type: "string", default: "127.0.0.1" },
        "state-dir": { type: "string" },
        timeout: { type: "string", default: "60" },
        "until-input-ends": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : error}\n${USAGE}`, EXIT_USAGE);
  }
}

/** @param {{host: string, port: number, state: string, isTemporary: boolean, timeoutSeconds: number, untilInputEnds: boolean}} options */
async function serve({ host, port, state, isTemporary, timeoutSeconds, untilInputEnds }) {
  const started = performance.now();
  const home = prepare(state, host, port);
  let isStopping = false;

  // In its own process group, because the server forks and its children must exit with it. Its output goes to standard error.
  // Its input is a pipe that nobody writes to: it ends if this process is killed, and the server ends with it.
  const start = ["pokemon-showdown", "start", "--no-security", "--skip-build", String(port)];
  const child = spawn(process.execPath, ["--import", ENDS_WITH_INPUT, ...start], {
    cwd: home,
    env: { ...process.env, NODE_PRESERVE_SYMLINKS: "1", NODE_PRESERVE_SYMLINKS_MAIN: "1" },
    stdio: ["pipe", process.stderr, process.stderr],
    detached: true,
  });

  /** @param {NodeJS.Signals} signal for the server and all its children */
  function signalGroup(signal) {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
    }
  }

  function stop() {
    if (isStopping) return;
    isStopping = true;
    signalGroup("SIGTERM");
    setTimeout(() => signalGroup("SIGKILL"), STOP_MILLISECONDS).unref();
  }

  child.on("exit", (code, signal) => {
    signalGroup("SIGKILL"); // The server's children are useless without it.
    if (isTemporary) rmSync(state, { recursive: true, force: true });
    if (isStopping) process.exit(process.exitCode ?? 0);
    refuse(`the Showdown server exited unexpectedly (code ${code}, signal ${signal}); its output is above`, EXIT_TRY_AGAIN);
  });
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  if (untilInputEnds) process.stdin.on("end", stop).resume();

  const left = () => timeoutSeconds * 1000 - (performance.now() - started);
  while (!isStopping && !(await greets(host, port, left()))) {
    if (left() <= 0) {
      log("error", "the Showdown server did not answer logins in time", { host, port, timeout_seconds: timeoutSeconds });
      process.exitCode = EXIT_TRY_AGAIN;
      stop();
      return;
    }
    await sleep(POLL_MILLISECONDS);
  }
  const seconds = Number(((performance.now() - started) / 1000).toFixed(2));
  if (!isStopping) process.stdout.write(`${JSON.stringify({ event: "ready", host, port, pid: child.pid, seconds })}\n`);
}

const values = readArguments();
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const port = Math.trunc(positive(values.port, "port", 65_535));
  const timeoutSeconds = positive(values.timeout, "timeout", 3600);
  const { host, "state-dir": stateDirectory, "until-input-ends": untilInputEnds } = values;
  if (await answers(host, port)) refuse(`another process listens on ${host}:${port}: choose another --port`, EXIT_TRY_AGAIN);
  const state = stateDirectory ? path.resolve(stateDirectory) : mkdtempSync(path.join(tmpdir(), "nashdex-showdown-"));
  await serve({ host, port, state, isTemporary: !stateDirectory, timeoutSeconds, untilInputEnds });
}
