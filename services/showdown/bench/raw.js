#!/usr/bin/env node
/**
 * Measures the bare simulator's speed in battles of random legal choices: the denominator of the collection benchmark.
 * A decision costs what no driver can avoid: read the request, draw a choice, pass it to the simulator. Teams come from
 * the gateway's code, within the measured time as in the gateway.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { accelerate } from "../src/simulator/accelerate/accelerate.js";
import { Battle, PRNG, UnknownFormat, playableFormat, simulatorSeed } from "../src/simulator/package.js";
import { IllegalTeam, NoGenerator, TeamSource, seedFrom } from "../src/simulator/teams.js";
import { Draws, randomChoice, randomPair } from "./random_choices.js";

/** @typedef {import("../src/simulator/package.js").Format} Format */

const EXIT_USAGE = 64;
const EXIT_DATA = 65;
const MILLISECONDS = 1000;
/** Decisions between two checks of the clock. */
const DECISIONS_PER_CHECK = 64;

const USAGE = `usage: node raw.js --format F [--seconds S] [--warm-up S] [--seed N] [--battles N] [--teams FILE]
                   [--accelerated]

Plays battles of random legal choices on the simulator alone and prints one JSON line.

  --format F     id of a singles or doubles format
  --seconds S    wall-clock time to measure (default 10)
  --warm-up S    wall-clock time before the measurement, for the compiler (default 2)
  --seed N       seed of teams, battles and choices (default 1)
  --battles N    concurrent battles (default 64)
  --teams FILE   packed teams, one a line, for formats without a team generator
  --accelerated  accelerate the simulator as the gateway does; by default it runs as published
`;

/** A wrong argument or file, with its exit code. */
class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** A sequence of battles, one at a time. */
class Lane {
  /** @param {Format} format @param {TeamSource} teams @param {string[] | null} packed @param {number} seed */
  constructor(format, teams, packed, seed) {
    this.format = format;
    this.teams = teams;
    this.packed = packed;
    this.draws = new Draws(seed);
    this.seeds = new PRNG(simulatorSeed(seed.toString(16).padStart(16, "0")));
    this.choice = format.gameType === "doubles" ? randomPair : randomChoice;
    this.finished = 0;
    this.battle = this.#begin();
  }

  /** Answer all open requests, which is one step of the battle. @returns {number} decisions made */
  step() {
    const { battle } = this;
    let decisions = 0;
    // Read both requests before answering either: the second answer commits the turn.
    const requests = [battle.sides[0].activeRequest, battle.sides[1].activeRequest];
    if (requests[0] && !requests[0].wait) decisions += this.#answer("p1", 0);
    if (requests[1] && !requests[1].wait) decisions += this.#answer("p2", 1);
    battle.sentLogPos = battle.log.length;
    battle.sentRequests = true;
    if (battle.ended) {
      battle.destroy();
      this.finished++;
      this.battle = this.#begin();
    }
    return decisions;
  }

  /** @param {"p1" | "p2"} side @param {0 | 1} index @returns {number} 1 */
  #answer(side, index) {
    const { battle } = this;
    // The simulator rejects a choice that the request could not know to be illegal (a trapping ability) and corrects the request.
    for (;;) {
      const request = battle.sides[index].activeRequest;
      if (battle.choose(side, this.choice(request, this.draws))) return 1;
    }
  }

  #begin() {
    const battle = new Battle({ formatid: this.format.id, seed: simulatorSeed(seedFrom(this.seeds)) });
    battle.setPlayer("p1", { name: "Player 1", team: this.#team() });
    battle.setPlayer("p2", { name: "Player 2", team: this.#team() });
    battle.sentLogPos = battle.log.length;
    battle.sentRequests = true;
    return battle;
  }

  #team() {
    const { packed, teams } = this;
    return packed ? teams.legal(packed[this.draws.below(packed.length)]) : teams.random(seedFrom(this.seeds));
  }
}

/**
 * @param {Lane[]} lanes
 * @param {number} seconds
 * @returns {{decisions: number, cpuSeconds: number, battles: number}}
 */
function play(lanes, seconds) {
  const battlesBefore = lanes.reduce((sum, lane) => sum + lane.finished, 0);
  const cpu = process.cpuUsage();
  const end = performance.now() + seconds * MILLISECONDS;
  let decisions = 0;
  let nextCheck = DECISIONS_PER_CHECK;
  for (let isOver = false; !isOver; ) {
    for (const lane of lanes) {
      decisions += lane.step();
      if (decisions < nextCheck) continue;
      nextCheck = decisions + DECISIONS_PER_CHECK;
      if ((isOver = performance.now() >= end)) break;
    }
  }
  const { user, system } = process.cpuUsage(cpu);
  const battles = lanes.reduce((sum, lane) => sum + lane.finished, 0) - battlesBefore;
  return { decisions, cpuSeconds: (user + system) / 1e6, battles };
}

/** @param {string} name @param {string} text @param {number} least @returns {number} */
function numberOption(name, text, least) {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < least) {
    throw new Refusal(EXIT_USAGE, `--${name} is ${JSON.stringify(text)}: expected a number of at least ${least}`);
  }
  return value;
}

/** @param {string} path @param {TeamSource} teams @returns {string[]} */
function readTeams(path, teams) {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Refusal(EXIT_DATA, `cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  }
  const packed = text.split("\n").filter((line) => line.trim() !== "");
  if (packed.length === 0) throw new Refusal(EXIT_DATA, `${path} has no team: expected packed teams, one a line`);
  packed.forEach((team, index) => {
    try {
      teams.legal(team);
    } catch (error) {
      if (!(error instanceof IllegalTeam)) throw error;
      throw new Refusal(EXIT_DATA, `${path}: team ${index + 1} is illegal: ${error.problems.join("; ")}`);
    }
  });
  return packed;
}

function main() {
  const { values } = parseArgs({
    options: {
      format: { type: "string" },
      seconds: { type: "string", default: "10" },
      "warm-up": { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      battles: { type: "string", default: "64" },
      teams: { type: "string" },
      accelerated: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return USAGE;
  if (!values.format) throw new Refusal(EXIT_USAGE, "--format is missing");
  const format = playableFormat(values.format);
  const seconds = numberOption("seconds", values.seconds, 0.1);
  const warmUp = numberOption("warm-up", values["warm-up"], 0);
  const seed = Math.trunc(numberOption("seed", values.seed, 0));
  if (values.accelerated && !accelerate()) throw new Refusal(EXIT_DATA, "this simulator cannot be accelerated: leave out --accelerated");
  const numBattles = Math.trunc(numberOption("battles", values.battles, 1));
  const teams = new TeamSource(format);
  const packed = values.teams === undefined ? null : readTeams(values.teams, teams);
  const lanes = Array.from({ length: numBattles }, (_, lane) => new Lane(format, teams, packed, seed * 65_537 + lane));
  if (warmUp > 0) play(lanes, warmUp);
  const { decisions, cpuSeconds, battles } = play(lanes, seconds);
  const result = {
    format: format.id,
    accelerated: values.accelerated,
    decisions,
    cpu_seconds: Number(cpuSeconds.toFixed(3)),
    battles,
    decisions_per_cpu_second: Number((decisions / cpuSeconds).toFixed(1)),
  };
  return `${JSON.stringify(result)}\n`;
}

try {
  process.stdout.write(main());
} catch (error) {
  const isUsage = error instanceof UnknownFormat || error instanceof NoGenerator || error instanceof TypeError && "code" in error;
  if (!isUsage && !(error instanceof Refusal)) throw error;
  process.stderr.write(`raw: ${error.message}\n`);
  process.exitCode = error instanceof Refusal ? error.code : EXIT_USAGE;
}
