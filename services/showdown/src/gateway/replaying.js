/**
 * A battle from the server's own input log, played again up to one seat's decision: both teams, all choices and all chance
 * are known, so that nothing has to be drawn.
 */
import { BattleFailure, LiveBattle } from "./battle.js";
import { Battle, PRNG, simulatorSeed } from "../simulator/package.js";

/** @typedef {import("./protocol/generated/message_types.js").Resume} Resume */

/** @type {readonly ["p1", "p2"]} */
const SIDES = ["p1", "p2"];
const NAMES = ["Player 1", "Player 2"];
/** Lines that say what happened, and how many of their fields name it without HP. */
const TELLING = new Map([["move", 5], ["switch", 4], ["drag", 4], ["faint", 3], ["cant", 4], ["turn", 3], ["-damage", 3], ["-heal", 3]]);

/**
 * @param {Resume} message with an input log
 * @param {import("./battle.js").LiveBattle["format"]} format
 * @param {import("../encoder/encoder.js").Encoder} encoder
 * @returns {LiveBattle} whose decisions are due
 * @throws {BattleFailure} the input log does not lead to the position
 */
export function replay({ battle: id, seat, seen, input, seed, lines, states, draws, log, deadline_seconds: deadlineSeconds }, format, encoder) {
  const wanted = seen[seat].map(told).filter((each) => each !== null);
  const simulation = begun(input, format.id);
  const battle = new LiveBattle(id, format, encoder, { simulation, lines, states, draws, log, deadlineSeconds });
  try {
    const choices = input.filter((line) => /^>p[12] /.test(line)).values();
    battle.observe();
    while (!isThere(battle, seat, wanted)) {
      const next = choices.next();
      if (next.done) throw new BattleFailure("bad_start", "the input log ends before the position");
      const index = next.value.charCodeAt(2) - 0x31;
      const chosen = battle.seats[index];
      if (!chosen.request || !simulation.choose(SIDES[index], next.value.slice(4))) {
        throw new BattleFailure("bad_start", `the input log has ${next.value}, which cannot be chosen there`);
      }
      chosen.request = null;
      battle.numOpen--;
      if (battle.numOpen === 0) battle.observe();
    }
  } catch (error) {
    battle.destroy();
    throw error instanceof BattleFailure ? error : BattleFailure.from("bad_start", error);
  }
  battle.firstLine = simulation.log.length;
  simulation.prng = new PRNG(simulatorSeed(seed));
  return battle;
}

/** @param {readonly string[]} input @param {string} formatId @returns {LiveBattle["simulation"]} before the first choice */
function begun(input, formatId) {
  try {
    const start = JSON.parse(input.find((line) => line.startsWith(">start "))?.slice(7) ?? "{}");
    if (start.formatid !== formatId || !start.seed) throw new Error(`its start is ${JSON.stringify(start)}`);
    const simulation = new Battle({ formatid: formatId, seed: start.seed });
    SIDES.forEach((side, index) => {
      const player = JSON.parse(input.find((line) => line.startsWith(`>player ${side} `))?.slice(11) ?? "{}");
      if (!player.team && !player.seed) throw new Error(`it has no team of ${side}`);
      simulation.setPlayer(side, { name: NAMES[index], team: player.team, seed: player.seed });
    });
    return simulation;
  } catch (error) {
    throw new BattleFailure("bad_start", `the input log begins no battle of ${formatId}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * @param {LiveBattle} battle
 * @param {number} seat
 * @param {readonly string[]} wanted what happened until the position
 * @returns {boolean} whether the battle is at the position
 * @throws {BattleFailure} it is past it, or has gone another way
 */
function isThere(battle, seat, wanted) {
  const log = battle.simulation.log.filter((_, at, all) => !all[at - 2]?.startsWith("|split|"));
  const happened = log.map(told).filter((each) => each !== null);
  const at = happened.findIndex((each, index) => index >= wanted.length || each !== wanted[index]);
  if (at >= 0 || battle.ended) {
    throw new BattleFailure("bad_start", `the input log plays another battle than the log: ${happened[at] ?? "the end"}, expected ${wanted[at] ?? "no more"}`);
  }
  return happened.length === wanted.length && battle.seats[seat].request !== null;
}

/** @param {string} line @returns {string | null} what happened, the same for whoever sees it; null for other lines */
function told(line) {
  const fields = line.split("|");
  const kept = TELLING.get(fields[1]);
  return kept === undefined ? null : fields.slice(1, kept).join("|");
}
