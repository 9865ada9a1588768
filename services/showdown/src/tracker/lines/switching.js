/** Lines about which Pokémon is on the field, and in which forme. */
import { sideOf, foeOf, tagged, showCause, SUBJECT } from "./common.js";
import { TrackedPokemon } from "../side.js";

/** @typedef {import("./common.js").Handler} Handler */
/** @typedef {import("../tracker.js").Tracker} Tracker */
/** @typedef {import("../side.js").TrackedSide} TrackedSide */

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
  const leaving = side.activePokemon;
  const cause = tagged(parts, "[from] ");
  if (leaving) leave(tracker, side, leaving, cause === "Baton Pass" ? PASS_ALL : cause === "Shed Tail" ? PASS_SUBSTITUTE : PASS_NONE);
  const row = side.rowFor(ident.slice(ident.indexOf(":") + 2), details.species);
  const pokemon = side.pokemon[row];
  // The team has a Pokémon of this species, even if this one is another in disguise.
  if (pokemon.species === 0) tracker.setDetails(side, pokemon, details);
  pokemon.save();
  side.active = row;
  pokemon.revealed = true;
  tracker.setDetails(side, pokemon, details);
  // Details always name a Terastallization; without one, an earlier Terastallization belonged to a disguise.
  pokemon.terastallized = details.tera !== 0;
  pokemon.setCondition(parts[4]);
  if (pokemon.status === tracker.toxic) pokemon.statusTurns = 0;
  // Binding ends for both sides when either leaves.
  const { volatiles } = foeOf(tracker, side).slot;
  volatiles[tracker.n.bound] = 0;
  volatiles[tracker.n.binding] = 0;
  volatiles[tracker.n.trapped] = 0;
}
handlers.set("switch", switchIn);
handlers.set("drag", switchIn);

/** @param {Tracker} tracker @param {TrackedSide} side @param {TrackedPokemon} leaving @param {number} passes */
function leave(tracker, side, leaving, passes) {
  const { slot } = side;
  const { regenerator } = tracker;
  if (regenerator && !leaving.fainted && side.abilityOf(side.active) === regenerator && !tracker.gasSince) {
    leaving.hp = Math.min(leaving.maxHp, Math.floor(leaving.hp + leaving.maxHp / 3));
  }
  if (passes === PASS_NONE) {
    side.vacate();
    return;
  }
  const { boosts, volatiles } = slot;
  const kept = volatiles.slice();
  const keptBoosts = boosts.slice();
  side.vacate();
  if (passes === PASS_SUBSTITUTE) {
    volatiles[tracker.n.substitute] = kept[tracker.n.substitute];
    return;
  }
  boosts.set(keptBoosts);
  for (let v = 0; v < tracker.volatiles.size; v++) if (tracker.volatiles.passes[v]) volatiles[v] = kept[v];
}

/** The Pokémon in the slot was another in disguise: that one takes over everything seen since it came in. */
handlers.set("replace", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const details = tracker.dexInfo.details(parts[3]);
  const seen = side.activePokemon;
  const row = side.rowFor(ident.slice(ident.indexOf(":") + 2), details.species);
  if (seen) tracker.unmask(side, row);
  const pokemon = side.pokemon[row];
  pokemon.revealed = true;
  tracker.setDetails(side, pokemon, details);
});

/** @type {Handler} */
function detailsChange(tracker, parts) {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (!pokemon) return;
  const wasForced = pokemon === side.activePokemon && side.slot.hasTypes;
  tracker.setDetails(side, pokemon, tracker.dexInfo.details(parts[3]));
  if (pokemon === side.activePokemon) {
    side.slot.species = 0;
    if (wasForced && !pokemon.terastallized) side.slot.clearTypes();
  }
}
handlers.set("detailschange", detailsChange);

handlers.set("-formechange", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (pokemon && pokemon === side.activePokemon) {
    const species = tracker.dexInfo.species.of(parts[3]);
    side.slot.species = species === pokemon.species ? 0 : species;
    side.slot.clearTypes();
  }
  showCause(tracker, parts, parts[2], SUBJECT);
});

handlers.set("-transform", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const other = sideOf(tracker, parts[3]);
  showCause(tracker, parts, parts[2], SUBJECT);
  const target = other.find(parts[3]);
  if (!target || !side.activePokemon || other.active < 0) return;
  const { slot } = side;
  slot.species = other.speciesOf(other.active);
  const terastallized = target.terastallized;
  target.terastallized = false;
  other.writeTypes(other.active, tracker.scratchTypes);
  target.terastallized = terastallized;
  slot.types.set(tracker.scratchTypes.subarray(0, 2));
  slot.addedType = tracker.scratchTypes[2];
  slot.boosts.set(other.slot.boosts);
  slot.volatiles[tracker.n.transformed] = 1;
  if (tracker.dexInfo.generation >= 6) {
    for (const v of [tracker.n.focusenergy, tracker.n.laserfocus, tracker.n.dragoncheer]) slot.volatiles[v] = other.slot.volatiles[v];
  }
  tracker.copyMoves(side, other);
});

handlers.set("faint", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (!pokemon) return;
  pokemon.hp = 0;
  pokemon.fainted = true;
  pokemon.terastallized = false;
  pokemon.setStatus(0);
  if (pokemon === side.activePokemon) side.vacate();
});

handlers.set("poke", (tracker, parts) => {
  const side = tracker.sides[parts[2] === "p1" ? 0 : 1];
  if (side === tracker.own) return;
  const pokemon = new TrackedPokemon("");
  side.pokemon.push(pokemon);
  tracker.setDetails(side, pokemon, tracker.dexInfo.details(parts[3].replace(/-\*/, "")));
});

handlers.set("teamsize", (tracker, parts) => {
  tracker.sides[parts[2] === "p1" ? 0 : 1].teamSize = Number(parts[3]);
});
