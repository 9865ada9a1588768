/**
 * What the page's engine answers to recorded decisions, for comparison with Python: `node test/parity.js FOLDER`. The folder has
 * `network.onnx`, `observations.f32` and `asked.json`; `answers.json` is written beside them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NetworkPolicy, openNetwork, openRuntime } from "../src/engine/policies.js";
import { softmax } from "../src/engine/sampling.js";

const folder = process.argv[2];
const read = (/** @type {string} */ name) => readFileSync(join(folder, name));
/** @type {{space: any, memory_sizes: number[], battles: number[][][]}} legal actions by decision of each battle */
const { space, memory_sizes, battles } = JSON.parse(read("asked.json").toString());
const bytes = read("observations.f32");
const observations = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
openRuntime(new Uint8Array(readFileSync(new URL("../node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm", import.meta.url))).buffer);
const policy = new NetworkPolicy({ id: "network", name: "network", kind: "network", memory_sizes }, await openNetwork(read("network.onnx")), space);

const answers = [];
let at = 0;
for (const decisions of battles) {
  let memory = policy.begin();
  for (const legal of decisions) {
    const observation = observations.slice(at, (at += space.observation_size));
    const opinion = await policy.consider({ observation, legal: Uint16Array.from(legal) }, memory);
    ({ memory } = opinion);
    const prediction = opinion.prediction && Array.from(opinion.prediction);
    answers.push({ log_probs: Array.from(softmax(opinion.logits), Math.log), value: opinion.value, prediction });
  }
}
writeFileSync(join(folder, "answers.json"), JSON.stringify(answers));
