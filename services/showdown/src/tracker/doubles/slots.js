/**
 * The choices of one own slot in doubles, in poke-env's numbering: 0 passes, 1 to 6 switch to own row 0 to 5, and
 * 7 + 20 · group + 5 · move + (target + 2) uses a move, where a group is a gimmick and the target is -2 or -1 for the
 * own slots, 0 for none, and 1 or 2 for the opponent's. Generations without a gimmick have fewer numbers.
 */
import { DYNAMAX, GROUPS, Z_MOVE, canMove, isDynamaxed } from "../actions.js";
import { ASKS_MOVE, ASKS_SWITCH, NOWHERE } from "../request.js";
import { isTrapped } from "../trap.js";

/** @typedef {import("../tracker.js").Tracker} Tracker */

export const PASS = 0;
const FIRST_SWITCH = 1;
const NUM_ROWS = 6;
export const FIRST_MOVE = FIRST_SWITCH + NUM_ROWS;
const NUM_MOVES = 4;
const NUM_TARGETS = 5;
/** Numbers of one group: four moves with five targets each. */
const GROUP_SIZE = NUM_MOVES * NUM_TARGETS;
/** Names of the targets -2 to 2. */
const TARGET_NAMES = [" at own 2", " at own 1", "", " at foe 1", " at foe 2"];

const NO_TARGET = Object.freeze([0]);
const FOES = Object.freeze([1, 2]);
const BOTH_OWN = Object.freeze([-2, -1]);
/** By own position. */
const ALLY = [Object.freeze([-2]), Object.freeze([-1])];
const ANY_OTHER = [Object.freeze([-2, 1, 2]), Object.freeze([-1, 1, 2])];

/** By generation: how many numbers a slot's choices have. */
const NUM_CHOICES = Array.from({ length: 10 }, (_, generation) => FIRST_MOVE + GROUP_SIZE * GROUPS.filter(({ since }) => since <= generation).length);

/** @param {number} generation @returns {number} how many numbers a slot's choices have; a joint action is `first * this + second` */
export function numSlotChoices(generation) {
  return NUM_CHOICES[generation];
}

/** @param {number} generation @returns {string[]} names of a slot's choices */
export function slotChoiceNames(generation) {
  const names = ["pass"];
  for (let row = 1; row <= NUM_ROWS; row++) names.push(`switch ${row}`);
  for (const { name, since } of GROUPS) {
    if (since > generation) continue;
    for (let move = 1; move <= NUM_MOVES; move++) names.push(...TARGET_NAMES.map((target) => `${name} ${move}${target}`));
  }
  return names;
}

/** @param {number} choice a number of a slot's choice @returns {boolean} */
export function isSwitch(choice) {
  return choice >= FIRST_SWITCH && choice < FIRST_MOVE;
}

/** @param {number} choice @returns {number} its gimmick as an index in GROUPS; 0 for none */
export function gimmickOf(choice) {
  return choice < FIRST_MOVE ? 0 : Math.floor((choice - FIRST_MOVE) / GROUP_SIZE);
}

/** @param {number} row of the own team @returns {number} the choice to switch to it */
export function switchTo(row) {
  return FIRST_SWITCH + row;
}

/** @param {number} choice a switch @returns {number} row of the own team */
export function rowOf(choice) {
  return choice - FIRST_SWITCH;
}

/** @param {number} group index in GROUPS @param {number} move index of the move @param {number} target -2 to 2 @returns {number} */
export function useMove(group, move, target) {
  return FIRST_MOVE + GROUP_SIZE * group + NUM_TARGETS * move + target + 2;
}

/**
 * @param {string | undefined} kind the simulator's kind of target
 * @param {number} position of the user
 * @returns {readonly number[]} the targets that its user chooses from, ascending
 */
function targetsOf(kind, position) {
  switch (kind) {
    case "normal":
    case "any":
      return ANY_OTHER[position];
    case "adjacentFoe":
      return FOES;
    case "adjacentAlly":
      return ALLY[position];
    case "adjacentAllyOrSelf":
      return BOTH_OWN;
    default:
      return NO_TARGET;
  }
}

/** @param {Tracker} tracker @param {number} position @param {number} group @param {number} m index of the move @returns {string | undefined} */
function targetKind(tracker, position, group, m) {
  const active = tracker.request?.active?.[position];
  const place = tracker.offers[position].moveAt[m];
  if (group === Z_MOVE) return active?.canZMove?.[place]?.target;
  if (active && (group === DYNAMAX || isDynamaxed(active))) return active.maxMoves?.maxMoves[place]?.target;
  return active?.moves[place]?.target;
}

/**
 * Write the choices that are legal for one slot by itself, ascending.
 * @param {Tracker} tracker
 * @param {number} position
 * @param {Uint8Array} choices room for all of them
 * @returns {number} how many; 0 if the request asks this slot for nothing
 */
export function writeSlotChoices(tracker, position, choices) {
  const entry = tracker.request?.side.pokemon[position];
  if (tracker.asks === ASKS_SWITCH) return writeForced(tracker, position, choices);
  if (tracker.asks !== ASKS_MOVE) return 0;
  if (!entry?.active || entry.commanding || entry.condition?.endsWith(" fnt")) {
    choices[0] = PASS;
    return 1;
  }
  let num = 0;
  if (!isTrapped(tracker, position)) {
    for (let row = 0; row < NUM_ROWS; row++) if (isOnBench(tracker, row)) choices[num++] = switchTo(row);
  }
  for (let group = 0; group < GROUPS.length; group++) {
    if (GROUPS[group].since > tracker.dexInfo.generation) continue;
    for (let m = 0; m < NUM_MOVES; m++) {
      if (!canMove(tracker, position, group, m)) continue;
      for (const target of targetsOf(targetKind(tracker, position, group, m), position)) choices[num++] = useMove(group, m, target);
    }
  }
  return num;
}

/** @param {Tracker} tracker @param {number} row @returns {boolean} whether the own Pokémon waits on the bench and can fight */
export function isOnBench(tracker, row) {
  const place = tracker.places[row];
  return place !== NOWHERE && place >= tracker.own.slots.length && !tracker.own.pokemon[row].fainted;
}

/** A forced switch, or a pass where too few wait on the bench. @param {Tracker} tracker @param {number} position @param {Uint8Array} choices */
function writeForced(tracker, position, choices) {
  choices[0] = PASS;
  if (!tracker.request?.forceSwitch?.[position]) return 1;
  const isReviving = Boolean(tracker.request.side.pokemon[position]?.reviving);
  let num = 1;
  for (let row = 0; row < NUM_ROWS; row++) {
    const isTarget = isReviving ? tracker.places[row] !== NOWHERE && tracker.own.pokemon[row].fainted : isOnBench(tracker, row);
    if (isTarget) choices[num++] = switchTo(row);
  }
  return num;
}

/**
 * @param {Tracker} tracker
 * @param {number} position
 * @param {number} choice a legal choice of the slot
 * @returns {string} its part of the simulator's choice
 */
export function slotText(tracker, position, choice) {
  if (choice === PASS) return "pass";
  if (isSwitch(choice)) return `switch ${tracker.places[rowOf(choice)] + 1}`;
  const number = (choice - FIRST_MOVE) % GROUP_SIZE;
  const place = tracker.offers[position].moveAt[Math.floor(number / NUM_TARGETS)] + 1;
  const target = (number % NUM_TARGETS) - 2;
  return `move ${place}${GROUPS[gimmickOf(choice)].suffix}${target ? ` ${target}` : ""}`;
}
