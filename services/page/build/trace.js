/** Which files of the simulator one format needs: those that playing it loads. */
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { LiveBattle } from "../../showdown/src/gateway/battle.js";
import { fork } from "../../showdown/src/gateway/forks.js";
import { Table } from "../../showdown/src/gateway/table.js";
import { PRNG, simulatorSeed } from "../../showdown/src/simulator/package.js";
import { seedFrom } from "../../showdown/src/simulator/teams.js";

const require = createRequire(new URL("../../showdown/src/simulator/package.js", import.meta.url));
/** The folder of the simulator's compiled files. */
export const SIMULATOR = dirname(dirname(require.resolve("pokemon-showdown/dist/sim/dex.js")));
const NUM_BATTLES = 4;
const SEED = "0123456789abcdef";

/**
 * Play random battles of a format, fork them, and validate teams.
 * @param {string} formatId
 * @param {string[]} teams packed, of players that bring teams
 * @returns {{table: Table, files: string[]}} the format, and the data files that this loaded, relative to `SIMULATOR`
 */
export function trace(formatId, teams) {
  const table = new Table(formatId);
  const prng = new PRNG(simulatorSeed(SEED));
  for (let number = 0; number < NUM_BATTLES; number++) {
    const drawn = /** @type {[any, any]} */ ([0, 1].map((seat) =>
      table.teams.isRandom ? table.teams.random(seedFrom(prng)) : table.teams.legal(teams[(number + seat) % teams.length])));
    play(table, drawn, number, prng);
  }
  const loaded = Object.keys(require.cache).map((path) => relative(SIMULATOR, path).replaceAll("\\", "/"));
  return { table, files: loaded.filter((path) => path.startsWith("data/")).sort() };
}

/** @param {Table} table @param {[any, any]} teams @param {number} number @param {InstanceType<typeof PRNG>} prng */
function play(table, teams, number, prng) {
  const options = { seed: seedFrom(prng), teams, log: true, deadlineSeconds: 600 };
  const battle = new LiveBattle(number, table.format, table.encoder, { ...options, lines: [false, false], states: [false, false] });
  battle.observe();
  const { observation_size: size, num_actions: numActions } = table.encoder.space;
  const [observation, legal] = [new Float32Array(size), new Uint16Array(numActions)];
  while (!battle.ended) {
    for (const seat of battle.seats) {
      while (seat.request) {
        const count = battle.encode(seat.index, observation, 0, legal, 0);
        battle.answer(seat.index, legal[prng.random(count)]);
      }
    }
    if (battle.numOpen === 0) battle.observe();
    if (battle.simulation.turn % 10 === 5 && battle.numOpen > 0) tryFork(battle, table);
  }
  battle.destroy();
}

/** @param {LiveBattle} battle @param {Table} table */
function tryFork(battle, table) {
  const message = { type: /** @type {const} */ ("fork"), battle: battle.id, fork: battle.id + 1000, seat: null, seed: SEED, teams: [], deadline_seconds: 60 };
  fork(new Map([[battle.id, battle]]), message, table.searches).destroy();
}

/** @param {string} path of a module in the simulator's folder @returns {string} */
export const inSimulator = (path) => join(SIMULATOR, path);
