#!/usr/bin/env node
/**
 * The raw simulator's speed: battles of random legal choices with nothing around them, the denominator of the
 * collection benchmark. What it does for a decision is what no driver can leave out: read the request, draw a choice,
 * tell the simulator. Teams come from the same code as the gateway's, within the measured time as they are there.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { accelerate } from "../src/simulator/accelerate/accelerate.js";
import { Battle, PRNG, UnknownFormat, simulatorSeed, singlesFormat } from "../src/simulator/package.js";
import { IllegalTeam, NoGenerator, TeamSource, seedFrom } from "../src/simulator/teams.js";

/** @typedef {import("../src/simulator/package.js").ChoiceRequest} ChoiceRequest */
/** @typedef {import("../src/simulator/package.js").Format} Format */

const EXIT_USAGE = 64;
const EXIT_DATA = 65;
const MILLISECONDS = 1000;
/** How many decisions are made between two looks at the clock. */
const DECISIONS_PER_LOOK = 64;

const USAGE = `usage: node raw.js --format F [--seconds S] [--warm-up S] [--seed N] [--battles N] [--teams FILE]
                   [--accelerated]

Plays battles of random legal choices on the simulator alone and prints one JSON line.

  --format F     id of a singles format
  --seconds S    wall-clock time to measure (default 10)
  --warm-up S    wall-clock time before it, for the compiler (default 2)
  --seed N       integer; teams, battles and choices follow from it (default 1)
  --battles N    battles under way at once (default 64)
  --teams FILE   packed teams, one a line, for formats without a team generator
  --accelerated  with the simulator sped up as the gateway speeds it up, instead of as published
`;

/** Choices as texts by slot, so that none is put together per decision. */
const SLOTS = [1, 2, 3, 4, 5, 6];
const SWITCHES = SLOTS.map((slot) => `switch ${slot}`);
const LEADS = SLOTS.map((slot) => `team ${slot}`);
const MOVES = SLOTS.map((slot) => `move ${slot}`);
const MEGAS = SLOTS.map((slot) => `move ${slot} mega`);
const ULTRAS = SLOTS.map((slot) => `move ${slot} ultra`);
const Z_MOVES = SLOTS.map((slot) => `move ${slot} zmove`);
const DYNAMAXES = SLOTS.map((slot) => `move ${slot} dynamax`);
const TERAS = SLOTS.map((slot) => `move ${slot} terastallize`);

/** A wrong argument or file, and the exit code for it. */
class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Mulberry32: a small generator of uniform draws, so that choosing costs next to nothing. */
class Draws {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** @param {number} limit @returns {number} uniform from 0 to limit - 1 */
  below(limit) {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}

/** @type {string[]} the legal choices of the request at hand, the first `numLegal` of them; filled anew each time */
const legal = [];
let numLegal = 0;

/** @param {string} choice */
function allow(choice) {
  legal[numLegal++] = choice;
}

/**
 * @param {any} request of the simulator, which asks for a choice
 * @param {Draws} draws
 * @returns {string} one of the legal choices, all equally likely
 */
function randomChoice(request, draws) {
  numLegal = 0;
  const pokemon = request.side.pokemon;
  if (request.teamPreview) return LEADS[draws.below(pokemon.length)];
  const active = request.active?.[0];
  if (!active?.trapped) {
    const isReviving = pokemon[0].reviving;
    for (let slot = 1; slot < pokemon.length; slot++) {
      const isFainted = pokemon[slot].condition.endsWith(" fnt");
      if (isReviving ? isFainted : !isFainted) allow(SWITCHES[slot]);
    }
  }
  if (active) {
    const { moves, canZMove, canDynamax, maxMoves } = active;
    const canMega = active.canMegaEvo;
    for (let slot = 0; slot < moves.length; slot++) {
      // Of a dynamaxed Pokémon the max moves count; a plain move may be disabled where its max move is not.
      const isDisabled = maxMoves && !canDynamax ? maxMoves.maxMoves[slot].disabled : moves[slot].disabled;
      if (canDynamax && !maxMoves.maxMoves[slot].disabled) allow(DYNAMAXES[slot]);
      if (canZMove?.[slot]) allow(Z_MOVES[slot]);
      if (isDisabled) continue;
      allow(MOVES[slot]);
      if (canMega) allow(MEGAS[slot]);
      if (active.canUltraBurst) allow(ULTRAS[slot]);
      if (active.canTerastallize) allow(TERAS[slot]);
    }
  }
  return legal[draws.below(numLegal)];
}

/** Battles one after the other in the same place. */
class Lane {
  /** @param {Format} format @param {TeamSource} teams @param {string[] | null} packed @param {number} seed */
  constructor(format, teams, packed, seed) {
    this.format = format;
    this.teams = teams;
    this.packed = packed;
    this.draws = new Draws(seed);
    this.seeds = new PRNG(simulatorSeed(seed.toString(16).padStart(16, "0")));
    this.finished = 0;
    this.battle = this.#begin();
  }

  /** Answer everything that is asked, which is a step of the battle. @returns {number} decisions made */
  step() {
    const { battle } = this;
    let decisions = 0;
    // Both requests are read before either is answered: the second answer commits the turn.
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
    // A choice that the request could not know to be illegal (a trapping ability) is refused with a mended request.
    for (;;) {
      const request = battle.sides[index].activeRequest;
      if (battle.choose(side, randomChoice(request, this.draws))) return 1;
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
  let nextLook = DECISIONS_PER_LOOK;
  for (let isOver = false; !isOver; ) {
    for (const lane of lanes) {
      decisions += lane.step();
      if (decisions < nextLook) continue;
      nextLook = decisions + DECISIONS_PER_LOOK;
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
    throw new Refusal(EXIT_DATA, `${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const packed = text.split("\n").filter((line) => line.trim() !== "");
  if (packed.length === 0) throw new Refusal(EXIT_DATA, `${path} holds no team: expected packed teams, one a line`);
  packed.forEach((team, index) => {
    try {
      teams.legal(team);
    } catch (error) {
      if (!(error instanceof IllegalTeam)) throw error;
      throw new Refusal(EXIT_DATA, `${path}: team ${index + 1} is not legal: ${error.problems.join("; ")}`);
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
  const format = singlesFormat(values.format);
  const seconds = numberOption("seconds", values.seconds, 0.1);
  const warmUp = numberOption("warm-up", values["warm-up"], 0);
  const seed = Math.trunc(numberOption("seed", values.seed, 0));
  if (values.accelerated && !accelerate()) throw new Refusal(EXIT_DATA, "this simulator cannot be sped up: leave out --accelerated");
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
