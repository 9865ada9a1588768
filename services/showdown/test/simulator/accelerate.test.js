/** Only a known simulator is accelerated; any other runs as published, with a warning. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Peer, start } from "../support/peer.js";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const FORMAT = "gen1randombattle";
/** @type {string} */
let folder;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), "nashdex-accelerate-"));
});
after(() => rmSync(folder, { recursive: true }));

/**
 * This package with its own copy of the simulator's code; everything else is linked.
 * @param {string} name
 * @param {(simulator: string) => void} change edits files in the simulator's folder
 * @returns {string} the package's folder
 */
function installed(name, change) {
  const root = path.join(folder, name);
  const simulator = path.join(root, "node_modules", "pokemon-showdown");
  mkdirSync(path.join(simulator, "dist"), { recursive: true });
  for (const part of ["src", "bench"]) cpSync(path.join(HERE, part), path.join(root, part), { recursive: true });
  cpSync(path.join(HERE, "package.json"), path.join(root, "package.json"));
  const original = path.join(HERE, "node_modules", "pokemon-showdown");
  cpSync(path.join(original, "package.json"), path.join(simulator, "package.json"));
  for (const part of readdirSync(path.join(original, "dist"))) {
    if (part === "sim") cpSync(path.join(original, "dist", part), path.join(simulator, "dist", part), { recursive: true });
    else symlinkSync(path.join(original, "dist", part), path.join(simulator, "dist", part));
  }
  for (const module of readdirSync(path.join(HERE, "node_modules"))) {
    if (module !== "pokemon-showdown") symlinkSync(path.join(HERE, "node_modules", module), path.join(root, "node_modules", module));
  }
  change(simulator);
  return root;
}

/** @param {string} file @param {string} from @param {string} to */
function replace(file, from, to) {
  const text = readFileSync(file, "utf8");
  assert.ok(text.includes(from), `${file} has ${from}`);
  writeFileSync(file, text.replace(from, to));
}

/** @type {[string, (simulator: string) => void, string][]} */
const UNKNOWN = [
  ["another version", (simulator) => replace(path.join(simulator, "package.json"), '"version": "0.11.11"', '"version": "0.11.12"'), "0.11.12"],
  [
    "a method that was changed",
    (simulator) => replace(path.join(simulator, "dist", "sim", "battle.js"), "runEvent(eventid, target,", "runEvent(eventid, target /* */,"),
    "0.11.11",
  ],
];
for (const [name, change, version] of UNKNOWN) {
  test(`${name}: battles run on the published simulator, and a warning says so`, async () => {
    const root = installed(name.replaceAll(" ", "-"), change);
    const peer = await Peer.spawned([], path.join(root, "src", "gateway.js")).hello(FORMAT);
    assert.equal(peer.welcome.simulator, version);
    assert.equal((await peer.play([start(1), start(2)])).size, 2);
    peer.process?.stdin?.end();
    assert.deepEqual(await peer.exit, [0, null]);
    const [warning, ...others] = peer.logs.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(others, []);
    assert.equal(warning.level, "warning");
    assert.match(warning.event, /not accelerated/);
    assert.equal(warning.simulator, version);

    for (const args of [["raw.js", "--format", FORMAT, "--accelerated"], ["conformance/conformance.js", "--battles", "1"]]) {
      const { status, stderr } = spawnSync(process.execPath, [path.join(root, "bench", args[0]), ...args.slice(1)], { encoding: "utf8", timeout: 60_000 });
      assert.ok(status === 64 || status === 65, stderr);
      assert.match(stderr.trim().split("\n").at(-1) ?? "", /cannot be accelerated/);
    }
  });
}

test("the installed simulator is known", async () => {
  const peer = await Peer.spawned().hello(FORMAT);
  await peer.play([start(1)]);
  peer.process?.stdin?.end();
  await peer.exit;
  assert.equal(peer.logs, "");
});
