/** Lines about volatiles of an active Pokémon. */
import { sideOf, slotOf, find, foeOf, tagged, hasTag, loseItem, showAbility, showItem, showCause } from "./common.js";
import { absorbed, blocked, spend } from "./moves.js";
import { effectId } from "../field.js";
import { KNOWN } from "../side.js";

/** @typedef {import("./common.js").Handler} Handler */
/** @typedef {import("../tracker.js").Tracker} Tracker */
/** @typedef {import("../slot.js").ActiveSlot} ActiveSlot */
/** @typedef {import("../side.js").TrackedPokemon} TrackedPokemon */

/** By type of line. @type {Map<string, Handler>} */
export const handlers = new Map();

/** Two-turn moves in the air that Smack Down ends, and those that Gravity ends. */
const FLIGHTS = new Set(["fly", "bounce"]);
const FALLS = new Set([...FLIGHTS, "skydrop"]);

/** Turns from the use of Future Sight to its hit. */
const FUTURE_TURNS = 2;

handlers.set("-start", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const name = parts[3];
  const slot = side.slotOf(ident);
  const { n, dexInfo } = tracker;
  if (name === "typechange") {
    const of = tagged(parts, "[of] ");
    if (tagged(parts, "[from] ") === "move: Reflect Type" && of) {
      const other = slotOf(tracker, of);
      if (other.row >= 0) other.side.writeTypes(other.row, tracker.scratchTypes);
      slot.types.set(tracker.scratchTypes.subarray(0, 2));
      slot.addedType = tracker.scratchTypes[2];
    } else {
      setTypes(tracker, slot, parts[4] ?? "");
    }
  } else if (name === "typeadd") {
    slot.addedType = dexInfo.types.of(parts[4]);
  } else if (name === "Mimic" && pokemon) {
    mimic(tracker, slot, pokemon, parts[4]);
  } else if (name.startsWith("move: Future Sight") || name === "Future Sight" || name === "Doom Desire" || name === "move: Doom Desire") {
    // In doubles, it may aim at a partner.
    const target = side.slots.length > 1 && tracker.aim ? sideOf(tracker, tracker.aim) : foeOf(tracker, side);
    target.futureTurns[target.positionOf(tracker.aim)] = tracker.turn + FUTURE_TURNS;
  } else {
    const effect = tracker.volatiles.effect(name);
    if (effect) {
      // A repeated announcement does not restart a condition.
      const goesOn = slot.volatiles[effect.from] && (effect.value === 1 || hasTag(parts, "[upkeep]"));
      if (!goesOn) slot.volatiles[effect.from] = effect.value;
      // The first two generations mark the confusion that ends a rampage as silent.
      const isTired = hasTag(parts, "[fatigue]") || (dexInfo.generation <= 2 && hasTag(parts, "[silent]"));
      if (effect.from === n.confusion && isTired) slot.volatiles[n.thrashing] = 0;
      if (effect.from === n.dynamax) side.usedDynamax = true;
      if (effect.from === n.smackdown) ground(tracker, slot, FLIGHTS);
    }
    if (name.startsWith("ability: ")) {
      showAbility(tracker, ident, name.slice(9));
      absorbed(tracker, ident, name.slice(9));
    }
  }
  if (parts.length > 4) showCause(tracker, parts, ident);
});

/**
 * What grounds a Pokémon ends its flight and what lifts it.
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 * @param {Set<string>} flights ids of the two-turn moves that it ends
 */
function ground({ dexInfo, n }, slot, flights) {
  slot.volatiles[n.magnetrise] = slot.volatiles[n.telekinesis] = 0;
  if (!flights.has(dexInfo.moves.ids[slot.prepared])) return;
  slot.volatiles[n.hidden] = slot.volatiles[n.charging] = 0;
  slot.prepared = 0;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {string} names such as "Water/Ghost" */
function setTypes(tracker, slot, names) {
  const parts = names.split("/");
  slot.types[0] = tracker.dexInfo.types.of(parts[0]);
  slot.types[1] = parts.length > 1 ? tracker.dexInfo.types.of(parts[1]) : 0;
  slot.addedType = parts.length > 2 ? tracker.dexInfo.types.of(parts[2]) : 0;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {TrackedPokemon} pokemon @param {string} name */
function mimic(tracker, slot, pokemon, name) {
  if (!slot.hasMoves) {
    const mimicPlace = tracker.learn(pokemon, tracker.mimic);
    slot.moves.set(pokemon.moves);
    slot.pp.set(pokemon.pp);
    for (let m = 0; m < 4; m++) slot.maxPp[m] = tracker.dexInfo.movePp[pokemon.moves[m]];
    slot.numMoves = pokemon.numMoves;
    slot.hasMoves = mimicPlace >= 0;
  }
  const place = slot.moves.indexOf(tracker.mimic);
  if (place < 0) return;
  const { dexInfo } = tracker;
  const move = dexInfo.moves.of(name);
  slot.moves[place] = move;
  if (dexInfo.generation === 1) slot.maxPp[place] = dexInfo.movePp[move];
  else if (dexInfo.generation < 5) tracker.setCopiedPp(slot, place);
  else slot.pp[place] = slot.maxPp[place] = dexInfo.dex.moves.get(dexInfo.moves.ids[move]).pp;
}

handlers.set("-end", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const slot = side.slotOf(parts[2]);
  const name = parts[3];
  if (name === "typechange") {
    slot.clearTypes();
    return;
  }
  const effect = tracker.volatiles.effect(name);
  if (effect) slot.volatiles.fill(0, effect.from, effect.to + 1);
  const id = effectId(name);
  if (id === "futuresight" || id === "doomdesire") side.futureTurns[side.positionOf(parts[2])] = 0;
  else if (id === "neutralizinggas") tracker.setGas(false);
});

handlers.set("-activate", (tracker, parts) => {
  const ident = parts[2];
  if (!ident) return;
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const name = parts[3];
  const slot = side.slotOf(ident);
  const { n, dexInfo } = tracker;
  const of = tagged(parts, "[of] ");
  if (!pokemon) return;
  if (name.startsWith("ability: ")) {
    const old = tagged(parts, "[ability] ");
    if (old) {
      // Mummy and similar abilities: the Pokémon in the fourth part now has the ability of the one in the second.
      const target = slotOf(tracker, parts[4]);
      const victim = find(tracker, parts[4]);
      showAbility(tracker, ident, name.slice(9));
      if (victim && victim.ability === 0 && target.ability < 0) victim.ability = dexInfo.abilities.of(old);
      if (victim === target.pokemon) target.ability = dexInfo.abilities.of(name.slice(9));
    } else {
      showAbility(tracker, ident, name.slice(9));
      if (name === "ability: Symbiosis") passItem(pokemon, find(tracker, of), dexInfo.items.of(parts[4]));
    }
    return;
  }
  if (name.startsWith("item: ")) {
    if (name === "item: Leppa Berry" || name === "item: Mystery Berry") restorePp(tracker, slot, pokemon, parts[4], name === "item: Leppa Berry" ? 10 : 5);
    else if (!hasTag(parts, "[consumed]")) showItem(tracker, ident, name.slice(6));
    return;
  }
  switch (effectId(name)) {
    case "protect":
    case "maxguard":
    case "matblock":
      blocked(tracker, ident);
      break;
    case "trapped":
      slot.volatiles[n.trapped] = 1;
      // The user of Jaw Lock is trapped by its target.
      slot.trapper = tracker.mover !== slot ? tracker.mover : tracker.aim ? slotOf(tracker, tracker.aim) : null;
      break;
    case "lockon":
    case "mindreader":
      // In the second generation, another one succeeds meanwhile, and prolongs nothing.
      slot.volatiles[n.lockon] ||= 1;
      break;
    case "gravity":
      ground(tracker, slot, FALLS);
      break;
    case "mimic":
      mimic(tracker, slot, pokemon, parts[4]);
      break;
    case "poltergeist":
      showItem(tracker, ident, parts[4]);
      break;
    case "spite":
    case "eeriespell":
    case "gmaxdepletion":
      spend(tracker, slot, pokemon, dexInfo.moves.of(parts[4]), Number(parts[5]) || 0);
      break;
    case "grudge":
      spend(tracker, slot, pokemon, dexInfo.moves.of(parts[4]), 255);
      break;
    case "skillswap":
      swapAbilities(tracker, slot, parts, of);
      break;
    case "snatch":
      if (of) snatch(tracker, slot, pokemon, slotOf(tracker, of));
      break;
    case "trick":
    case "switcheroo": {
      const other = find(tracker, of);
      pokemon.lostItem = 0;
      if (other) other.lostItem = 0;
      break;
    }
    default: {
      const effect = tracker.volatiles.effect(name);
      if (effect && effect.from === n.bound && of) {
        slot.volatiles[n.bound] ||= 1;
        slot.binder = slotOf(tracker, of);
      }
    }
  }
});

/** @param {TrackedPokemon} giver @param {TrackedPokemon | null} taker @param {number} item */
function passItem(giver, taker, item) {
  loseItem(giver, 0);
  if (!taker) return;
  taker.item = item;
  taker.itemKnown = KNOWN;
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {TrackedPokemon} pokemon @param {string} name @param {number} pp */
function restorePp(tracker, slot, pokemon, name, pp) {
  const move = tracker.dexInfo.moves.of(name);
  if (slot.hasMoves && pokemon === slot.pokemon) {
    const m = slot.moves.indexOf(move);
    if (m >= 0) slot.pp[m] = Math.min(slot.maxPp[m], slot.pp[m] + pp);
    return;
  }
  const m = tracker.learn(pokemon, move);
  if (m >= 0) pokemon.pp[m] = Math.min(tracker.dexInfo.movePp[move], pokemon.pp[m] + pp);
}

/**
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 * @param {TrackedPokemon} pokemon that uses the move of the victim
 * @param {ActiveSlot} victim
 */
function snatch(tracker, slot, pokemon, victim) {
  const { dexInfo, mover, n, pressure } = tracker;
  const { side } = victim;
  // The line before is the victim's move, which gives it nothing.
  if (mover === victim) {
    if (victim.gained >= 0) victim.volatiles[victim.gained] = 0;
    if (victim.used === tracker.wish) side.wishTurns[side.slots.indexOf(victim)] = 0;
  }
  // In the third and fourth generations, the victim's Pressure costs PP.
  if (dexInfo.generation > 4 || side.abilityOf(victim.row) !== pressure || victim.volatiles[n.gastroacid]) return;
  spend(tracker, slot, pokemon, dexInfo.moves.of("snatch"), 1);
}

/** @param {Tracker} tracker @param {ActiveSlot} slot @param {string[]} parts @param {string} of */
function swapAbilities(tracker, slot, parts, of) {
  if (!of) return;
  const other = slotOf(tracker, of);
  const mine = slot.pokemon;
  const theirs = other.pokemon;
  if (!mine || !theirs || slot === other) return;
  const { abilities } = tracker.dexInfo;
  // From the fifth generation on, the line names both: the first Pokémon's new ability, then the second's.
  const got = abilities.of(parts[4] ?? "") || other.side.abilityOf(other.row);
  const gave = abilities.of(parts[5] ?? "") || slot.side.abilityOf(slot.row);
  // An ability that was swapped before is not the Pokémon's own: it ends when the Pokémon leaves or faints.
  if (mine.ability === 0 && slot.ability < 0) mine.ability = gave;
  if (theirs.ability === 0 && other.ability < 0) theirs.ability = got;
  slot.ability = got;
  other.ability = gave;
}

/** @type {Handler} */
function single(tracker, parts) {
  const slot = slotOf(tracker, parts[2]);
  const { n } = tracker;
  const id = effectId(parts[3]);
  switch (id) {
    case "destinybond":
      slot.volatiles[n.destinybond] = 1;
      break;
    case "grudge":
      slot.volatiles[n.grudge] = 1;
      break;
    case "glaiverush":
      slot.volatiles[n.glaiverush] = 1;
      break;
    case "rage":
      slot.volatiles[n.rage] = 1;
      break;
    case "protect":
    case "endure":
    case "maxguard":
      slot.stalls = Math.min(6, slot.stalls + 1);
      break;
    default:
  }
}
handlers.set("-singleturn", single);
handlers.set("-singlemove", single);
