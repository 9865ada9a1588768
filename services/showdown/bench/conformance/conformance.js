#!/usr/bin/env node
/**
 * Checks that the accelerated simulator plays the same battles: two threads, one with the published and one with the
 * accelerated simulator, play the same seeds and choices, battle by battle.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { digestCase, transcribeCase } from "./play.js";
import { Dex, UnknownFormat, simulatorVersion } from "../../src/simulator/package.js";
import { integerOption } from "../options.js";

/** @typedef {import("./play.js").Case} Case */

const EXIT_USAGE = 64;
const EXIT_DATA = 65;
/** Characters shown before and after the start of a difference. */
const CONTEXT_CHARACTERS = 120;

/** The default formats: every generation, singles and doubles, with and without team preview. */
export const DEFAULT_FORMATS = [
  ...["gen1randombattle", "gen9randombattle", "gen1ou", "gen9vgc2025regi", "gen9championsvgc2026regma"],
  ...["gen2randombattle", "gen3randombattle", "gen4randombattle", "gen5randombattle", "gen6randombattle"],
  ...["gen7randombattle", "gen8randombattle", "gen9randomdoublesbattle", "gen8cap1v1", "gen7letsgorandombattle"],
  ...["gen8bdsprandombattle", "gen9babyrandombattle", "gen9hackmonscup", "gen8hackmonscup", "gen9randombattlemayhem"],
  ...["gen1challengecup", "gen1hackmonscup", "gen9challengecup1v1", "gen9challengecup2v2", "gen9metronomebattle"],
  ...["gen2ou", "gen3ou", "gen4ou", "gen5ou", "gen6ou", "gen7ou", "gen8ou", "gen9ou", "gen1stadiumou", "gen2stadiumou"],
  ...["gen3doublesou", "gen4doublesou", "gen5doublesou", "gen6vgc2016", "gen7vgc2019", "gen8vgc2022", "gen9doublesou"],
  ...["gen6doublesou", "gen7doublesou", "gen8doublesou", "gen8vgc2020", "gen8vgc2021", "gen9vgc2023regc", "gen9vgc2023regd"],
  ...["gen9vgc2024regg", "gen9championsvgc2026regmb", "gen9championsvgc2026regmabo3", "gen9championsvgc2026regmbbo3"],
  ...["gen1uu", "gen1nu", "gen1ubers", "gen2uu", "gen2nu", "gen2ubers", "gen3uu", "gen3nu", "gen3ubers"],
  ...["gen4uu", "gen4nu", "gen4ubers", "gen7letsgoou", "gen8bdspou", "gen9nationaldex"],
  ...["gen5triplescustomgame", "gen6battlespottriples", "gen9freeforallrandombattle", "gen9multirandombattle"],
];

const USAGE = `usage: node conformance.js [--formats F,F] [--battles N] [--seed N] [--module FILE]

Plays the same seeds and choices on the published and on the accelerated simulator, and compares every log line,
request, draw and state. Prints a JSON line for each battle, {"compared", "battles", "format", "decisions"}, and one
with the result: {"formats", "battles", "decisions", "differences", "first_difference"}. Exits with 65 on a difference.

  --formats F,F  ids of formats (default: ${DEFAULT_FORMATS.length} of all generations, singles, doubles and others)
  --battles N    battles in total, distributed over the formats in turn (default 300)
  --seed N       seed of teams, battles and choices (default 1)
  --module FILE  module with accelerate(), which returns whether it accelerated the simulator (default: the gateway's)
`;

/**
 * @typedef {object} Difference
 * @property {string} format
 * @property {number} battle number within its format
 * @property {string} plain output of the published simulator
 * @property {string} accelerated output of the accelerated simulator
 */

/** One of the two simulators in its own thread; it answers one question at a time. */
class Player {
  /** @param {string | null} module that accelerates it */
  constructor(module) {
    /** @type {{resolve: (answer: any) => void, reject: (error: unknown) => void} | null} */
    this.asked = null;
    this.worker = new Worker(new URL(import.meta.url), { workerData: { module } });
    this.worker.on("message", (answer) => this.asked?.resolve(answer));
    this.worker.on("error", (error) => this.asked?.reject(error));
  }

  /**
   * @param {"digest" | "transcribe"} question
   * @param {Case} played
   * @returns {Promise<any>} the result of `digestCase` or `transcribeCase`
   */
  play(question, played) {
    return new Promise((resolve, reject) => {
      this.asked = { resolve, reject };
      this.worker.postMessage({ question, played });
    });
  }
}

/** @param {string} format @returns {string} @throws {UnknownFormat} */
function checkedFormat(format) {
  const found = Dex.formats.get(format);
  if (!found.exists || found.effectType !== "Format") {
    throw new UnknownFormat(`unknown format ${JSON.stringify(format)}: expected the id of a Showdown format, such as gen1ou`);
  }
  return found.id;
}

/** @param {string[]} plain @param {string[]} accelerated @returns {{plain: string, accelerated: string}} the text around the first difference */
function firstDifference(plain, accelerated) {
  const entry = plain.findIndex((text, at) => text !== accelerated[at]);
  const [left, right] = [plain.at(entry) ?? "", accelerated[entry < 0 ? plain.length : entry] ?? ""];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const from = Math.max(0, at - CONTEXT_CHARACTERS);
  return { plain: left.slice(from, at + CONTEXT_CHARACTERS), accelerated: right.slice(from, at + CONTEXT_CHARACTERS) };
}

/**
 * @param {string[]} formats
 * @param {number} numBattles
 * @param {number} seed
 * @param {string} module that accelerates the simulator
 * @param {(progress: {format: string, decisions: number}) => void} report
 */
async function compare(formats, numBattles, seed, module, report) {
  const [plain, accelerated] = [new Player(null), new Player(module)];
  let [decisions, differences] = [0, 0];
  /** @type {Difference | null} */
  let first = null;
  for (let battle = 0; battle < numBattles; battle++) {
    const played = { format: formats[battle % formats.length], number: Math.floor(battle / formats.length), seed };
    const [one, other] = await Promise.all([plain.play("digest", played), accelerated.play("digest", played)]);
    decisions += one.decisions;
    if (one.digest !== other.digest) {
      differences++;
      if (!first) {
        const texts = await Promise.all([plain.play("transcribe", played), accelerated.play("transcribe", played)]);
        first = { format: played.format, battle: played.number, ...firstDifference(texts[0], texts[1]) };
      }
    }
    report({ format: played.format, decisions });
  }
  await Promise.all([plain.worker.terminate(), accelerated.worker.terminate()]);
  return { decisions, differences, first };
}

async function main() {
  const { values } = parseArgs({
    options: {
      formats: { type: "string", default: DEFAULT_FORMATS.join(",") },
      battles: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      module: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const formats = [...new Set(values.formats.split(",").map(checkedFormat))];
  const numBattles = integerOption("battles", values.battles, 1);
  const seed = integerOption("seed", values.seed, 0);
  const module = values.module ? pathToFileURL(path.resolve(values.module)).href : new URL("../../src/simulator/accelerate/accelerate.js", import.meta.url).href;
  if (!(await import(module)).accelerate()) {
    throw new RangeError(`simulator ${simulatorVersion} cannot be accelerated: there is nothing to compare`);
  }
  let compared = 0;
  const { decisions, differences, first } = await compare(formats, numBattles, seed, module, (progress) => {
    process.stdout.write(`${JSON.stringify({ compared: ++compared, battles: numBattles, ...progress })}\n`);
  });
  const outcome = { formats: formats.slice(0, numBattles), battles: numBattles, decisions, differences, first_difference: first };
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  if (differences > 0) process.exitCode = EXIT_DATA;
}

if (isMainThread) {
  try {
    await main();
  } catch (error) {
    const isUsage = error instanceof UnknownFormat || error instanceof RangeError || (error instanceof TypeError && "code" in error);
    if (!isUsage) throw error;
    process.stderr.write(`conformance: ${error.message}\n`);
    process.exitCode = EXIT_USAGE;
  }
} else {
  if (workerData.module) (await import(workerData.module)).accelerate();
  parentPort?.on("message", ({ question, played }) => {
    parentPort?.postMessage(question === "digest" ? digestCase(played) : transcribeCase(played));
  });
}
