/** Battles that begin within another: exact copies of one that runs, or worlds that one seat cannot tell from it. */
import { BattleFailure, LiveBattle } from "./battle.js";
import { ProtocolError } from "./protocol/messages.js";
import { replay } from "./replaying.js";
import { ownLines } from "../search/lines.js";
import { NoWorld, Worlds } from "../search/worlds.js";
import { forkBattle } from "../simulator/fork.js";
import { copyTracker } from "../tracker/copy.js";
import { Tracker } from "../tracker/tracker.js";

/** @typedef {import("./protocol/generated/message_types.js").Fork} Fork */
/** @typedef {import("./protocol/generated/message_types.js").Resume} Resume */
/** @typedef {import("./searches.js").Searches} Searches */

const MOST_POKEMON = 6;

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
  // A spectator's view, which holds nobody's secrets.
  const foe = trackerOf(source.encoder, world, 1 - seat, ownLines(source.simulation.log, -1));
  return LiveBattle.fork(id, source, world, seat === 0 ? [own, foe] : [foe, own], deadlineSeconds);
}

/**
 * @param {Resume} message
 * @param {Searches} searches whose prior draws what the seat has not seen
 * @returns {LiveBattle} whose decisions are due
 * @throws {ProtocolError} nobody can draw worlds of this format
 * @throws {BattleFailure} the position cannot be rebuilt
 */
export function resume(message, searches) {
  const { battle: id, seat, seen, request, seed, teams, lines, states, draws, log, deadline_seconds: deadlineSeconds } = message;
  const { format, encoder } = searches;
  if (request.wait) throw new ProtocolError("bad_message", `resume: the request of seat ${seat} of battle ${id} asks for nothing`);
  if (message.input.length > 0) return replay(message, format, encoder);
  const prior = searches.priorOf("resume", teams);
  let trackers;
  /** @type {LiveBattle["simulation"]} */
  let world;
  try {
    const known = new Tracker(encoder.dexInfo, seat);
    known.readRequest(/** @type {any} */ ({ wait: true, side: request.side }));
    for (const line of seen[seat]) known.readLine(line);
    known.readRequest(/** @type {any} */ (request));
    world = new Worlds(known, prior, encoder.dexInfo.dex, teamSize(seen[seat], seat)).draw(seed, { isSilent: false });
    trackers = /** @type {[Tracker, Tracker]} */ ([0, 1].map((each) => trackerOf(encoder, world, each, seen[each])));
  } catch (error) {
    if (error instanceof NoWorld) throw new BattleFailure("bad_start", error.message);
    throw BattleFailure.from("tracker_error", error);
  }
  return LiveBattle.within(id, format, encoder, { simulation: world, trackers, lines, states, draws, log, deadlineSeconds, seen });
}

/**
 * @param {import("../encoder/encoder.js").Encoder} encoder
 * @param {LiveBattle["simulation"]} world
 * @param {number} seat
 * @param {Iterable<string>} lines that led to the world
 * @returns {Tracker} of a player who knew its own team before the first line
 */
function trackerOf(encoder, world, seat, lines) {
  const tracker = new Tracker(encoder.dexInfo, seat);
  const side = world.sides[seat];
  const own = side.getRequestData();
  // HP follows from the lines, and copied moves were not brought.
  const pokemon = own.pokemon.map((entry, at) => ({ ...entry, condition: undefined, moves: side.pokemon[at].baseMoveSlots.map(({ id }) => id) }));
  tracker.readRequest(/** @type {any} */ ({ wait: true, side: { ...own, pokemon } }));
  for (const line of lines) tracker.readLine(line);
  return tracker;
}

/** @param {string[]} lines @param {number} seat @returns {number} Pokémon of the seat's team, as the lines say */
function teamSize(lines, seat) {
  const line = lines.find((each) => each.startsWith(`|teamsize|p${seat + 1}|`));
  return line ? Number(line.split("|")[3]) : MOST_POKEMON;
}

/** @param {LiveBattle} battle @returns {number} seats that its simulator asks now */
function numAsked({ simulation }) {
  return simulation.sides.filter(({ activeRequest }) => activeRequest && !activeRequest.wait).length;
}
