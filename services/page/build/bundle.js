#!/usr/bin/env node
/** Builds what the page of one format consists of, besides policies: `bundle.js --format ID --teams FILE --out DIR`. */
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { simulator } from "./simulator.js";
import { trace } from "./trace.js";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const require = createRequire(import.meta.url);

const { values } = parseArgs({ options: { format: { type: "string" }, teams: { type: "string" }, out: { type: "string" } } });
if (!values.format || !values.out) throw new Error("usage: bundle.js --format ID [--teams FILE] --out DIR");

const teams = values.teams ? (await readFile(values.teams, "utf8")).split("\n").filter(Boolean) : [];
const { files } = trace(values.format, teams);
await mkdir(values.out, { recursive: true });

// The simulator copies battles by the names of their classes.
const shared = /** @type {const} */ ({
  bundle: true, keepNames: true, format: "iife", platform: "browser", target: "es2022", minifyWhitespace: true, minifySyntax: true, legalComments: "none",
  logLevel: "error", logLimit: 5, define: { global: "globalThis", "import.meta.url": "\"blob:page\"" },
});
await build({ ...shared, entryPoints: [here("../src/engine/worker.js")], plugins: [simulator(files)], outfile: join(values.out, "engine.js") });
await build({ ...shared, entryPoints: [here("../src/ui/main.js")], minifyIdentifiers: true, outfile: join(values.out, "page.js") });
await copyFile(here("../src/ui/page.css"), join(values.out, "page.css"));
await copyFile(require.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm"), join(values.out, "runtime.wasm"));
await writeFile(join(values.out, "done"), "");
