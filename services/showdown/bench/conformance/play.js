/** Plays one battle of random choices, given by a format, a seed and a number, and reports everything that it outputs. */
import { createHash } from "node:crypto";
import { randomChoice } from "../random_choice.js";
import { Battle, Dex, Teams, simulatorSeed } from "../../src/simulator/package.js";

/** Most steps of a battle; some never end. */
const MAX_STEPS = 400;
/** Choices that may be rejected before the simulator's default is taken. */
const MAX_ATTEMPTS = 4;
/** Steps between two comparisons of the simulator's whole state, which is expensive to serialise; the end is compared too. */
const STEPS_PER_STATE = 16;
const SEED_DIGITS = 16;

/**
 * @typedef {object} Case
 * @property {string} format
 * @property {number} number of the battle within its format
 * @property {number} seed
 *
 * @typedef {(kind: "team" | "request" | "line" | "choice" | "generator" | "state" | "crash", text: string) => void} Witness
 */

/**
 * @param {Case} played
 * @param {Witness} witness receives, in order, everything that could differ between two simulators
 * @returns {number} decisions
 */
export function playCase({ format, number, seed }, witness) {
  const seeds = createHash("sha512").update(`${seed} ${format} ${number}`).digest("hex");
  const seedAt = (/** @type {number} */ at) => simulatorSeed(seeds.slice(at * SEED_DIGITS, (at + 1) * SEED_DIGITS));
  const draw = draws(Number.parseInt(seeds.slice(-8), 16));
  const battle = /** @type {any} */ (new Battle({ formatid: /** @type {any} */ (format), seed: seedAt(0) }));
  const generator = Teams.getGenerator(/** @type {any} */ (teamFormat(format)), seedAt(1));
  for (let side = 0; side < battle.sides.length; side++) {
    const team = generator.getTeam();
    witness("team", JSON.stringify(team));
    battle.setPlayer(`p${side + 1}`, { name: `Player ${side + 1}`, team });
  }
  let decisions = 0;
  try {
    decisions = playOn(battle, draw, witness);
  } catch (error) {
    // The simulator itself fails in rare battles; then both must fail in the same way.
    witness("crash", error instanceof Error ? error.message : String(error));
  }
  battle.destroy();
  return decisions;
}

/**
 * @param {any} battle
 * @param {(limit: number) => number} draw
 * @param {Witness} witness
 * @returns {number} decisions
 */
function playOn(battle, draw, witness) {
  let decisions = 0;
  let lines = 0;
  for (let step = 0; step < MAX_STEPS && !battle.ended; step++) {
    lines = reportLines(battle.log, lines, witness);
    witness("generator", battle.prng.getSeed());
    if (step % STEPS_PER_STATE === 0) witness("state", stateOf(battle));
    // Read all requests before choosing: the last choice plays the turn.
    const requests = battle.sides.map((/** @type {any} */ side) => side.activeRequest);
    for (const [side, request] of requests.entries()) {
      witness("request", JSON.stringify(request));
      if (!request || request.wait || battle.ended) continue;
      choose(battle, battle.sides[side], draw, witness);
      decisions++;
    }
    battle.sentLogPos = battle.log.length;
    battle.sentRequests = true;
  }
  reportLines(battle.log, lines, witness);
  witness("generator", battle.prng.getSeed());
  witness("state", stateOf(battle));
  return decisions;
}

/** @param {any} battle @param {any} side @param {(limit: number) => number} draw @param {Witness} witness */
function choose(battle, side, draw, witness) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // The current request: a rejection may have corrected it.
    const choice = randomChoice(side.activeRequest, draw);
    const isTaken = battle.choose(side.id, choice);
    witness("choice", isTaken ? choice : `${choice}: ${side.choice.error}; ${JSON.stringify(side.activeRequest)}`);
    if (isTaken) return;
  }
  witness("choice", `default: ${battle.choose(side.id, "default")}`);
}

/** @param {string[]} log @param {number} from @param {Witness} witness @returns {number} index of the next line */
function reportLines(log, from, witness) {
  for (let at = from; at < log.length; at++) if (!log[at].startsWith("|t:|")) witness("line", log[at]);
  return log.length;
}

/**
 * @param {Record<string, unknown>} pokemon
 * @returns {Record<string, unknown>} the same properties sorted by name: nothing depends on their order
 */
function byName(pokemon) {
  return Object.fromEntries(Object.entries(pokemon).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {any} battle @returns {string} everything that the simulator would save of the battle */
function stateOf(battle) {
  let state;
  try {
    state = battle.toJSON();
  } catch (error) {
    // Some formats have state that the simulator cannot save; the error names it.
    return String(error);
  }
  delete state.log;
  for (const side of state.sides) side.pokemon = side.pokemon.map(byName);
  return JSON.stringify(state);
}

/** @param {string} format @returns {string} the format whose generator makes its teams */
function teamFormat(format) {
  const { id, team, mod, gameType } = Dex.formats.get(format);
  if (team) return id;
  const { gen } = Dex.mod(mod);
  // The simulator plays any team in any format; only its validator would refuse it.
  const doubles = `gen${gen}randomdoublesbattle`;
  return gameType !== "singles" && Dex.formats.get(doubles).exists ? doubles : `gen${gen}randombattle`;
}

/** @param {number} seed @returns {(limit: number) => number} uniform draws from 0 to limit - 1 (mulberry32) */
function draws(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** @param {Case} played @returns {{digest: string, decisions: number}} a hash of everything that the battle outputs */
export function digestCase(played) {
  const hash = createHash("sha256");
  const decisions = playCase(played, (kind, text) => hash.update(`${kind} ${text}\n`));
  return { digest: hash.digest("hex"), decisions };
}

/** @param {Case} played @returns {string[]} everything that the battle outputs */
export function transcribeCase(played) {
  /** @type {string[]} */
  const transcript = [];
  playCase(played, (kind, text) => void transcript.push(`${kind} ${text}`));
  return transcript;
}
