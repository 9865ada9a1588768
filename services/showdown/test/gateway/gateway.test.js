import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { controlFrame } from "../../src/gateway/protocol/frames.js";
import { PROTOCOL } from "../../src/gateway/protocol/messages.js";
import { gatewayVersion, simulatorVersion } from "../../src/simulator/package.js";
import { GATEWAY, Peer, start } from "../support/peer.js";

const FORMAT = "gen1randombattle";
const TOKEN = "a shared token";

/** @param {string[]} args @returns {{status: number | null, stdout: string, stderr: string}} */
function run(...args) {
  return spawnSync(process.execPath, [GATEWAY, ...args], { encoding: "utf8", input: "", timeout: 600_000 });
}

describe("arguments", () => {
  test("--version names gateway and simulator", () => {
    const { status, stdout } = run("--version");
    assert.deepEqual([status, stdout], [0, `nashdex-showdown ${gatewayVersion} (pokemon-showdown ${simulatorVersion})\n`]);
  });

  for (const [args, words] of /** @type {[string[], RegExp][]} */ ([
    [["--oops"], /Unknown option '--oops'/],
    [["--listen", "8000"], /--listen is "8000": expected HOST:PORT/],
    [["--listen", "localhost:99999"], /expected HOST:PORT/],
    [["--health", "localhost:1"], /--health needs --listen/],
    [["--listen", "localhost:0", "--health", "1"], /--health is "1": expected HOST:PORT/],
    [["--listen", "0.0.0.0:0"], /open to other machines: set NASHDEX_GATEWAY_TOKEN/],
    [["--max-connections", "0"], /--max-connections is "0": expected a whole number above 0/],
    [["--idle-seconds", "x"], /--idle-seconds is "x": expected a number above 0/],
    [["--max-heap-mb", "0"], /--max-heap-mb is "0": expected a number above 0/],
  ])) {
    test(`${args.join(" ")} is refused with exit code 64`, () => {
      const { status, stderr } = run(...args);
      assert.equal(status, 64);
      assert.match(stderr, words);
    });
  }
});

describe("on standard input and output", () => {
  test("it plays battles and exits when its input ends", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    const finished = await peer.play([start(1), start(2), start(3)]);
    assert.equal(finished.size, 3);
    peer.process?.stdin?.end();
    assert.deepEqual(await peer.exit, [0, null]);
    assert.equal(await peer.next(), null);
  });

  test("frames that arrive together are answered together", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    const starts = [1, 2, 3].map((battle) => controlFrame({ type: "start", battles: [start(battle)] }));
    peer.send(Buffer.concat(starts));
    assert.deepEqual((await peer.expect("decisions")).battles, [1, 1, 2, 2, 3, 3]);
    peer.process?.kill("SIGTERM");
  });

  test("SIGTERM ends it with exit code 0 while battles run", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    peer.tell({ type: "start", battles: [start(1), start(2)] });
    await peer.expect("decisions");
    peer.process?.kill("SIGTERM");
    assert.deepEqual(await peer.exit, [0, null]);
  });

  test("bytes that are no frame get an error and exit code 65", async () => {
    const peer = Peer.spawned();
    peer.send(Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const error = await peer.expect("error");
    assert.equal(error.code, "bad_frame");
    assert.match(error.message, /length is 542393671/);
    assert.equal(await peer.next(), null);
    assert.deepEqual(await peer.exit, [65, null]);
    assert.match(peer.logs, /"client broke the protocol"/);
  });

  test("an input that ends inside a frame is logged", async () => {
    const peer = Peer.spawned();
    peer.process?.stdin?.end(Buffer.from([40, 0, 0, 0, 1, 0, 0, 0, 0x7b]));
    assert.deepEqual(await peer.exit, [0, null]);
    const { event, pending_bytes: pending, level } = JSON.parse(peer.logs);
    assert.deepEqual([event, pending, level], ["input ended inside a frame", 9, "warning"]);
  });

  test("a client that leaves without reading leaves no process", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    peer.tell({ type: "start", battles: Array.from({ length: 200 }, (_, index) => start(index)) });
    peer.process?.stdout?.destroy();
    peer.process?.stdin?.destroy();
    const [code] = await peer.exit;
    assert.equal(code, 0);
  });

  test("a deadline passes while the client thinks", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    peer.tell({ type: "start", battles: [start(1, { deadline_seconds: 0.05 })] });
    await peer.expect("decisions");
    assert.equal((await peer.expect("failed")).battles[0].cause, "deadline");
    peer.process?.kill("SIGTERM");
  });

  test("recycling is asked for at the given limit", async () => {
    const peer = await Peer.spawned(["--max-heap-mb", "1"]).hello(FORMAT);
    await peer.play([start(1)]);
    assert.match((await peer.expect("recycle")).reason, /above the limit of 1 MiB/);
    assert.equal((await peer.play([start(2)])).size, 1, "battles are still played");
    peer.process?.kill("SIGTERM");
  });

  test("the gateway stops reading while the client does not read", async () => {
    const peer = await Peer.spawned().hello(FORMAT);
    const { stdin, stdout } = /** @type {import("node:child_process").ChildProcess} */ (peer.process);
    assert.ok(stdin && stdout);
    stdout.pause();
    // Cheap answers of some 300 KB to requests of 100 KB: far more than pipes and the gateway's own limit hold.
    const teams = ["x".repeat(90_000), ...Array(4000).fill("")];
    for (let request = 0; request < 80; request++) peer.tell({ type: "validate", teams });
    let left = 0;
    for (let before = -1; left !== before; await sleep(300)) [before, left] = [left, stdin.writableLength];
    assert.ok(left > 1_000_000, `${left} bytes wait, so the gateway read on`);
    stdout.resume();
    for (let request = 0; request < 80; request++) assert.equal((await peer.expect("validated")).problems.length, 4001);
    assert.equal(stdin.writableLength, 0);
    peer.process?.kill("SIGTERM");
  });
});

/**
 * Start a listening gateway.
 * @param {string} host
 * @param {string[]} limits further arguments
 * @param {any[]} logs receives its log
 * @returns {Promise<{listener: import("node:child_process").ChildProcess, port: number}>}
 */
async function listening(host, limits, logs) {
  const env = { ...process.env, NASHDEX_GATEWAY_TOKEN: TOKEN };
  const listener = spawn(process.execPath, [GATEWAY, "--listen", `${host}:0`, ...limits], { stdio: ["ignore", "inherit", "pipe"], env });
  let text = "";
  listener.stderr?.on("data", (chunk) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    logs.push(...lines.map((line) => JSON.parse(line)));
  });
  let port = 0;
  while (!(port = logs.find((entry) => entry.event === "listening")?.port)) await once(listener.stderr ?? listener, "data");
  return { listener, port };
}

describe("on TCP", () => {
  /** @type {import("node:child_process").ChildProcess} */
  let listener;
  let port = 0;
  /** @type {any[]} */
  const logs = [];

  before(async () => {
    ({ listener, port } = await listening("0.0.0.0", [], logs));
  });
  after(() => void listener.kill("SIGKILL"));

  /** @param {number} [to] @returns {Promise<{peer: Peer, socket: import("node:net").Socket}>} */
  async function connected(to = port) {
    const socket = connect(to, "127.0.0.1");
    await once(socket, "connect");
    return { peer: Peer.onStreams(socket, socket), socket };
  }

  test("each connection has its own simulator, and one that ends leaves the others running", async () => {
    const [first, second] = await Promise.all([connected(), connected()]);
    await Promise.all([first.peer.hello(FORMAT, TOKEN), second.peer.hello("gen9randombattle", TOKEN)]);
    assert.equal((await first.peer.play([start(1)])).size, 1);
    first.socket.end();
    assert.equal(await first.peer.next(), null);
    assert.equal((await second.peer.play([start(1)])).size, 1);
    second.socket.destroy();
  });

  test("a client without the token is sent away", async () => {
    for (const token of [null, "", "another token"]) {
      const { peer } = await connected();
      peer.tell({ type: "hello", protocol: PROTOCOL, format: FORMAT, token });
      assert.equal((await peer.expect("error")).code, "unauthorized");
      assert.equal(await peer.next(), null);
    }
  });

  test("silent connections end, and those beyond the limit are closed at once", async () => {
    /** @type {any[]} */
    const entries = [];
    const small = await listening("127.0.0.1", ["--max-connections", "2", "--idle-seconds", "5"], entries);
    const silent = await Promise.all([connected(small.port), connected(small.port)]);
    while (entries.filter((entry) => entry.event === "client connected").length < 2) await sleep(20);
    const { peer: beyond } = await connected(small.port);
    assert.equal(await beyond.next(), null);
    assert.ok(entries.some((entry) => entry.event === "too many clients"));
    for (const { peer } of silent) {
      const { code, message } = await peer.expect("error");
      assert.deepEqual([code, message], ["silent", "nothing came for 5 s; connect again"]);
    }
    for (const { peer } of silent) assert.equal(await peer.next(), null);
    small.listener.kill("SIGTERM");
  });

  test("probes at [::] are answered on IPv4, and on IPv6 where the machine has it", async () => {
    /** @type {any[]} */
    const entries = [];
    const probed = await listening("127.0.0.1", ["--health", "[::]:0"], entries);
    const probes = () => entries.find((entry) => entry.event === "answering probes");
    while (!probes()) await sleep(20);
    const hosts = ["127.0.0.1", ...(networkInterfaces().lo?.some(({ family }) => family === "IPv6") ? ["[::1]"] : [])];
    for (const host of hosts) assert.equal((await fetch(`http://${host}:${probes().port}/healthz`)).status, 200, host);
    probed.listener.kill("SIGTERM");
  });

  test("a client that breaks the protocol gets an error and loses only its own connection", async () => {
    const broken = await connected();
    broken.peer.tell({ type: "validate", teams: [] });
    assert.equal((await broken.peer.expect("error")).code, "protocol");
    assert.equal(await broken.peer.next(), null);
    const { peer, socket } = await connected();
    await peer.hello(FORMAT, TOKEN);
    socket.destroy();
  });

  test("a port that is taken is refused with exit code 75", () => {
    const { status, stderr } = run("--listen", `127.0.0.1:${port}`);
    assert.equal(status, 75);
    assert.match(stderr, /"cannot listen".*EADDRINUSE/);
  });

  test("SIGTERM ends the listener and its children", async () => {
    const { peer } = await connected();
    await peer.hello(FORMAT, TOKEN);
    peer.tell({ type: "start", battles: [start(1)] });
    await peer.expect("decisions");
    const children = logs.filter((entry) => entry.event === "client connected").map((entry) => entry.child);
    const exit = once(listener, "exit");
    listener.kill("SIGTERM");
    assert.deepEqual(await exit, [0, null]);
    assert.equal(await peer.next(), null);
    for (const child of children) assert.throws(() => process.kill(child, 0), /ESRCH/);
  });
});
