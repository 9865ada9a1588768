/** Legal actions in words and numbers that a person chooses by. */

import { STATUSES } from "../../../showdown/src/simulator/dex.js";

/** @typedef {{table: import("../../../showdown/src/gateway/table.js").Table, battle: {seats: {tracker: import("../../../showdown/src/tracker/tracker.js").Tracker}[]}}} Seen a battle as its seats see it */

const MOVE = /^(?:(.+?)[ -])?move (\d)(?: at (own|foe) (\d))?$/;
const SWITCH = /^switch (\d)$/;

/**
 * @typedef {object} Part what one slot does
 * @property {"move" | "switch" | "pass"} kind
 * @property {string} name
 * @property {string} key equal for equal parts
 * @property {number} [row] of the own Pokémon
 * @property {string} [gimmick] such as terastallize
 * @property {string} [target] whom a move is aimed at in doubles
 * @property {string} [type]
 * @property {string} [category]
 * @property {number} [power]
 * @property {number | null} [accuracy] in percent; null: never misses
 * @property {number} [pp]
 * @property {number} [maxPp]
 * @property {number | null} [effect] multiplier against the foe; null where unknown
 * @property {string} [text] what it does
 * @property {number} [hp] share of a switch's Pokémon
 * @property {string} [status] of it; empty for none
 */

/**
 * @param {Seen} match
 * @param {number} seat
 * @param {Uint16Array} legal
 * @returns {{action: number, parts: Part[]}[]} one part a slot
 */
export function describe(match, seat, legal) {
  const { space } = match.table.encoder;
  const size = space.actions.length;
  return Array.from(legal, (action) => {
    const numbers = space.num_slots === 1 ? [action] : [Math.floor(action / size), action % size];
    return { action, parts: numbers.map((number, slot) => part(match, seat, slot, space.actions[number])) };
  });
}

/** @param {Seen} match @param {number} seat @param {number} slot @param {string} name @returns {Part} */
function part(match, seat, slot, name) {
  const switched = SWITCH.exec(name);
  if (switched) {
    const row = Number(switched[1]) - 1;
    const { name: called, hp, maxHp, status } = match.battle.seats[seat].tracker.own.pokemon[row];
    return { kind: "switch", name: called, key: name, row, hp: hp / maxHp, status: STATUSES[status] };
  }
  const used = MOVE.exec(name);
  if (!used) return { kind: "pass", name: "Pass", key: name };
  return { ...move(match, seat, slot, Number(used[2]) - 1, used[1]), key: name, target: aimed(match, seat, used[3], Number(used[4])) };
}

/** @param {Seen} match @param {number} seat @param {string | undefined} side @param {number} position @returns {string | undefined} */
function aimed(match, seat, side, position) {
  if (!side) return undefined;
  const { own, opponent } = match.battle.seats[seat].tracker;
  const from = side === "own" ? own : opponent;
  const row = from.slots[position - 1]?.row ?? -1;
  return row < 0 ? `${side} slot ${position}` : from.pokemon[row].name;
}

/** @param {Seen} match @param {number} seat @param {number} slot @param {number} number @param {string | undefined} gimmick @returns {Omit<Part, "key">} */
function move(match, seat, slot, number, gimmick) {
  const { tracker } = match.battle.seats[seat];
  const place = tracker.offers[slot].moveAt[number];
  const offered = /** @type {any} */ (tracker.request?.active?.[slot]?.moves?.[place]);
  const { dex } = match.table.encoder.dexInfo;
  const facts = dex.moves.get(offered?.id ?? "");
  // Fight and Recharge are no moves: a Pokémon that sleeps in gen 1, or that must recharge, has nothing else to use.
  if (!facts.exists) return { kind: "move", name: offered?.move ?? "Move", gimmick };
  const foe = tracker.opponent.slots[0].row;
  return {
    kind: "move", name: facts.name, gimmick, type: facts.type, category: facts.category, power: facts.basePower,
    accuracy: facts.accuracy === true ? null : facts.accuracy,
    pp: offered?.pp, maxPp: offered?.maxpp, text: facts.shortDesc || facts.desc || "",
    effect: facts.category === "Status" || foe < 0 || tracker.own.slots.length > 1 ? null : multiplier(match, facts.type, seat, foe),
  };
}

/** @param {Seen} match @param {string} type @param {number} seat @param {number} row of the foe @returns {number} */
function multiplier(match, type, seat, row) {
  const { dexInfo } = match.table.encoder;
  const types = new Uint8Array(3);
  match.battle.seats[seat].tracker.opponent.writeTypes(row, types);
  const log2 = dexInfo.multiplier(dexInfo.types.of(type), types[0], types[1], types[2]);
  return log2 < -6 ? 0 : 2 ** log2;
}
