/** The engine's worker: one method a message, answered with its result or its error. */
import { Table } from "../../../showdown/src/gateway/table.js";
import { EnsemblePolicy } from "./ensemble.js";
import { Game } from "./game.js";
import { LogReview } from "./log_review.js";
import { matrixAt } from "./matrix.js";
import { MaxPowerPolicy, NetworkPolicy, RandomPolicy, openNetwork, openRuntime } from "./policies.js";
import { Review } from "./review.js";
import { GuidedSearchPolicy, SearchPolicy } from "./searching.js";
import { battleSeeds, deriveSeed, hexSeed, seedUniform } from "./seeds.js";

/** @typedef {import("./policies.js").PolicyEntry} PolicyEntry */

/** @type {Table} */
let table;
/** @type {Map<string, import("./player.js").Policy>} */
const policies = new Map();
/** @type {Map<string, import("./policies.js").Member[]>} */
const mixtures = new Map();
/** @type {Game} */
let game;
/** Counts reviews and battles that begin: an older review stops. */
let newest = 0;

/** @param {string} id @returns {import("./player.js").Policy} */
function policyOf(id) {
  const policy = policies.get(id);
  if (!policy) throw new Error(`this page has no policy ${id}: expected ${[...policies.keys()].join(", ")}`);
  return policy;
}

/** @param {string | null} id with null for a person @param {number} uniform that draws a mixture's member */
function playerOf(id, uniform) {
  if (id === null) return null;
  const members = mixtures.get(id);
  return policyOf(members ? drawn(members, uniform) : id);
}

/** @param {string} id of a policy, or of a mixture, whose likeliest member gives advice @returns {import("./player.js").Policy} */
function adviserOf(id) {
  const members = mixtures.get(id);
  return policyOf(members ? members.reduce((best, each) => (each.weight > best.weight ? each : best)).policy : id);
}

/** @param {import("./policies.js").Member[]} members @param {number} uniform @returns {string} as `nashdex.policies.mixture` draws */
function drawn(members, uniform) {
  const sorted = [...members].sort((a, b) => (a.policy < b.policy ? -1 : 1));
  let sum = 0;
  return (sorted.find(({ weight }) => (sum += weight) > uniform) ?? sorted[sorted.length - 1]).policy;
}

const methods = {
  /** @param {{format: string, policies: PolicyEntry[], networks: Record<string, Uint8Array>, teams: string[], wasm: ArrayBuffer}} page */
  async open({ format, policies: entries, networks, teams, wasm }) {
    openRuntime(wasm);
    table = new Table(format);
    /** Levels of a policy share its network. @type {Map<string, any>} */
    const sessions = new Map();
    for (const entry of entries) {
      const { space } = table.encoder;
      if (entry.kind === "network") {
        const name = /** @type {string} */ (entry.network);
        const session = sessions.get(name) ?? (await openNetwork(networks[name]));
        sessions.set(name, session);
        policies.set(entry.id, new NetworkPolicy(entry, session, space));
      } else if (entry.kind === "mixture") mixtures.set(entry.id, entry.members ?? []);
      else if (entry.kind === "random") policies.set(entry.id, new RandomPolicy(entry));
      else if (entry.kind === "max-power") policies.set(entry.id, new MaxPowerPolicy(entry, space));
    }
    // Networks first: these consist of them. An ensemble stands before a search around it.
    for (const entry of entries) {
      const members = /** @type {any[]} */ (entry.members?.map(({ policy }) => policies.get(policy)) ?? []);
      if (entry.kind === "ensemble") policies.set(entry.id, new EnsemblePolicy(entry, members, table.encoder.space));
      else if (entry.kind === "search") policies.set(entry.id, members.length ? new GuidedSearchPolicy(entry, members[0], table, teams) : new SearchPolicy(entry, table, teams));
    }
    return { space: table.encoder.space, isRandom: table.teams.isRandom, generation: table.encoder.generation, name: table.format.name };
  },

  /**
   * @param {{seats: [string | null, string | null], root: string, number: number, teams: string[], own: [string | null, string | null]}} options
   *   policies by seat, and packed teams that a team's seed picks from
   */
  async start({ seats, root, number, teams, own }) {
    const { seed, teamSeeds } = battleSeeds(BigInt(root), number);
    const drawn = teamSeeds.map((teamSeed, seat) => own[seat] ?? (teams.length ? teams[Number(teamSeed % BigInt(teams.length))] : null));
    const setup = { seed: hexSeed(seed), teams: /** @type {any} */ (drawn), teamSeeds: /** @type {any} */ (teamSeeds.map(hexSeed)) };
    return begin(setup, seats.map((id, seat) => playerOf(id, seedUniform(deriveSeed(BigInt(root), "pair", Math.floor(number / 2), "policy", seat)))), []);
  },

  /** Go on from a point of a recorded battle. @param {{record: import("./game.js").GameRecord, numSteps: number, seats: [string | null, string | null]}} options */
  resume({ record, numSteps, seats }) {
    return begin(record.setup, seats.map((id) => playerOf(id, Math.random())), record.steps.slice(0, numSteps));
  },

  /** @param {{seat: number}} options */
  view: ({ seat }) => game.view(seat),

  /** @param {{seat: number, action: number}} options */
  async choose({ seat, action }) {
    const rejected = await game.choose(seat, action);
    return { ...game.view(seat), rejected };
  },

  /** @param {{seat: number}} options */
  async undo({ seat }) {
    await game.undo(seat);
    return game.view(seat);
  },

  /** @param {{seat: number, policy: string}} options */
  hint: ({ seat, policy }) => game.hint(seat, adviserOf(policy)),

  /** @param {{seat: number, action: number, policy: string, forks: number}} options */
  judge: ({ seat, action, policy, forks }) => game.judge(seat, action, policyOf(policy), forks),

  /** @param {{seat: number}} options */
  resign({ seat }) {
    game.resigned = seat;
    return game.view(seat);
  },

  /** @param {{players: [string, string]}} options */
  record: ({ players }) => ({ ...game.record(players), log: game.match.ended ? game.match.result().log : "" }),

  /** @param {{text: string}} options */
  validate: ({ text }) => table.teams.validate(text),

  /** @param {{record: any, policy: string, forks: number}} options with a `GameRecord` or a `LoggedBattle` @param {(progress: any) => void} report */
  review({ record, policy, forks }, report) {
    const number = ++newest;
    const onProgress = (/** @type {number} */ done, /** @type {number} */ total) => report({ done, total });
    const isWanted = () => number === newest;
    return record.setup ? new Review(table, policyOf(policy), record.players).of(record, { forks, isWanted, onProgress }) : new LogReview(table, policyOf(policy)).of(record, { isWanted, onProgress });
  },

  /** @param {{record: import("./game.js").GameRecord, policy: string, step: number, forks: number}} options @param {(progress: any) => void} report */
  matrix({ record, policy, step, forks }, report) {
    const number = ++newest;
    return matrixAt(table, policyOf(policy), record, step, { forks, isWanted: () => number === newest, onProgress: (done, total) => report({ done, total }) });
  },
};

/** @param {import("./match.js").Setup} setup @param {any} seats @param {import("./match.js").Answer[][]} steps */
async function begin(setup, seats, steps) {
  newest++;
  const next = new Game(table, setup, seats);
  game?.destroy();
  game = next;
  if (steps.length) await game.rewind(steps);
  else await game.advance();
  const person = seats.indexOf(null);
  return game.view(person < 0 ? 0 : person);
}

self.onmessage = async ({ data: { id, method, options } }) => {
  try {
    const run = /** @type {any} */ (methods)[method];
    const result = await run(options, (/** @type {any} */ progress) => self.postMessage({ id, progress }));
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
