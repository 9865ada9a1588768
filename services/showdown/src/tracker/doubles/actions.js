/**
 * Joint actions in doubles: `first * N + second`, where each slot's choice is one of N numbers. The legal pairs are exactly
 * those that the simulator accepts, as far as the player can know.
 */
import { ASKS_NOTHING, ASKS_SWITCH, ASKS_TEAM } from "../request.js";
import { keepLeads, previewText, writePreview } from "./preview.js";
import { PASS, gimmickOf, isOnBench, isSwitch, numSlotChoices, slotText, writeSlotChoices } from "./slots.js";

/** @typedef {import("../tracker.js").Tracker} Tracker */

/** Bound of the legal actions: each slot has at most four switches, and three targets for four moves in five groups. */
const MOST_LEGAL = (4 + 3 * 4 * 5) ** 2;

const first = new Uint8Array(128);
const second = new Uint8Array(128);
const listed = new Uint16Array(MOST_LEGAL);

/**
 * Write the legal actions, ascending.
 * @param {Tracker} tracker
 * @param {Uint16Array} actions
 * @param {number} at where to begin
 * @returns {number} how many; 0 only if the request asks for nothing
 */
export function writeLegal(tracker, actions, at) {
  if (tracker.asks === ASKS_NOTHING) return 0;
  if (tracker.asks === ASKS_TEAM) return writePreview(tracker, actions, at);
  const numFirst = writeSlotChoices(tracker, 0, first);
  const numSecond = writeSlotChoices(tracker, 1, second);
  const size = numSlotChoices(tracker.dexInfo.generation);
  const numPasses = tracker.asks === ASKS_SWITCH ? passesOf(tracker) : 0;
  let num = at;
  for (let i = 0; i < numFirst; i++) {
    for (let j = 0; j < numSecond; j++) {
      const fits = tracker.asks === ASKS_SWITCH
        ? fitsForced(tracker, first[i], second[j], numPasses)
        : fitsMoves(first[i], second[j]);
      if (fits) actions[num++] = size * first[i] + second[j];
    }
  }
  if (num === at) {
    throw new Error(`no legal action in a request that asks for a choice: ${JSON.stringify(tracker.request)}`);
  }
  return num - at;
}

/** @param {number} a @param {number} b @returns {boolean} whether two slots may do this in one turn */
function fitsMoves(a, b) {
  if (isSwitch(a) && a === b) return false;
  const gimmick = gimmickOf(a);
  return gimmick === 0 || gimmick !== gimmickOf(b);
}

/** @param {Tracker} tracker @returns {number} how many of the slots that must switch have nobody to switch to */
function passesOf(tracker) {
  let numForced = 0;
  for (const isForced of tracker.request?.forceSwitch ?? []) if (isForced) numForced++;
  let numWaiting = 0;
  for (let row = 0; row < tracker.own.pokemon.length; row++) if (isOnBench(tracker, row)) numWaiting++;
  return Math.max(0, numForced - numWaiting);
}

/** @param {Tracker} tracker @param {number} a @param {number} b @param {number} numPasses most passes of slots that must switch */
function fitsForced(tracker, a, b, numPasses) {
  const forced = tracker.request?.forceSwitch ?? [];
  const passes = Number(forced[0] && a === PASS) + Number(forced[1] && b === PASS);
  if (passes > numPasses || (isSwitch(a) && a === b)) return false;
  // Whoever revives needs nobody on the bench; for the others, one who waits can only replace one.
  const entries = tracker.request?.side.pokemon;
  let numSwitches = 0;
  if (isSwitch(a) && !entries?.[0]?.reviving) numSwitches++;
  if (isSwitch(b) && !entries?.[1]?.reviving) numSwitches++;
  const numForced = Number(Boolean(forced[0])) + Number(Boolean(forced[1]));
  return numSwitches <= numForced - numPasses;
}

/**
 * @param {Tracker} tracker
 * @param {number} action
 * @returns {string} the choice for the simulator
 * @throws {RangeError} for an action that is not legal now
 */
export function choiceOf(tracker, action) {
  checkLegal(tracker, action);
  return textOf(tracker, action);
}

/**
 * Take an action that is only the first half of a choice: the leads of a team whose bench is chosen, too.
 * @param {Tracker} tracker
 * @param {number} action
 * @returns {boolean} whether it was; the same request then asks for the second half
 * @throws {RangeError} for an action that is not legal now
 */
export function takeHalf(tracker, action) {
  if (tracker.asks !== ASKS_TEAM) return false;
  checkLegal(tracker, action);
  return keepLeads(tracker, action);
}

/** @param {Tracker} tracker @param {number} action */
function checkLegal(tracker, action) {
  const num = writeLegal(tracker, listed, 0);
  if (!listed.subarray(0, num).includes(action)) {
    throw new RangeError(`action ${action} is not legal now: ${num} are, such as ${listed.subarray(0, Math.min(num, 5)).join(", ") || "none"}`);
  }
}

/** @param {Tracker} tracker @param {number} action a legal one @returns {string} */
function textOf(tracker, action) {
  if (tracker.asks === ASKS_TEAM) return previewText(tracker, action);
  const size = numSlotChoices(tracker.dexInfo.generation);
  return `${slotText(tracker, 0, Math.floor(action / size))}, ${slotText(tracker, 1, action % size)}`;
}

/** @param {Tracker} tracker @returns {Record<string, string>} the choice by legal action */
export function legalChoices(tracker) {
  const actions = new Uint16Array(MOST_LEGAL);
  const num = writeLegal(tracker, actions, 0);
  return Object.fromEntries(Array.from(actions.subarray(0, num), (action) => [action, textOf(tracker, action)]));
}
