/**
 * The parts of the `pokemon-showdown` package that this process uses. They are loaded one by one: the package's index
 * would load streams and the whole library, and `dist/server` a server.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** @typedef {import("pokemon-showdown/dist/sim/battle.js").Battle} Battle */
/** @typedef {import("pokemon-showdown/dist/sim/dex-formats.js").Format} Format */
/** @typedef {import("pokemon-showdown/dist/sim/teams.js").PokemonSet} PokemonSet */
/** @typedef {import("pokemon-showdown/dist/sim/side.js").ChoiceRequest} ChoiceRequest */

export const { Battle } = /** @type {typeof import("pokemon-showdown/dist/sim/battle.js")} */ (
  require("pokemon-showdown/dist/sim/battle.js")
);
export const { BattleQueue } = /** @type {typeof import("pokemon-showdown/dist/sim/battle-queue.js")} */ (
  require("pokemon-showdown/dist/sim/battle-queue.js")
);
export const { Dex, toID } = /** @type {typeof import("pokemon-showdown/dist/sim/dex.js")} */ (
  require("pokemon-showdown/dist/sim/dex.js")
);
const { Format } = /** @type {typeof import("pokemon-showdown/dist/sim/dex-formats.js")} */ (
  require("pokemon-showdown/dist/sim/dex-formats.js")
);
export const { Field } = /** @type {typeof import("pokemon-showdown/dist/sim/field.js")} */ (
  require("pokemon-showdown/dist/sim/field.js")
);
export const { Pokemon } = /** @type {typeof import("pokemon-showdown/dist/sim/pokemon.js")} */ (
  require("pokemon-showdown/dist/sim/pokemon.js")
);
export const { Side } = /** @type {typeof import("pokemon-showdown/dist/sim/side.js")} */ (
  require("pokemon-showdown/dist/sim/side.js")
);
export const { PRNG } = /** @type {typeof import("pokemon-showdown/dist/sim/prng.js")} */ (
  require("pokemon-showdown/dist/sim/prng.js")
);
export const { State } = /** @type {typeof import("pokemon-showdown/dist/sim/state.js")} */ (
  require("pokemon-showdown/dist/sim/state.js")
);
export const { Teams } = /** @type {typeof import("pokemon-showdown/dist/sim/teams.js")} */ (
  require("pokemon-showdown/dist/sim/teams.js")
);
export const { TeamValidator } = /** @type {typeof import("pokemon-showdown/dist/sim/team-validator.js")} */ (
  require("pokemon-showdown/dist/sim/team-validator.js")
);

/** The version of the simulator's package. @type {string} */
export const simulatorVersion = require("pokemon-showdown/package.json").version;
/** The version of this package. @type {string} */
export const gatewayVersion = require("../../package.json").version;

const MAY_SHOW_SHEETS = "Open Team Sheets";

// Showdown has a regulation's best of three with Open Team Sheets only while people play it. It is the regulation's own
// format with sheets that are always shown, so the earlier ones are made anew.
for (const format of Dex.formats.all()) {
  const id = toID(`${format.id}bo3`);
  if (!format.ruleset.includes(MAY_SHOW_SHEETS) || Dex.formats.get(id).exists) continue;
  const ruleset = [...format.ruleset.filter((rule) => rule !== MAY_SHOW_SHEETS), `Force ${MAY_SHOW_SHEETS}`, "Best of = 3"];
  Dex.formats.rulesetCache.set(id, new Format({ ...format, id, name: `${format.name} (Bo3)`, ruleset, ruleTable: null }));
}

const SEED = /^[0-9a-f]{16}$/;

/** @param {unknown} text @returns {boolean} whether `text` is a seed: 16 lower-case hex digits */
export function isSeed(text) {
  return typeof text === "string" && SEED.test(text);
}

/**
 * The simulator's notation of a seed for its `gen5` generator, a 64-bit linear congruential generator whose whole state
 * is 16 hex digits. (The simulator's default is ChaCha20.)
 * @param {string} seed 16 hex digits
 * @returns {import("pokemon-showdown/dist/sim/prng.js").PRNGSeed}
 */
export function simulatorSeed(seed) {
  return `gen5,${seed}`;
}

/** A format that does not exist or is not played by the gateway. */
export class UnknownFormat extends Error {}

/**
 * @param {unknown} name
 * @returns {Format} a singles or doubles format for two players
 * @throws {UnknownFormat}
 */
export function playableFormat(name) {
  const format = typeof name === "string" ? Dex.formats.get(name) : null;
  if (!format?.exists || format.effectType !== "Format") {
    throw new UnknownFormat(`unknown format ${JSON.stringify(name)}: expected the id of a Showdown format, such as gen1ou`);
  }
  if (format.id !== name) {
    throw new UnknownFormat(`unknown format ${JSON.stringify(name)}: write its id, ${format.id}`);
  }
  if ((format.gameType !== "singles" && format.gameType !== "doubles") || format.playerCount !== 2) {
    throw new UnknownFormat(`format ${format.id} is ${format.gameType}: the gateway plays singles and doubles of two players`);
  }
  return format;
}
