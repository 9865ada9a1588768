/**
 * The meaning of each action number: which actions are legal under the tracker's request, and the simulator's text for
 * them. The numbers are poke-env's for singles: 0–5 switch to own row 0–5, 6–9 use the active Pokémon's moves in their
 * known order, then four each with Mega Evolution, Z-move, Dynamax and Terastallization, if the generation has them. A
 * single move that is not one of the Pokémon's own (Struggle, a recharge) is action 6. In Team Preview, a switch names
 * the leader.
 */
import { isTrapped } from "./trap.js";
import { ASKS_MOVE, ASKS_NOTHING, ASKS_SWITCH, ASKS_TEAM, NOWHERE } from "./request.js";

/** @typedef {import("./tracker.js").Tracker} Tracker */

const NUM_SWITCHES = 6;
const NUM_MOVES = 4;
/** Groups of four actions: the simulator's suffix for a move, and the generation that introduced the group. */
export const GROUPS = [
  { suffix: "", name: "move", since: 1 },
  { suffix: " mega", name: "mega move", since: 6 },
  { suffix: " zmove", name: "z-move", since: 7 },
  { suffix: " dynamax", name: "dynamax move", since: 8 },
  { suffix: " terastallize", name: "terastallize move", since: 9 },
];
export const PLAIN = 0;
const MEGA = 1;
export const Z_MOVE = 2;
export const DYNAMAX = 3;

/** @param {number} generation @returns {string[]} the actions' names */
export function actionNames(generation) {
  const names = [];
  for (let row = 1; row <= NUM_SWITCHES; row++) names.push(`switch ${row}`);
  for (const group of GROUPS) {
    if (group.since > generation) continue;
    for (let move = 1; move <= NUM_MOVES; move++) names.push(`${group.name} ${move}`);
  }
  return names;
}

/** @param {Tracker} tracker @param {number} row @returns {boolean} whether a switch to the own row is legal */
function canSwitch(tracker, row) {
  const { own } = tracker;
  if (row >= own.pokemon.length || tracker.places[row] === NOWHERE) return false;
  if (tracker.asks === ASKS_TEAM) return true;
  if (tracker.asks === ASKS_SWITCH && tracker.reviving) return own.pokemon[row].fainted;
  if (row === own.active || own.pokemon[row].fainted) return false;
  return tracker.asks === ASKS_SWITCH || !isTrapped(tracker, 0);
}

/** @param {import("./request.js").RequestedActive} active @returns {boolean} whether the Pokémon is dynamaxed: then it has Max moves, and cannot dynamax */
export function isDynamaxed(active) {
  return Boolean(active.maxMoves) && !active.canDynamax;
}

/**
 * @param {Tracker} tracker
 * @param {number} position of the own slot
 * @param {number} group index in GROUPS
 * @param {number} m index of the move
 * @returns {boolean} whether the slot may use the move in this way
 */
export function canMove(tracker, position, group, m) {
  const active = tracker.request?.active?.[position];
  const { usable, moveAt, lone } = tracker.offers[position];
  if (tracker.asks !== ASKS_MOVE || !active || moveAt[m] === NOWHERE) return false;
  switch (group) {
    case PLAIN:
      if (isDynamaxed(active) && !lone) return !active.maxMoves?.maxMoves[moveAt[m]]?.disabled;
      return usable[m] === 1;
    case MEGA:
      return Boolean(active.canMegaEvo) && usable[m] === 1 && !lone;
    case Z_MOVE:
      return Boolean(active.canZMove?.[moveAt[m]]) && usable[m] === 1;
    case DYNAMAX:
      // What locks the Pokémon into a move, or disables one, does not bind it while dynamaxed; the list of Max moves is exact.
      return Boolean(active.canDynamax) && !lone && !active.maxMoves?.maxMoves[moveAt[m]]?.disabled;
    default:
      return Boolean(active.canTerastallize) && usable[m] === 1 && !lone;
  }
}

/** @param {Tracker} tracker @param {number} action @returns {boolean} */
function isLegal(tracker, action) {
  if (action < NUM_SWITCHES) return canSwitch(tracker, action);
  return canMove(tracker, 0, (action - NUM_SWITCHES) >> 2, (action - NUM_SWITCHES) & 3);
}

/** @param {number} generation */
export function numActions(generation) {
  let groups = 0;
  for (const { since } of GROUPS) if (since <= generation) groups++;
  return NUM_SWITCHES + NUM_MOVES * groups;
}

/**
 * @param {Tracker} tracker
 * @param {Uint16Array} legal
 * @param {number} at where to write the legal actions, in ascending order
 * @returns {number} of them; 0 only if the request asks for nothing
 */
export function writeLegal(tracker, legal, at) {
  if (tracker.asks === ASKS_NOTHING) return 0;
  let to = at;
  for (let row = 0; row < NUM_SWITCHES; row++) if (canSwitch(tracker, row)) legal[to++] = row;
  if (tracker.asks === ASKS_MOVE) {
    const size = numActions(tracker.dexInfo.generation);
    for (let action = NUM_SWITCHES; action < size; action++) {
      if (canMove(tracker, 0, (action - NUM_SWITCHES) >> 2, (action - NUM_SWITCHES) & 3)) legal[to++] = action;
    }
  }
  if (to === at) {
    throw new Error(`no legal action in a request that asks for a choice: ${JSON.stringify(tracker.request)}`);
  }
  return to - at;
}

/**
 * @param {Tracker} tracker
 * @param {number} action
 * @returns {string} the choice for the simulator
 * @throws {RangeError} for an action that is not legal now
 */
export function choiceOf(tracker, action) {
  const size = numActions(tracker.dexInfo.generation);
  if (!Number.isInteger(action) || action < 0 || action >= size || !isLegal(tracker, action)) {
    throw new RangeError(`action ${action} is not legal now: legal are ${Object.keys(legalChoices(tracker)).join(", ") || "none"}`);
  }
  if (action >= NUM_SWITCHES) {
    const group = GROUPS[(action - NUM_SWITCHES) >> 2];
    return `move ${tracker.offers[0].moveAt[(action - NUM_SWITCHES) & 3] + 1}${group.suffix}`;
  }
  const place = tracker.places[action] + 1;
  if (tracker.asks !== ASKS_TEAM) return `switch ${place}`;
  const rest = Array.from(tracker.own.pokemon, (_, row) => tracker.places[row] + 1).filter((other) => other !== place);
  return `team ${[place, ...rest].join(", ")}`;
}

/** @param {Tracker} tracker @returns {Record<string, string>} the choice by legal action */
export function legalChoices(tracker) {
  /** @type {Record<string, string>} */
  const choices = {};
  if (tracker.asks === ASKS_NOTHING) return choices;
  const size = numActions(tracker.dexInfo.generation);
  for (let action = 0; action < size; action++) {
    if (isLegal(tracker, action)) choices[action] = choiceOf(tracker, action);
  }
  return choices;
}
