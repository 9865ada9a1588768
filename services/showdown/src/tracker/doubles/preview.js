/**
 * Team Preview in doubles, as joint actions of two switches. Where each player brings four of six, it takes two
 * decisions: the Pokémon that lead, then those that wait. Elsewhere only the leads are chosen, and the others keep their
 * order.
 */
import { NOWHERE } from "../request.js";
import { numSlotChoices, rowOf, switchTo } from "./slots.js";

/** @typedef {import("../tracker.js").Tracker} Tracker */

const NUM_ROWS = 6;

/** @param {Tracker} tracker @returns {boolean} whether the player also chooses which Pokémon wait */
function choosesBench({ request }) {
  const size = request?.side.pokemon.length ?? 0;
  return Math.min(request?.maxChosenTeamSize ?? size, size) === 4 && Boolean(request?.maxChosenTeamSize);
}

/** @param {Tracker} tracker @param {number} row */
const isFree = (tracker, row) => tracker.places[row] !== NOWHERE && !tracker.leads?.includes(row);

/** @param {Tracker} tracker @param {number} action @returns {[number, number]} the rows of a pair of switches */
function rowsOf(tracker, action) {
  const size = numSlotChoices(tracker.dexInfo.generation);
  return [rowOf(Math.floor(action / size)), rowOf(action % size)];
}

/**
 * Write the legal actions of a Team Preview, ascending.
 * @param {Tracker} tracker
 * @param {Uint16Array} actions
 * @param {number} at where to begin
 * @returns {number} how many
 */
export function writePreview(tracker, actions, at) {
  const size = numSlotChoices(tracker.dexInfo.generation);
  let num = at;
  for (let first = 0; first < NUM_ROWS; first++) {
    if (!isFree(tracker, first)) continue;
    for (let second = 0; second < NUM_ROWS; second++) {
      if (second !== first && isFree(tracker, second)) actions[num++] = size * switchTo(first) + switchTo(second);
    }
  }
  return num - at;
}

/**
 * Remember the leads if the player chooses the others, too.
 * @param {Tracker} tracker whose request asks for a team
 * @param {number} action a legal one
 * @returns {boolean} whether a second decision follows before there is a choice for the simulator
 */
export function keepLeads(tracker, action) {
  if (tracker.leads || !choosesBench(tracker)) return false;
  tracker.leads = rowsOf(tracker, action);
  return true;
}

/** @param {Tracker} tracker @param {number} action a legal one @returns {string} the simulator's choice; without the bench if that is still open */
export function previewText(tracker, action) {
  const rows = [...(tracker.leads ?? []), ...rowsOf(tracker, action)];
  if (!choosesBench(tracker)) {
    for (let row = 0; row < tracker.own.pokemon.length; row++) if (!rows.includes(row)) rows.push(row);
  }
  return `team ${rows.map((row) => tracker.places[row] + 1).join(", ")}`;
}
