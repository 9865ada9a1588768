/** Lines about which Pokémon is on the field, and in which forme. */
import { copyCriticals, sideOf, slotOf, foeOf, tagged, showCause, SUBJECT } from "./common.js";
import { rejoinTwin, separateTwins, unmask } from "../disguise.js";
import { KNOWN, TrackedPokemon } from "../side.js";
import { Teams } from "../../simulator/package.js";

/** @typedef {import("./common.js").Handler} Handler */
/** @typedef {import("../tracker.js").Tracker} Tracker */
/** @typedef {import("../slot.js").ActiveSlot} ActiveSlot */

/** By type of line. @type {Map<string, Handler>} */
export const handlers = new Map();

/** What a leaving Pokémon passes on to its replacement. */
const PASS_NONE = 0;
const PASS_ALL = 1;
const PASS_SUBSTITUTE = 2;

/** @type {Handler} */
function switchIn(tracker, parts) {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const details = tracker.dexInfo.details(parts[3]);
  const slot = side.slotOf(ident);
  // Older logs do not say that a Pokémon comes in by Baton Pass.
  const isPassed = slot === tracker.passer && parts[1] === "switch" && !slot.pokemon?.fainted;
  const cause = tagged(parts, "[from] ") || (isPassed ? "Baton Pass" : "");
  tracker.passer = null;
  const passes = cause === "Baton Pass" ? PASS_ALL : cause === "Shed Tail" ? PASS_SUBSTITUTE : PASS_NONE;
  if (slot.pokemon) leave(tracker, slot, slot.pokemon, passes);
  const row = side.rowFor(ident.slice(ident.indexOf(":") + 2), details.species);
  const pokemon = side.pokemon[row];
  // The team has a Pokémon of this species, even if this one is another in disguise.
  if (pokemon.species === 0) tracker.setDetails(side, pokemon, details);
  separateTwins(slot, row);
  pokemon.save();
  slot.row = row;
  pokemon.revealed = true;
  tracker.setDetails(side, pokemon, details);
  // Details always name a Terastallization; without one, an earlier Terastallization belonged to a disguise.
  pokemon.terastallized = details.tera !== 0;
  pokemon.setCondition(parts[4]);
  if (pokemon.status === tracker.toxic) pokemon.statusTurns = 0;
  release(tracker, slot);
  // Up to the fourth generation, Baton Pass passes on both ends of a trap.
  if (passes !== PASS_ALL || !tracker.volatiles.passes[tracker.n.trapped]) untrap(tracker, slot);
}

/** Binding ends for both when either leaves; without a known binder it was the only other. @param {Tracker} tracker @param {ActiveSlot} left */
function release(tracker, left) {
  const { n } = tracker;
  for (const { volatiles, binder } of foeOf(tracker, left.side).slots) {
    if (!binder || binder === left) volatiles[n.bound] = 0;
    volatiles[n.binding] = 0;
  }
}

/** A trap, such as Mean Look's, ends as soon as its user, who may be a partner, leaves or faints. @param {Tracker} tracker @param {ActiveSlot} left */
function untrap(tracker, left) {
  for (const side of tracker.sides) {
    for (const { volatiles, trapper } of side.slots) {
      if (trapper ? trapper === left : side !== left.side) volatiles[tracker.n.trapped] = 0;
    }
  }
}
handlers.set("switch", switchIn);
handlers.set("drag", switchIn);

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {TrackedPokemon} leaving @param {number} passes */
function leave(tracker, slot, leaving, passes) {
  const { side } = slot;
  const { regenerator, regenerated } = tracker;
  tracker.regenerated = null;
  const isIdle = regenerated === slot || tracker.gasSince || slot.volatiles[tracker.n.gastroacid];
  if (regenerator && !leaving.fainted && side.abilityOf(slot.row) === regenerator && !isIdle) {
    leaving.hp = Math.min(leaving.maxHp, Math.floor(leaving.hp + leaving.maxHp / 3));
  }
  // A disguise ends before its wearer faints: the one who fainted was the original.
  if (!slot.double && !leaving.fainted) rejoinTwin(side, slot.row);
  if (passes === PASS_NONE) {
    side.vacate(slot);
    return;
  }
  const { boosts, volatiles, trapper } = slot;
  const kept = volatiles.slice();
  const keptBoosts = boosts.slice();
  side.vacate(slot);
  if (passes === PASS_SUBSTITUTE) {
    volatiles[tracker.n.substitute] = kept[tracker.n.substitute];
    return;
  }
  boosts.set(keptBoosts);
  for (let v = 0; v < tracker.volatiles.size; v++) if (tracker.volatiles.passes[v]) volatiles[v] = kept[v];
  if (volatiles[tracker.n.trapped]) slot.trapper = trapper;
}

/** The Pokémon in the slot was another in disguise: that one takes over everything seen since it came in. */
handlers.set("replace", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const details = tracker.dexInfo.details(parts[3]);
  const slot = side.slotOf(ident);
  const seen = slot.pokemon;
  const row = side.rowFor(ident.slice(ident.indexOf(":") + 2), details.species);
  if (seen) unmask(tracker, slot, row);
  const pokemon = side.pokemon[row];
  pokemon.revealed = true;
  tracker.setDetails(side, pokemon, details);
});

/** @type {Handler} */
function detailsChange(tracker, parts) {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (!pokemon) return;
  const slot = side.slotOf(parts[2]);
  const wasForced = pokemon === slot.pokemon && slot.hasTypes;
  tracker.setDetails(side, pokemon, tracker.dexInfo.details(parts[3]));
  if (pokemon === slot.pokemon) {
    slot.species = 0;
    slot.addedType = 0;
    if (wasForced && !pokemon.terastallized) slot.clearTypes();
  }
}
handlers.set("detailschange", detailsChange);

handlers.set("-formechange", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  const slot = side.slotOf(parts[2]);
  if (pokemon && pokemon === slot.pokemon) {
    const species = tracker.dexInfo.species.of(parts[3]);
    slot.species = species === pokemon.species ? 0 : species;
    slot.clearTypes();
  }
  showCause(tracker, parts, parts[2], SUBJECT);
});

handlers.set("-transform", (tracker, parts) => {
  const slot = slotOf(tracker, parts[2]);
  const original = slotOf(tracker, parts[3]);
  const other = original.side;
  showCause(tracker, parts, parts[2], SUBJECT);
  const target = other.find(parts[3]);
  if (!target || !slot.pokemon || original.row < 0) return;
  slot.species = other.speciesOf(original.row);
  const terastallized = target.terastallized;
  target.terastallized = false;
  other.writeTypes(original.row, tracker.scratchTypes);
  target.terastallized = terastallized;
  slot.types.set(tracker.scratchTypes.subarray(0, 2));
  slot.addedType = tracker.scratchTypes[2];
  slot.boosts.set(original.boosts);
  slot.side.keepCopiedPp(slot);
  slot.volatiles[tracker.n.transformed] = 1;
  copyCriticals(tracker, slot, original);
  slot.original = original;
  tracker.copyMoves(slot, original);
});

handlers.set("faint", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (!pokemon) return;
  pokemon.hp = 0;
  pokemon.fainted = true;
  pokemon.terastallized = false;
  pokemon.setStatus(0);
  const slot = side.slotOf(parts[2]);
  if (pokemon !== slot.pokemon) return;
  untrap(tracker, slot);
  side.vacate(slot);
});

/** Ally Switch: two active Pokémon exchange their positions; what waits at a position stays there. */
handlers.set("swap", (tracker, parts) => {
  const { slots } = sideOf(tracker, parts[2]);
  if (slots.length < 2) return;
  const from = parts[2].charCodeAt(2) === 0x62 ? 1 : 0;
  const to = /^\d+$/.test(parts[3]) ? Number(parts[3]) : 1 - from;
  if (to === from || to > 1) return;
  slots.reverse();
});

handlers.set("poke", (tracker, parts) => {
  const side = tracker.sides[parts[2] === "p1" ? 0 : 1];
  if (side === tracker.own) return;
  const pokemon = new TrackedPokemon("");
  side.pokemon.push(pokemon);
  tracker.setDetails(side, pokemon, tracker.dexInfo.details(parts[3].replace(/-\*/, "")));
});

/**
 * Open Team Sheets: all of each Pokémon but its stats, in the order of Team Preview. Its species is more exact than there.
 */
handlers.set("showteam", (tracker, parts) => {
  const side = tracker.sides[parts[2] === "p1" ? 0 : 1];
  if (side === tracker.own) return;
  const { abilities, baseSpecies, items, moves, species, types } = tracker.dexInfo;
  for (const [place, set] of (Teams.unpack(parts.slice(3).join("|")) ?? []).entries()) {
    const shown = species.of(set.species || set.name);
    const pokemon = side.pokemon[place];
    if (!pokemon || baseSpecies[pokemon.species] !== baseSpecies[shown]) continue;
    pokemon.species = shown;
    pokemon.ability = abilities.of(set.ability);
    pokemon.item = items.of(set.item);
    pokemon.itemKnown = KNOWN;
    if (set.teraType) pokemon.tera = types.of(set.teraType);
    for (const move of set.moves) tracker.learn(pokemon, moves.of(move));
  }
});

handlers.set("teamsize", (tracker, parts) => {
  tracker.sides[parts[2] === "p1" ? 0 : 1].teamSize = Number(parts[3]);
});
