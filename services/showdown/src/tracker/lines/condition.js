/** Lines about hit points, statuses and boosts. */
import { BOOSTS } from "../../simulator/dex.js";
import { copyCriticals, sideOf, slotOf, find, tagged, hasTag, loseItem, showCause, OF, SUBJECT } from "./common.js";
import { absorbed, bindInFirstGeneration, prevented } from "./moves.js";
import { KNOWN, statusOf } from "../side.js";

/** @typedef {import("./common.js").Handler} Handler */

/** By type of line. @type {Map<string, Handler>} */
export const handlers = new Map();

/** @type {Handler} */
function setHp(tracker, parts) {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setCondition(parts[3]);
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
}
handlers.set("-damage", (tracker, parts) => {
  if (hasTag(parts, "[from] item: Sticky Barb")) takeBarb(tracker, parts[2]);
  setHp(tracker, parts);
  if (!hasTag(parts, "[from] confusion")) return;
  const slot = slotOf(tracker, parts[2]);
  if (tracker.dexInfo.generation > 1) {
    prevented(tracker, slot);
  } else {
    slot.prepared = 0;
    slot.volatiles[tracker.n.bide] = 0;
    slot.volatiles[tracker.n.charging] = 0;
    slot.volatiles[tracker.n.hidden] = 0;
    slot.volatiles[tracker.n.thrashing] = 0;
    bindInFirstGeneration(tracker, sideOf(tracker, parts[2]), 0, true);
  }
});
handlers.set("-sethp", setHp);

/**
 * A Sticky Barb sticks without a line to the Pokémon without an item that touches its holder: the line that it hurts the
 * new holder shows who has lost it, if one other active Pokémon is known to hold one.
 * @param {import("../tracker.js").Tracker} tracker
 * @param {string} ident of the Pokémon that it hurts
 */
function takeBarb(tracker, ident) {
  const taker = find(tracker, ident);
  if (!taker || taker.itemKnown !== KNOWN || taker.item !== 0) return;
  const holders = tracker.sides.flatMap(({ slots }) => slots.flatMap(({ pokemon }) => pokemon ?? []))
    .filter(({ item }) => item === tracker.stickyBarb);
  if (holders.length === 1) loseItem(holders[0], 0);
  taker.item = tracker.stickyBarb;
}
handlers.set("-heal", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setCondition(parts[3]);
  if (parts.length === 4) return;
  const from = tagged(parts, "[from] ");
  if (from.startsWith("ability: ")) absorbed(tracker, parts[2], from.slice(9));
  // The tag "[of]" names the Pokémon whose move was absorbed, not the one whose ability heals, except for Hospitality.
  showCause(tracker, parts, parts[2], from === "ability: Hospitality" ? OF : SUBJECT, SUBJECT);
  if (from === "ability: Regenerator") tracker.regenerated = slotOf(tracker, parts[2]);
  if (from === "move: Wish") {
    const side = sideOf(tracker, parts[2]);
    side.wishTurns[side.positionOf(parts[2])] = 0;
  } else if (from === "move: Lunar Dance") {
    for (let m = 0; m < pokemon.numMoves; m++) pokemon.pp[m] = tracker.dexInfo.movePp[pokemon.moves[m]];
  }
});

handlers.set("-status", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setStatus(statusOf(parts[3]));
  pokemon.statusTurns = 0;
  pokemon.resting = hasTag(parts, "[from] move: Rest") ? 1 : 0;
  // In the first generation, sleep replaces the recharge.
  if (parts[3] === "slp" && tracker.dexInfo.generation === 1) slotOf(tracker, parts[2]).volatiles[tracker.n.recharge] = 0;
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
});

handlers.set("-curestatus", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  if (parts[3] === "confusion") slotOf(tracker, parts[2]).volatiles[tracker.n.confusion] = 0;
  else pokemon.setStatus(0);
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
});

handlers.set("-cureteam", (tracker, parts) => {
  for (const pokemon of sideOf(tracker, parts[2]).pokemon) {
    pokemon.setStatus(0);
    pokemon.listed = null;
  }
});

/** @param {Int8Array} boosts @param {string} stat @param {number} value */
function writeBoost(boosts, stat, value) {
  const i = BOOSTS.indexOf(stat);
  if (i >= 0) boosts[i] = Math.max(-6, Math.min(6, value));
}

/** @param {number} sign @returns {Handler} */
const boostBy = (sign) => (tracker, parts) => {
  const { boosts } = slotOf(tracker, parts[2]);
  writeBoost(boosts, parts[3], boosts[BOOSTS.indexOf(parts[3])] + sign * Number(parts[4]));
  if (parts.length > 5) showCause(tracker, parts, parts[2]);
};
handlers.set("-boost", boostBy(1));
handlers.set("-unboost", boostBy(-1));
handlers.set("-setboost", (tracker, parts) => {
  writeBoost(slotOf(tracker, parts[2]).boosts, parts[3], Number(parts[4]));
  if (parts.length > 5) showCause(tracker, parts, parts[2]);
});
handlers.set("-clearboost", (tracker, parts) => {
  slotOf(tracker, parts[2]).boosts.fill(0);
});
handlers.set("-clearallboost", (tracker) => {
  for (const side of tracker.sides) {
    for (const { boosts, volatiles } of side.slots) {
      boosts.fill(0);
      // Haze of the fourth generation alone ends it.
      if (tracker.dexInfo.generation === 4) volatiles[tracker.n.focusenergy] = 0;
    }
  }
});
handlers.set("-clearpositiveboost", (tracker, parts) => {
  const { boosts } = slotOf(tracker, parts[2]);
  for (let i = 0; i < 7; i++) boosts[i] = Math.min(0, boosts[i]);
});
handlers.set("-clearnegativeboost", (tracker, parts) => {
  const { boosts } = slotOf(tracker, parts[2]);
  for (let i = 0; i < 7; i++) boosts[i] = Math.max(0, boosts[i]);
});
handlers.set("-invertboost", (tracker, parts) => {
  const { boosts } = slotOf(tracker, parts[2]);
  for (let i = 0; i < 7; i++) boosts[i] = -boosts[i];
});
handlers.set("-copyboost", (tracker, parts) => {
  const slot = slotOf(tracker, parts[2]);
  const original = slotOf(tracker, parts[3]);
  slot.boosts.set(original.boosts);
  copyCriticals(tracker, slot, original);
});
handlers.set("-swapboost", (tracker, parts) => {
  const a = slotOf(tracker, parts[2]).boosts;
  const b = slotOf(tracker, parts[3]).boosts;
  const stats = parts[4] && !parts[4].startsWith("[") ? parts[4].split(", ") : BOOSTS;
  for (const stat of stats) {
    const i = BOOSTS.indexOf(stat);
    if (i < 0) continue;
    const kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
});
