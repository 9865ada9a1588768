/** Lines about items, abilities, gimmicks, the field, the sides and the turn. */
import { sideOf, slotOf, foeOf, find, tagged, hasTag, showAbility, showItem, loseItem, showCause } from "./common.js";
import { absorbed, lapse } from "./moves.js";
import { TERRAINS, WEATHERS, effectId } from "../field.js";

/** @typedef {import("./common.js").Handler} Handler */
/** @typedef {import("../tracker.js").Tracker} Tracker */

/** By type of line. @type {Map<string, Handler>} */
export const handlers = new Map();

/** Turns of the longest rampage, such as Outrage, from the second generation on. */
const MOST_RAMPAGE_TURNS = 3;

const SWAPS = new Set(["move: Trick", "move: Switcheroo"]);

handlers.set("-item", (tracker, parts) => {
  const from = tagged(parts, "[from] ");
  const of = tagged(parts, "[of] ");
  const ident = parts[2] || (from === "ability: Frisk" && of && friskedBy(tracker, of)) || "";
  if (!ident) return;
  const pokemon = find(tracker, ident);
  if (!pokemon) return;
  // A herb that takes effect as it is swapped in is reported as used before it is reported as swapped.
  if (!SWAPS.has(from)) pokemon.lostItem = 0;
  showItem(tracker, ident, parts[3]);
  if (from === "ability: Frisk") showAbility(tracker, of, "Frisk");
  else if (from.startsWith("ability: ")) showAbility(tracker, ident, from.slice(9));
  if (of && from !== "ability: Frisk") loseItem(find(tracker, of), 0);
});

/**
 * The fourth and fifth generations do not say which item Frisk has seen.
 * @param {Tracker} tracker
 * @param {string} ident of the Pokémon with Frisk
 * @returns {string} the slot of its only opponent, as lines name it; "" where it has two
 */
function friskedBy(tracker, ident) {
  showAbility(tracker, ident, "Frisk");
  const foe = foeOf(tracker, sideOf(tracker, ident));
  const active = foe.slots.filter(({ pokemon }) => pokemon && !pokemon.fainted);
  if (active.length !== 1) return "";
  return `p${tracker.sides.indexOf(foe) + 1}${"ab"[foe.slots.indexOf(active[0])]}: ${active[0].pokemon?.name}`;
}

handlers.set("-enditem", (tracker, parts) => {
  // The effect of a berry that was eaten before, or flung.
  if (parts[3] === "Micle Berry" && parts.length === 4) return;
  loseItem(find(tracker, parts[2]), tracker.dexInfo.items.of(parts[3]));
});

handlers.set("-ability", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  if (!pokemon) return;
  const { abilities } = tracker.dexInfo;
  const ability = abilities.of(parts[3]);
  if (parts[4] === "boost") absorbed(tracker, ident, parts[3]);
  if (parts[3] === "Neutralizing Gas") tracker.setGas(true);
  // As One announces its two parts by their names.
  if (!ability || abilities.ids[pokemon.ability].startsWith("asone")) return;
  const from = tagged(parts, "[from] ");
  if (from === "ability: Trace") showAbility(tracker, tagged(parts, "[of] "), parts[3]);
  if (/^(ability|move): /.test(from)) {
    const old = abilities.of(parts[4] ?? "");
    const slot = side.slotOf(ident);
    if (pokemon.ability === 0 && slot.ability < 0 && old) pokemon.ability = old;
    if (pokemon === slot.pokemon) slot.ability = ability;
  } else {
    showAbility(tracker, ident, parts[3]);
  }
});

handlers.set("-endability", (tracker, parts) => {
  slotOf(tracker, parts[2]).volatiles[tracker.n.gastroacid] = 1;
});

handlers.set("-terastallize", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  side.usedTera = true;
  if (!pokemon) return;
  pokemon.tera = tracker.dexInfo.types.of(parts[3]);
  pokemon.terastallized = true;
  side.slotOf(parts[2]).addedType = 0;
});

/** @type {Handler} */
function mega(tracker, parts) {
  sideOf(tracker, parts[2]).usedMega = true;
  showItem(tracker, parts[2], parts[4] ?? "");
}
handlers.set("-mega", mega);
handlers.set("-burst", mega);
handlers.set("-primal", (tracker, parts) => showItem(tracker, parts[2], parts[3] ?? ""));
handlers.set("-zpower", (tracker, parts) => {
  sideOf(tracker, parts[2]).usedZMove = true;
});

handlers.set("-weather", (tracker, parts) => {
  const id = effectId(parts[2]);
  const weather = id === "snow" ? WEATHERS.indexOf("snowscape") : Math.max(0, WEATHERS.indexOf(id));
  if (weather !== tracker.weather) tracker.weatherSince = tracker.turn;
  else if (!hasTag(parts, "[upkeep]")) tracker.weatherSince = tracker.turn;
  tracker.weather = weather;
  if (parts.length > 3) showCause(tracker, parts, tagged(parts, "[of] "));
});

handlers.set("-fieldstart", (tracker, parts) => {
  const id = effectId(parts[2]);
  const terrain = TERRAINS.indexOf(id);
  if (terrain > 0) {
    tracker.terrain = terrain;
    tracker.terrainSince = tracker.turn;
  } else {
    const room = tracker.rooms.of(parts[2]);
    if (room >= 0) tracker.roomSince[room] = tracker.turn + 1;
  }
  if (parts.length > 3) showCause(tracker, parts, tagged(parts, "[of] "));
});

handlers.set("-fieldend", (tracker, parts) => {
  if (TERRAINS.indexOf(effectId(parts[2])) > 0) {
    tracker.terrain = 0;
  } else {
    const room = tracker.rooms.of(parts[2]);
    if (room >= 0) tracker.roomSince[room] = 0;
  }
});

handlers.set("-sidestart", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const number = tracker.conditions.of(parts[3]);
  if (number < 0) return;
  if (side.layers[number] === 0) side.since[number] = tracker.turn;
  side.layers[number] = Math.min(side.layers[number] + 1, tracker.conditions.all[number].layers);
});

handlers.set("-sideend", (tracker, parts) => {
  const number = tracker.conditions.of(parts[3]);
  if (number >= 0) sideOf(tracker, parts[2]).layers[number] = 0;
});

handlers.set("-swapsideconditions", (tracker) => {
  const [first, second] = tracker.sides;
  [first.layers, second.layers] = [second.layers, first.layers];
  [first.since, second.since] = [second.since, first.since];
});

handlers.set("turn", (tracker, parts) => {
  tracker.turn = Number(parts[2]);
  tracker.passer = null;
  const isFirst = tracker.dexInfo.generation === 1;
  for (const side of tracker.sides) {
    for (const [position, slot] of side.slots.entries()) {
      const { pokemon, volatiles } = slot;
      slot.turns = Math.min(255, slot.turns + 1);
      lapse(tracker, slot);
      if (pokemon && pokemon.status === tracker.toxic) pokemon.statusTurns++;
      for (const v of tracker.volatiles.counting) if (volatiles[v] && volatiles[v] < 255) volatiles[v]++;
      // It only lasts for the next turn.
      if (volatiles[tracker.n.lockon] > 2) volatiles[tracker.n.lockon] = 0;
      // The confusion that ends a rampage may be prevented; sleep ends one, too.
      const isOver = volatiles[tracker.n.thrashing] >= MOST_RAMPAGE_TURNS || pokemon?.status === tracker.sleep;
      if (isOver && !isFirst) volatiles[tracker.n.thrashing] = 0;
      if (side.wishTurns[position] < tracker.turn) side.wishTurns[position] = 0;
      if (side.futureTurns[position] < tracker.turn) side.futureTurns[position] = 0;
    }
  }
});
