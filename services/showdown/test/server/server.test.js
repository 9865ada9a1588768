import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { greets } from "../../src/greeting.js";

const SERVER = fileURLToPath(new URL("../../src/server.js", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../node_modules/pokemon-showdown", import.meta.url));

/** @returns {Promise<import("node:net").Server & {port: number}>} a server on a free port */
async function listening() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(server, { port: /** @type {import("node:net").AddressInfo} */ (server.address()).port });
}

/** Wait until no process is left: the killed are there until the system has buried them. @param {number} group */
async function gone(group) {
  for (let attempt = 0; attempt < 6000; attempt++) {
    try {
      process.kill(group, 0);
    } catch (error) {
      assert.equal(/** @type {NodeJS.ErrnoException} */ (error).code, "ESRCH");
      return;
    }
    await sleep(50);
  }
  assert.fail(`process group ${-group} is still there`);
}

/** @param {string[]} args @returns {{status: number | null, stderr: string}} */
function run(...args) {
  return spawnSync(process.execPath, [SERVER, ...args], { encoding: "utf8", timeout: 600_000 });
}

test("the stock server answers, writes only to its state folder, and exits with all its processes on SIGTERM", async () => {
  const probe = await listening();
  probe.close();
  const state = mkdtempSync(path.join(tmpdir(), "nashdex-server-test-"));
  const before = [readdirSync(PACKAGE), readdirSync(path.join(PACKAGE, "config"))];
  const launcher = spawn(process.execPath, [SERVER, "--port", String(probe.port), "--state-dir", state], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = await once(launcher.stdout, "data");
    const ready = JSON.parse(line);
    assert.deepEqual([ready.event, ready.host, ready.port], ["ready", "127.0.0.1", probe.port]);
    // SockJS says here what it offers: only the real server does.
    const info = await (await fetch(`http://127.0.0.1:${probe.port}/showdown/info`)).json();
    assert.equal(/** @type {any} */ (info).websocket, true);
    launcher.kill("SIGTERM");
    assert.deepEqual(await once(launcher, "exit"), [0, null]);
    await assert.rejects(fetch(`http://127.0.0.1:${probe.port}/`));
    await gone(-ready.pid);
    assert.ok(existsSync(path.join(state, "pokemon-showdown", "config", "config.js")));
    assert.deepEqual([readdirSync(PACKAGE), readdirSync(path.join(PACKAGE, "config"))], before);
  } finally {
    launcher.kill("SIGKILL");
    rmSync(state, { recursive: true, force: true });
  }
});

for (const [how, end] of /** @type {[string, (launcher: import("node:child_process").ChildProcess) => void][]} */ ([
  ["its launcher is killed", (launcher) => launcher.kill("SIGKILL")],
  ["the launcher's input ends", (launcher) => launcher.stdin?.end()],
])) {
  test(`no process of the stock server is left once ${how}`, async () => {
    const probe = await listening();
    probe.close();
    const state = mkdtempSync(path.join(tmpdir(), "nashdex-server-test-"));
    const args = [SERVER, "--port", String(probe.port), "--state-dir", state, "--until-input-ends"];
    const launcher = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    try {
      const [line] = await once(launcher.stdout, "data");
      end(launcher);
      await once(launcher, "exit");
      await gone(-JSON.parse(line).pid);
    } finally {
      launcher.kill("SIGKILL");
      rmSync(state, { recursive: true, force: true });
    }
  });
}

/**
 * @param {string[]} chunks what the server sends after it has taken a websocket
 * @param {boolean} closes whether it closes the websocket then
 * @returns {Promise<import("node:http").Server & {port: number}>}
 */
async function greeting(chunks, closes) {
  const server = createHttpServer();
  server.on("upgrade", async (_request, socket) => {
    socket.on("error", () => {});
    socket.resume().on("end", () => socket.destroy());
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    for (const chunk of chunks) {
      await sleep(10);
      socket.write(chunk);
    }
    if (closes) socket.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(server, { port: /** @type {import("node:net").AddressInfo} */ (server.address()).port });
}

test("a server is ready for logins once it has sent its challenge, also in parts", async () => {
  const server = await greeting(["\x81\x0d|updateuser| Guest", "\x81\x0e|chall", "str|4|ab"], false);
  assert.equal(await greets("127.0.0.1", server.port, 60_000), true);
  server.close();
});

test("a server that takes a websocket and says nothing is not ready", async () => {
  const silent = await greeting([], false);
  assert.equal(await greets("127.0.0.1", silent.port, 200), false);
  silent.close();
});

test("a server that closes, is none, or takes connections and does not answer is not ready", async () => {
  const closing = await greeting(["\x81\x0a|updateuser"], true);
  assert.equal(await greets("127.0.0.1", closing.port, 60_000), false);
  closing.close();
  const page = createHttpServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(page, "listening");
  assert.equal(await greets("127.0.0.1", /** @type {import("node:net").AddressInfo} */ (page.address()).port, 60_000), false);
  page.close();
  const mute = await listening();
  mute.on("connection", (socket) => socket.resume());
  assert.equal(await greets("127.0.0.1", mute.port, 200), false);
  mute.close();
  assert.equal(await greets("127.0.0.1", mute.port, 60_000), false);
});

test("a port that is taken is refused with exit code 75", async () => {
  const other = await listening();
  const child = spawn(process.execPath, [SERVER, "--port", String(other.port)], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  assert.deepEqual(await once(child, "exit"), [75, null]);
  assert.match(errors, /another process listens on 127.0.0.1:\d+/);
  other.close();
});

for (const [args, words] of /** @type {[string[], RegExp][]} */ ([
  [["--port", "0"], /--port is "0": expected a number from 1 to 65535/],
  [["--oops"], /Unknown option '--oops'/],
])) {
  test(`${args.join(" ")} is refused with exit code 64`, () => {
    const { status, stderr } = run(...args);
    assert.equal(status, 64);
    assert.match(stderr, words);
  });
}

test("a server that does not answer logins in time is ended with exit code 75", async () => {
  const probe = await listening();
  probe.close();
  const { status, stderr } = run("--port", String(probe.port), "--timeout", "0.01");
  assert.equal(status, 75, stderr);
  assert.match(stderr, /did not answer logins in time/);
});
