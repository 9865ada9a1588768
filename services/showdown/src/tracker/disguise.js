/**
 * Disguises (Illusion). Until one ends, its wearer counts as the Pokémon that it looks like. In doubles, both can be on the
 * field at once; then each slot has a state of its own until one of them is seen through or leaves.
 */
import { TrackedPokemon } from "./side.js";

/** @typedef {import("./tracker.js").Tracker} Tracker */
/** @typedef {import("./slot.js").ActiveSlot} ActiveSlot */

/**
 * A Pokémon comes in that another slot already shows: the one who is there keeps what it has shown since it came in, and
 * the newcomer begins where the Pokémon was before.
 * @param {ActiveSlot} slot of the newcomer
 * @param {number} row of the Pokémon that both look like
 */
export function separateTwins(slot, row) {
  const { slots, pokemon } = slot.side;
  const there = slots.find((other) => other !== slot && other.row === row);
  if (!there || !there.pokemon || there.pokemon.fainted) return;
  there.double = new TrackedPokemon(pokemon[row].name);
  assign(there.double, pokemon[row]);
  pokemon[row].restore();
}

/**
 * If another slot shows the same Pokémon, that one alone is left.
 * @param {import("./side.js").TrackedSide} side
 * @param {number} row of the Pokémon
 */
export function rejoinTwin(side, row) {
  for (const other of side.slots) {
    if (other.row !== row || !other.double) continue;
    assign(side.pokemon[row], other.double);
    other.double = null;
  }
}

/** @param {any} to @param {any} from whose properties are copied */
function assign(to, from) {
  for (const [key, value] of Object.entries(from)) {
    if (ArrayBuffer.isView(value)) to[key].set(value);
    else if (key === "before") assign(to.before, value);
    else to[key] = value;
  }
}

/**
 * The active Pokémon is another in disguise: the wearer takes over everything that was seen since it came in, and
 * the Pokémon that it looked like returns to its state before.
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 * @param {number} row of the wearer
 */
export function unmask(tracker, slot, row) {
  const worn = slot.pokemon;
  const wearer = slot.side.pokemon[row];
  const shown = slot.row;
  slot.row = row;
  if (!worn || worn === wearer) return;
  const { before } = worn;
  wearer.hp = worn.hp;
  wearer.maxHp = worn.maxHp;
  wearer.status = worn.status;
  wearer.statusTurns = worn.statusTurns;
  wearer.resting = worn.resting;
  wearer.fainted = worn.fainted;
  if (worn.itemKnown && !(before.itemKnown && before.item === worn.item)) {
    wearer.item = worn.item;
    wearer.itemKnown = worn.itemKnown;
    wearer.lostItem = worn.lostItem;
  }
  if (worn.terastallized && !before.terastallized) {
    wearer.tera = worn.tera;
    wearer.terastallized = true;
  }
  for (let m = 0; m < worn.numMoves; m++) {
    const had = m < before.numMoves ? before.pp[m] : tracker.dexInfo.movePp[worn.moves[m]];
    const spent = had - worn.pp[m];
    if (m < before.numMoves && spent <= 0) continue;
    const place = tracker.learn(wearer, worn.moves[m]);
    if (place >= 0) wearer.pp[place] = Math.max(0, wearer.pp[place] - Math.max(0, spent));
  }
  if (slot.double) {
    slot.double = null;
    return;
  }
  worn.restore();
  rejoinTwin(slot.side, shown);
}
