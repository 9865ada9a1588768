/**
 * Whether an active Pokémon certainly cannot switch. The request says "maybe" if an opposing Pokémon could have a
 * trapping ability; what is known of the opponent can make it certain.
 */

/** @typedef {import("./tracker.js").Tracker} Tracker */
/** @typedef {import("./request.js").Request} Request */
/** @typedef {import("./slot.js").ActiveSlot} ActiveSlot */

/** @param {Tracker} tracker @param {number} position of the own slot @returns {boolean} */
export function isTrapped(tracker, position) {
  const active = tracker.request?.active?.[position];
  // A request that was rebuilt from a log never says "maybe", so each opposing Pokémon counts as a possible trapper. It
  // says "not trapped" if the log shows a switch.
  const isRebuilt = active?.moves[0].pp === null && active.trapped === undefined;
  if (active?.trapped || !(active?.maybeTrapped || isRebuilt)) return Boolean(active?.trapped);
  const slot = tracker.own.slots[position];
  if (isRebuilt && holdsShedShell(tracker, slot)) return false;
  const { slots } = tracker.opponent;
  // Until the opponent has seen a copy's types, the request says "maybe" even if they make the copy immune. In doubles,
  // it may say so because of the trapper's partner.
  const mayEscape = isRebuilt || slots.length > 1 || slot.volatiles[tracker.n.transformed] === 1;
  for (const foe of slots) {
    if (traps(tracker, foe) && !(mayEscape && escapes(tracker, slot, foe))) return true;
  }
  return false;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @returns {boolean} whether the own Pokémon is known to hold the item that frees it */
function holdsShedShell({ dexInfo }, { pokemon }) {
  return dexInfo.items.ids[pokemon?.item ?? 0] === "shedshell";
}

/** @param {Tracker} tracker @param {ActiveSlot} foe @returns {boolean} whether the opposing Pokémon certainly has a trapping ability */
function traps({ dexInfo, opponent }, { row, pokemon }) {
  if (!pokemon || (pokemon.fainted && opponent.slots.length > 1)) return false;
  const ability = opponent.abilityOf(row);
  if (ability) return dexInfo.trapping.has(ability);
  return pokemon.traps || dexInfo.isTrapper[opponent.speciesOf(row)] === 1;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {ActiveSlot} foe @returns {boolean} whether the own Pokémon is immune to the foe's trap */
function escapes({ dexInfo, own, opponent, request, scratchTypes, n }, slot, foe) {
  const { abilities, types, items, trapOf } = dexInfo;
  own.writeTypes(slot.row, scratchTypes);
  const has = Array.from(scratchTypes, (type) => types.ids[type]).filter(Boolean);
  if (!dexInfo.dex.getImmunity("trapped", has)) return true;
  const ability = abilities.ids[opponent.abilityOf(foe.row) || trapOf[opponent.speciesOf(foe.row)]];
  switch (ability) {
    case "arenatrap":
      if (has.includes("flying")) return true;
      if (opponent.slots.length === 1 && request?.active?.[0].moves[0].pp !== null) return false;
      return abilities.ids[own.abilityOf(slot.row)] === "levitate" || slot.volatiles[n.magnetrise] > 0
        || items.ids[slot.pokemon?.item ?? 0] === "airballoon";
    case "magnetpull":
      return !has.includes("steel");
    case "shadowtag":
      return dexInfo.generation > 3 && abilities.ids[own.abilityOf(slot.row)] === "shadowtag";
    default:
      return false;
  }
}

/** Volatiles that keep an own Pokémon from switching whatever the opponent's abilities are. */
const HOLDS = ["bound", "trapped", "ingrain", "noretreat", "octolock"];

/**
 * Learn from a request which opposing Pokémon has a trapping ability.
 *
 * - A rejected switch shows that the possible trap is a certain one.
 * - In doubles, only the request of the last active Pokémon says "maybe". That of its partner says "trapped" whatever the
 *   reason is; if nothing else holds the partner, an opposing Pokémon's ability does. Where the last one may be trapped, no
 *   Fairy Lock holds both.
 * @param {Tracker} tracker
 * @param {Request} request newer than `tracker.maybeTrapped`
 */
export function learnTrap(tracker, request) {
  const active = request.active?.at(-1);
  const isRefused = request.update && tracker.maybeTrapped && active?.trapped;
  if (isRefused || (active?.maybeTrapped && holdsPartner(tracker, request))) {
    const suspect = suspectOf(tracker);
    if (suspect) suspect.traps = true;
  }
  tracker.maybeTrapped = Boolean(active?.maybeTrapped);
}

/** @param {Tracker} tracker @param {Request} request @returns {boolean} whether an opposing Pokémon's ability traps the first of two */
function holdsPartner({ dexInfo, own, opponent, volatiles }, { active, side }) {
  // In the third generation, a partner's Magnet Pull traps, too.
  if (own.slots.length === 1 || dexInfo.generation === 3) return false;
  const [partner] = own.slots;
  const isFree = !active?.[0]?.trapped || side.pokemon[0].condition?.endsWith(" fnt") || active[0].moves[0].pp === undefined;
  if (isFree || !partner.pokemon) return false;
  const isCarried = opponent.slots.some(({ prepared }) => dexInfo.moves.ids[prepared] === "skydrop");
  return !isCarried && !HOLDS.some((id) => partner.volatiles[volatiles.numbers.get(id) ?? -1]);
}

/** @param {Tracker} tracker @returns {import("./side.js").TrackedPokemon | null} the only opposing Pokémon whose ability can be the trap */
function suspectOf({ dexInfo, opponent }) {
  const foes = opponent.slots.filter(({ pokemon }) => pokemon && (!pokemon.fainted || opponent.slots.length === 1));
  const suspects = foes.length === 1 ? foes : foes.filter(({ row }) => {
    const ability = opponent.abilityOf(row);
    return ability ? dexInfo.trapping.has(ability) : dexInfo.trapOf[opponent.speciesOf(row)] > 0;
  });
  return suspects.length === 1 ? suspects[0].pokemon : null;
}
