#!/usr/bin/env node
/** Compares both seats' tracked states with the simulator's own at every request of battles of random teams. */
import { parseArgs } from "node:util";
import { accelerate } from "../../src/simulator/accelerate/accelerate.js";
import { UnknownFormat } from "../../src/simulator/package.js";
import { fuzz } from "./differences.js";
import { integerOption } from "../options.js";

/** @typedef {import("./differences.js").Kind} Kind */

const EXIT_DIFFERENCE = 1;
const EXIT_USAGE = 64;

const USAGE = `usage: npm run fuzz-tracker -- --format F [--battles N] [--seed N] [--lines N]

Plays battles of random teams, which may have any species, moves, abilities and items, and compares both seats' tracked
states with the simulator's own at every request. Prints one line for each kind of difference, the unknown ones first:
how often one began, and the first example by seed, turn and seat. Exits with 1 if one is unknown; known ones have their
reasons in known.js.

  --format F   id of a singles or doubles format
  --battles N  battles (default 100)
  --seed N     seed of the first battle; the next ones count up from it (default 1)
  --lines N    print the last N lines that the seat saw before each first example (default 0)
`;

/** @param {Kind} kind @param {number} numLines @returns {string} */
function describe({ name, reason, times, example, lines }, numLines) {
  const seen = numLines > 0 ? lines.slice(-numLines).map((line) => `    ${line}\n`).join("") : "";
  return `${reason ? "known" : "UNKNOWN"}: ${times} × ${name}, first ${example}${reason ? ` (${reason})` : ""}\n${seen}`;
}

function main() {
  const { values } = parseArgs({
    options: {
      format: { type: "string" },
      battles: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      lines: { type: "string", default: "0" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  if (!values.format) throw new RangeError("--format is missing: expected the id of a singles or doubles format");
  const numBattles = integerOption("battles", values.battles, 1);
  const first = integerOption("seed", values.seed, 0);
  const numLines = integerOption("lines", values.lines, 0);
  accelerate();
  let played = 0;
  const differences = fuzz(values.format, Array.from({ length: numBattles }, (_, battle) => first + battle), {
    report: ({ seed, comparisons, kinds }) => {
      process.stderr.write(`battle ${++played} of ${numBattles}, seed ${seed}: comparisons ${comparisons}, kinds of differences ${kinds.size}\n`);
    },
  });
  const kinds = differences.sorted();
  const numUnknown = kinds.filter(({ reason }) => !reason).length;
  for (const kind of kinds) process.stdout.write(describe(kind, numLines));
  process.stdout.write(`${values.format}: battles ${numBattles}, comparisons ${differences.comparisons}, ` +
    `kinds of differences: ${kinds.length - numUnknown} known, ${numUnknown} unknown\n`);
  if (numUnknown > 0) process.exitCode = EXIT_DIFFERENCE;
}

try {
  main();
} catch (error) {
  const isUsage = error instanceof UnknownFormat || error instanceof RangeError || (error instanceof TypeError && "code" in error);
  if (!isUsage) throw error;
  process.stderr.write(`fuzz-tracker: ${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
