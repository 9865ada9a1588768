/** Plays real battles with random legal choices and passes on the state of both trackers. */
import { Encoder } from "../../src/encoder/encoder.js";
import { Battle, PRNG, Teams } from "../../src/simulator/package.js";
import { Tracker } from "../../src/tracker/tracker.js";

/** @typedef {import("../../src/simulator/package.js").Battle} SimulatorBattle */

/**
 * @typedef {object} Played
 * @property {SimulatorBattle} battle
 * @property {Encoder} encoder
 * @property {Tracker[]} trackers by seat
 * @property {string[][]} lines by seat, all so far
 */

/** @param {string[]} log @param {number} from @param {number} seat @returns {string[]} the lines that the seat may see */
export function seatLines(log, from, seat) {
  const lines = [];
  for (let i = from; i < log.length; i++) {
    if (!log[i].startsWith("|split|")) {
      lines.push(log[i]);
      continue;
    }
    const line = log[i].endsWith(`p${seat + 1}`) ? log[i + 1] : log[i + 2];
    if (line) lines.push(line);
    i += 2;
  }
  return lines;
}

/** @param {InstanceType<typeof PRNG>} prng @param {Record<string, string>} choices @returns {string} a move more often than a switch */
function pick(prng, choices) {
  const all = Object.values(choices);
  const moves = all.filter((choice) => choice.startsWith("move"));
  const switches = all.filter((choice) => !choice.startsWith("move"));
  const from = moves.length && (!switches.length || prng.randomChance(6, 7)) ? moves : switches;
  return from[prng.random(from.length)];
}

/**
 * @param {string} format
 * @param {number} seed
 * @param {(played: Played) => void} visit called whenever both seats' requests have been read
 * @param {{teams?: [any, any], maxSteps?: number}} [options]
 */
export function play(format, seed, visit, { teams, maxSteps = 400 } = {}) {
  const prng = new PRNG(`gen5,${seed.toString(16).padStart(16, "0")}`);
  const generator = Teams.getGenerator(TEAM_SOURCES[format] ?? format, prng);
  const battle = new Battle({ formatid: /** @type {any} */ (format), seed: prng.getSeed(), send() {} });
  const [first, second] = teams ?? [generator.getTeam(), generator.getTeam()];
  battle.setPlayer("p1", { name: "A", team: first });
  battle.setPlayer("p2", { name: "B", team: second });
  const encoder = Encoder.forFormat(format);
  const trackers = [new Tracker(encoder.dexInfo, 0), new Tracker(encoder.dexInfo, 1)];
  /** @type {string[][]} */
  const lines = [[], []];
  let read = 0;
  for (let step = 0; !battle.ended && step < maxSteps; step++) {
    for (const [seat, tracker] of trackers.entries()) {
      const fresh = seatLines(battle.log, read, seat);
      lines[seat].push(...fresh);
      for (const line of fresh) tracker.readLine(line);
    }
    read = battle.log.length;
    battle.sentLogPos = read;
    battle.sentRequests = true;
    for (const [seat, tracker] of trackers.entries()) {
      const request = battle.sides[seat].activeRequest;
      if (request) tracker.readRequest(/** @type {any} */ (request));
    }
    visit({ battle, encoder, trackers, lines });
    const choices = trackers.map((tracker) => /** @type {Record<string, string>} */ (tracker.state().choices));
    for (const [seat, legal] of choices.entries()) {
      if (Object.keys(legal).length === 0) continue;
      const side = battle.sides[seat];
      let choice = pick(prng, legal);
      while (!side.choose(choice)) {
        // A hidden trap or disabled move: the simulator corrects the request.
        trackers[seat].readRequest(/** @type {any} */ (side.activeRequest));
        const left = Object.values(trackers[seat].state().choices ?? {}).filter((other) => other !== choice);
        if (!left.length) throw new Error(`every choice was refused: ${side.choice.error}`);
        choice = left[prng.random(left.length)];
      }
    }
    if (battle.allChoicesDone()) battle.commitChoices();
  }
  battle.destroy();
}

/** Formats whose teams a random format's generator makes. @type {Record<string, string>} */
const TEAM_SOURCES = { gen1ou: "gen1randombattle", gen9ou: "gen9randombattle" };
