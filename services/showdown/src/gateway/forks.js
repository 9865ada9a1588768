/** Forks of running battles: exact copies, or worlds that one seat cannot tell from the battle. */
import { LiveBattle } from "./battle.js";
import { ProtocolError } from "./protocol/messages.js";
import { ownLines } from "../search/lines.js";
import { Worlds } from "../search/worlds.js";
import { forkBattle } from "../simulator/fork.js";
import { copyTracker } from "../tracker/copy.js";
import { Tracker } from "../tracker/tracker.js";

/** @typedef {import("./protocol/generated/message_types.js").Fork} Fork */
/** @typedef {import("./searches.js").Searches} Searches */

/**
 * @param {Map<number, LiveBattle>} battles that run
 * @param {Fork} message
 * @param {Searches} searches whose prior draws what the seat has not seen
 * @returns {LiveBattle} whose decisions are due
 * @throws {ProtocolError} this battle cannot be forked now, or not for this seat
 * @throws {import("./battle.js").BattleFailure}
 */
export function fork(battles, { battle, fork: id, seat, seed, teams, deadline_seconds: deadlineSeconds }, searches) {
  const source = battles.get(battle);
  if (!source) throw new ProtocolError("bad_message", `fork: battle ${battle} does not run`);
  if (battles.has(id) || searches.tracked.has(id)) throw new ProtocolError("bad_message", `fork: battle ${id} runs already`);
  const trackers = source.seats.map(({ tracker }) => tracker);
  if (source.numOpen !== numAsked(source)) {
    throw new ProtocolError("bad_message", `fork: one seat of battle ${battle} has chosen and the other has not; fork before both choose`);
  }
  if (seat === null) {
    const copies = /** @type {[Tracker, Tracker]} */ (trackers.map(copyTracker));
    return LiveBattle.fork(id, source, forkBattle(source.simulation, seed), copies, deadlineSeconds);
  }
  if (!source.seats[seat].request) {
    throw new ProtocolError("bad_message", `fork: seat ${seat} of battle ${battle} has nothing to choose; fork at one of its decisions`);
  }
  const prior = searches.priorOf("fork", teams);
  const world = new Worlds(trackers[seat], prior, source.encoder.dexInfo.dex).draw(seed, { isSilent: false });
  const own = copyTracker(trackers[seat]);
  const foe = new Tracker(source.encoder.dexInfo, 1 - seat);
  // A spectator's view, which holds nobody's secrets.
  for (const line of ownLines(source.simulation.log, -1)) foe.readLine(line);
  return LiveBattle.fork(id, source, world, seat === 0 ? [own, foe] : [foe, own], deadlineSeconds);
}

/** @param {LiveBattle} battle @returns {number} seats that its simulator asks now */
function numAsked({ simulation }) {
  return simulation.sides.filter(({ activeRequest }) => activeRequest && !activeRequest.wait).length;
}
