/**
 * Whether an active Pokémon certainly cannot switch. The request says "maybe" if an opposing Pokémon could have a
 * trapping ability; what is known of the opponent can make it certain.
 */

/** @typedef {import("./tracker.js").Tracker} Tracker */
/** @typedef {import("./side.js").ActiveSlot} ActiveSlot */

/** @param {Tracker} tracker @param {number} position of the own slot @returns {boolean} */
export function isTrapped(tracker, position) {
  const active = tracker.request?.active?.[position];
  if (!active?.maybeTrapped) return Boolean(active?.trapped);
  const slot = tracker.own.slots[position];
  const { slots } = tracker.opponent;
  // Until the opponent has seen a copy's types, the request says "maybe" even if they make the copy immune. In doubles,
  // it may say so because of the trapper's partner.
  const mayEscape = slots.length > 1 || slot.volatiles[tracker.n.transformed] === 1;
  for (const foe of slots) {
    if (traps(tracker, foe) && !(mayEscape && escapes(tracker, slot, foe))) return true;
  }
  return false;
}

/** @param {Tracker} tracker @param {ActiveSlot} foe @returns {boolean} whether the opposing Pokémon certainly has a trapping ability */
function traps({ dexInfo, opponent }, { row, pokemon }) {
  if (!pokemon || (pokemon.fainted && opponent.slots.length > 1)) return false;
  const ability = opponent.abilityOf(row);
  if (ability) return dexInfo.trapping.has(ability);
  return pokemon.traps || dexInfo.isTrapper[opponent.speciesOf(row)] === 1;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {ActiveSlot} foe @returns {boolean} whether the own Pokémon is immune to the foe's trap */
function escapes({ dexInfo, own, opponent, scratchTypes, n }, slot, foe) {
  const { abilities, types, items, trapOf } = dexInfo;
  own.writeTypes(slot.row, scratchTypes);
  const has = Array.from(scratchTypes, (type) => types.ids[type]).filter(Boolean);
  if (!dexInfo.dex.getImmunity("trapped", has)) return true;
  const ability = abilities.ids[opponent.abilityOf(foe.row) || trapOf[opponent.speciesOf(foe.row)]];
  switch (ability) {
    case "arenatrap":
      if (has.includes("flying")) return true;
      if (opponent.slots.length === 1) return false;
      return abilities.ids[own.abilityOf(slot.row)] === "levitate" || slot.volatiles[n.magnetrise] > 0
        || items.ids[slot.pokemon?.item ?? 0] === "airballoon";
    case "magnetpull":
      return !has.includes("steel");
    case "shadowtag":
      return opponent.slots.length > 1 && dexInfo.generation > 3 && abilities.ids[own.abilityOf(slot.row)] === "shadowtag";
    default:
      return false;
  }
}
