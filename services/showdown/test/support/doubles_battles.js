/** Plays real doubles with random legal joint actions and passes on the state of both trackers. */
import { existsSync, readFileSync } from "node:fs";
import { choiceOf, takeHalf, writeLegal } from "../../src/tracker/doubles/actions.js";
import { DexInfo } from "../../src/simulator/dex.js";
import { Battle, Dex, PRNG, Teams } from "../../src/simulator/package.js";
import { Tracker } from "../../src/tracker/tracker.js";
import { seatLines } from "./tracker_battles.js";

/** @typedef {import("../../src/simulator/package.js").Battle} SimulatorBattle */

const TEAM_SETS = new URL("../../../nashdex/games/showdown/team_sets/", import.meta.url);

/** @param {string} format @param {InstanceType<typeof PRNG>} prng @returns {() => any} teams of the format's own set, else of a generator */
function teamsOf(format, prng) {
  const base = format.replace(/bo3$/, "");
  const file = [`${base}.tournaments.txt`, `${base}.txt`].map((name) => new URL(name, TEAM_SETS)).find((url) => existsSync(url));
  if (file) {
    const texts = readFileSync(file, "utf8").split(/^===.*$/m);
    const teams = texts.length > 1 ? texts : texts[0].split("\n").filter((line) => line.includes("|") && !line.startsWith("#"));
    if (teams.length) return () => Teams.import(teams[prng.random(teams.length)].trim());
    return () => Teams.import(texts[0].trim());
  }
  const generation = Dex.forFormat(format).gen;
  const generator = Teams.getGenerator(generation === 9 ? "gen9randomdoublesbattle" : `gen${generation}randombattle`, prng);
  return () => generator.getTeam();
}

/**
 * @param {string} format
 * @param {InstanceType<typeof PRNG>} prng
 * @param {[any, any]} [teams]
 * @returns {SimulatorBattle} that has begun
 */
export function battleOf(format, prng, teams) {
  const draw = teamsOf(format, prng);
  const battle = new Battle({ formatid: /** @type {any} */ (format), seed: prng.getSeed(), send() {} });
  const [first, second] = teams ?? [draw(), draw()];
  battle.setPlayer("p1", { name: "A", team: first });
  battle.setPlayer("p2", { name: "B", team: second });
  return battle;
}

/** @param {number} seed @returns {InstanceType<typeof PRNG>} */
export function drawsOf(seed) {
  return new PRNG(`gen5,${seed.toString(16).padStart(16, "0")}`);
}

/**
 * @param {string} format
 * @param {number} seed
 * @param {(played: {battle: SimulatorBattle, trackers: Tracker[], fresh: string[][]}) => void} visit called whenever both
 *   seats' requests have been read; `fresh` are the lines since the last call
 * @param {{teams?: [any, any], maxSteps?: number}} [options]
 * @returns {number} choices that the simulator rejected although they were legal
 */
export function playDoubles(format, seed, visit, { teams, maxSteps = 300 } = {}) {
  const prng = drawsOf(seed);
  const battle = battleOf(format, prng, teams);
  const dexInfo = DexInfo.forFormat(format);
  const trackers = [new Tracker(dexInfo, 0), new Tracker(dexInfo, 1)];
  const legal = new Uint16Array(5000);
  let read = 0;
  let refused = 0;
  for (let step = 0; !battle.ended && step < maxSteps; step++) {
    const fresh = trackers.map((tracker, seat) => {
      const lines = seatLines(battle.log, read, seat);
      for (const line of lines) tracker.readLine(line);
      return lines;
    });
    read = battle.log.length;
    battle.sentLogPos = read;
    battle.sentRequests = true;
    for (const [seat, tracker] of trackers.entries()) {
      const request = battle.sides[seat].activeRequest;
      if (request) tracker.readRequest(/** @type {any} */ (request));
    }
    visit({ battle, trackers, fresh });
    for (const [seat, tracker] of trackers.entries()) {
      const side = battle.sides[seat];
      const tried = new Set();
      for (;;) {
        const actions = [...legal.subarray(0, writeLegal(tracker, legal, 0))].filter((action) => !tried.has(action));
        if (!actions.length) {
          if (tried.size) throw new Error(`every choice was refused: ${side.choice.error}`);
          break;
        }
        const action = actions[prng.random(actions.length)];
        if (takeHalf(tracker, action)) continue;
        if (side.choose(choiceOf(tracker, action)) && side.isChoiceDone()) break;
        // A hidden trap or disabled move: the simulator corrects the request.
        tried.add(action);
        refused++;
        tracker.readRequest(/** @type {any} */ (side.activeRequest));
      }
    }
    if (battle.allChoicesDone()) battle.commitChoices();
  }
  battle.destroy();
  return refused;
}
