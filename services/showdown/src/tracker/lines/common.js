/** Finds the Pokémon that a line is about, and reads abilities and items from its tags. */
import { KNOWN } from "../side.js";

/** @typedef {import("../tracker.js").Tracker} Tracker */
/** @typedef {import("../side.js").TrackedSide} TrackedSide */
/** @typedef {import("../side.js").TrackedPokemon} TrackedPokemon */
/** @typedef {import("../slot.js").ActiveSlot} ActiveSlot */

/**
 * Reads the parts of a line between bars; `parts[0]` is empty and `parts[1]` is the line's type.
 * @typedef {(tracker: Tracker, parts: string[]) => void} Handler
 */

/** Every tag begins with it and hardly anything else does, so most parts need no full comparison. */
const BRACKET = 0x5b;

/** The owner of the ability or item in a "[from]" tag if "[of]" names a second Pokémon. */
export const OF = 0; // the second Pokémon if there is one, else the first
export const SUBJECT = 1; // always the first Pokémon

/** @param {Tracker} tracker @param {string} ident */
export function sideOf(tracker, ident) {
  return tracker.sides[ident.charCodeAt(1) === 49 ? 0 : 1];
}

/** @param {Tracker} tracker @param {string} ident @returns {ActiveSlot} the slot that it names */
export function slotOf(tracker, ident) {
  return sideOf(tracker, ident).slotOf(ident);
}

/** @param {Tracker} tracker @param {string} ident */
export function find(tracker, ident) {
  return ident ? sideOf(tracker, ident).find(ident) : null;
}

/** @param {Tracker} tracker @param {TrackedSide} side */
export function foeOf(tracker, side) {
  return side === tracker.sides[0] ? tracker.sides[1] : tracker.sides[0];
}

/** @param {string[]} parts @param {string} tag such as "[from] " @returns {string} the text after it, or "" */
export function tagged(parts, tag) {
  for (let i = 2; i < parts.length; i++) {
    const part = parts[i];
    if (part.charCodeAt(0) === BRACKET && part.startsWith(tag)) return part.slice(tag.length);
  }
  return "";
}

/** @param {string[]} parts @param {string} tag such as "[miss]" */
export function hasTag(parts, tag) {
  for (let i = 2; i < parts.length; i++) if (parts[i] === tag) return true;
  return false;
}

/** @param {Tracker} tracker @param {string} ident @param {string} name */
export function showAbility(tracker, ident, name) {
  const ability = tracker.dexInfo.abilities.of(name);
  const side = ident ? sideOf(tracker, ident) : null;
  const pokemon = side?.find(ident);
  if (!ability || !side || !pokemon) return;
  const slot = side.slotOf(ident);
  const isActive = pokemon === slot.pokemon;
  // What Mummy has replaced still takes effect on the hit that met it.
  if (isActive && ability === pokemon.ability && tracker.mummies.includes(slot.ability)) return;
  if (isActive && slot.ability >= 0) slot.ability = ability;
  else if (pokemon.ability === 0) pokemon.ability = ability;
  else if (pokemon.ability !== ability && isActive) slot.ability = ability;
}

/** @param {Tracker} tracker @param {string} ident @param {string} name */
export function showItem(tracker, ident, name) {
  const item = tracker.dexInfo.items.of(name);
  const pokemon = find(tracker, ident);
  if (!item || !pokemon) return;
  // The effect of what is consumed may be reported after its end.
  if (pokemon.itemKnown === KNOWN && pokemon.item === 0 && pokemon.lostItem === item) return;
  pokemon.item = item;
  pokemon.itemKnown = KNOWN;
}

/** @param {TrackedPokemon | null} pokemon @param {number} item */
export function loseItem(pokemon, item) {
  if (!pokemon) return;
  if (item) pokemon.lostItem = item;
  pokemon.item = 0;
  pokemon.itemKnown = KNOWN;
}

/**
 * Read an ability or item from the tags of a line about `ident`.
 * @param {Tracker} tracker
 * @param {string[]} parts
 * @param {string} ident
 * @param {number} [abilityOwner]
 * @param {number} [itemOwner]
 */
export function showCause(tracker, parts, ident, abilityOwner = OF, itemOwner = OF) {
  const from = tagged(parts, "[from] ");
  if (!from) return;
  if (from.startsWith("ability: ")) {
    showAbility(tracker, (abilityOwner === OF && tagged(parts, "[of] ")) || ident, from.slice(9));
  } else if (from.startsWith("item: ") && !from.endsWith("Berry")) {
    // A berry has ended before its effect, which may be that of a Pokémon that stole it or was hit with it.
    showItem(tracker, (itemOwner === OF && tagged(parts, "[of] ")) || ident, from.slice(6));
  }
}

/**
 * From the sixth generation on, who copies boosts copies what makes critical hits likelier, too, or loses it.
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 * @param {ActiveSlot} original
 */
export function copyCriticals({ dexInfo, n }, slot, original) {
  if (dexInfo.generation < 6) return;
  for (const v of [n.focusenergy, n.laserfocus, n.dragoncheer]) slot.volatiles[v] = original.volatiles[v];
}
