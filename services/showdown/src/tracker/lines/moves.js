/** Lines about moves: used, prepared, prevented or without effect. */
import { BINDS, CHARGES, CURLS, HIDES, MINIMIZES, PRESSED, PRESSED_ANYHOW, SPREADS, STALLS, THRASHES } from "../../simulator/dex.js";
import { sideOf, slotOf, foeOf, tagged, hasTag, showAbility, showItem, showCause } from "./common.js";

/** @typedef {import("./common.js").Handler} Handler */
/** @typedef {import("../tracker.js").Tracker} Tracker */
/** @typedef {import("../side.js").TrackedSide} TrackedSide */
/** @typedef {import("../side.js").TrackedPokemon} TrackedPokemon */
/** @typedef {import("../slot.js").ActiveSlot} ActiveSlot */

/** By type of line. @type {Map<string, Handler>} */
export const handlers = new Map();

/** Turns from the use of Wish to its effect. */
const WISH_TURNS = 1;

/** Turns of a Rollout that always hits. */
const MOST_ROLLS = 5;

/** Moves that call a move outside the user's own, and cost PP by Pressure. */
const BORROWED = new Set(["Metronome", "Copycat", "Nature Power", "Me First", "Assist", "Mirror Move"]);

/** Causes of a move that is its user's own choice, and comes before its turn. */
const ADVANCERS = new Set(["Pursuit", "Round", "Fire Pledge", "Grass Pledge", "Water Pledge"]);

handlers.set("move", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  if (!pokemon) return;
  const { dexInfo, n } = tracker;
  const move = dexInfo.moves.of(parts[3]);
  const flags = dexInfo.moveFlags[move];
  const slot = side.slotOf(ident);
  const { volatiles } = slot;
  // Older logs have no space after the tag.
  const cause = tagged(parts, "[from]").trimStart();
  // In the fourth generation, the line names the item that lets its holder move first.
  const from = cause.startsWith("item: ") ? "" : cause;
  const missed = hasTag(parts, "[miss]") || hasTag(parts, "[notarget]");
  const { isDesynced } = tracker;
  tracker.isDesynced = false;
  tracker.mover = slot;
  tracker.aim = parts[4] ?? "";
  tracker.passer = parts[3].endsWith("Baton Pass") ? slot : null;
  tracker.isExtra = from === "ability: Magic Bounce" || from === "ability: Dancer";
  // The first generations do not always mark the later turns of a move.
  const marked = dexInfo.generation === 1 ? from === parts[3] : dexInfo.generation === 2 && from === "" && goesOnUnmarked(tracker, slot, move);
  // A Choice item, which locks its user into the move that called this one, does not let it go on.
  const isLocked = dexInfo.generation > 2 && from === "" && slot.prepared === move && move > 0 && !slot.preparesOwn;
  const goesOn = from === "lockedmove" || marked || isLocked;

  if (isDesynced) {
    // A Wrap that another move called begins anew with each target, and costs PP of the move that called it.
    if (slot.used === move && flags & BINDS) spend(tracker, slot, pokemon, slot.lastMove, 1);
    else slot.lastMove = move;
  } else if (goesOn) {
    // The first generation spends the PP of a two-turn move in the second turn.
    if (dexInfo.generation === 1 && slot.prepared === move && slot.preparesOwn) spend(tracker, slot, pokemon, move, 1);
  } else {
    const caller = from.startsWith("move: ") ? from.slice(6) : from;
    // In the third generation, Pressure costs nothing for a called move.
    const pressesCaller = dexInfo.generation > 3;
    if (from.startsWith("ability: ")) {
      showAbility(tracker, ident, from.slice(9));
    } else if (!move && from === "") {
      slot.lastMove = 0;
      const own = dexInfo.replacedBy(parts[3], slot.hasMoves ? slot : pokemon);
      if (own) spend(tracker, slot, pokemon, own, 1 + pressure(tracker, side, own, parts));
    } else if (from === "" || ADVANCERS.has(caller)) {
      slot.lastMove = move;
      const paysLater = dexInfo.generation === 1 && flags & CHARGES;
      // From the fourth generation on, Pressure costs nothing for a move that is brought forward.
      const extra = cause && dexInfo.generation > 3 ? 0 : pressure(tracker, side, move, parts);
      spend(tracker, slot, pokemon, move, paysLater ? 0 : 1 + extra);
    } else if (caller === "Sleep Talk") {
      spend(tracker, slot, pokemon, move, 0);
      const extra = pressesCaller ? pressure(tracker, side, move, parts) : 0;
      if (extra) spend(tracker, slot, pokemon, dexInfo.moves.of(caller), extra);
    } else if (BORROWED.has(caller)) {
      const extra = pressesCaller ? pressure(tracker, side, move, parts) : 0;
      if (extra) spend(tracker, slot, pokemon, dexInfo.moves.of(caller), extra);
    }
  }

  // Magic Bounce returns a move without its user's move, which would end something.
  if (from === "ability: Magic Bounce") return;
  volatiles[n.destinybond] = 0;
  volatiles[n.grudge] = 0;
  volatiles[n.glaiverush] = 0;
  if (from === "ability: Dancer") {
    volatiles[n.rage] = 0;
    // A rampage waits for its user's move of this turn.
    if (slot.usedIn < tracker.turn) volatiles[n.thrashing] = 0;
    return;
  }
  volatiles[n.recharge] = 0;
  volatiles[n.hidden] = 0;
  volatiles[n.charging] = 0;
  slot.used = move;
  slot.usedIn = tracker.turn;
  slot.prepared = 0;
  slot.preparesOwn = from === "";
  const goesWild = flags & THRASHES && (!missed || dexInfo.generation <= 2);
  // After the second generation, a rampage that begins anew shows that the last one has ended.
  const rampage = dexInfo.generation <= 2 || goesOn ? volatiles[n.thrashing] : 0;
  volatiles[n.thrashing] = goesWild ? Math.min(255, rampage + 1) : 0;
  slot.rolls = move && move === tracker.rollout && !missed ? (slot.rolls + 1) % MOST_ROLLS : 0;
  if (!(flags & STALLS)) slot.stalls = 0;
  const rages = move === tracker.rage && dexInfo.generation === 1;
  if (!rages) volatiles[n.rage] = 0;
  // The first generation does not announce Rage.
  const gained = flags & MINIMIZES ? n.minimize : flags & CURLS ? n.defensecurl : rages && !missed ? n.rage : -1;
  slot.gained = gained >= 0 && !volatiles[gained] ? gained : -1;
  if (slot.gained >= 0) volatiles[gained] = 1;
  if (volatiles[n.charge] && move && dexInfo.moveType[move] === tracker.electric && dexInfo.moveCategory[move] && dexInfo.generation < 9) {
    volatiles[n.charge] = 0;
  }
  if (dexInfo.generation === 1) bindInFirstGeneration(tracker, side, flags, missed);
  // While a Wish waits, another one fails.
  if (move === tracker.wish) side.wishTurns[side.positionOf(ident)] ||= tracker.turn + WISH_TURNS;
});

/**
 * @param {Tracker} tracker of a battle of the second generation
 * @param {ActiveSlot} slot
 * @param {number} move that it uses
 * @returns {boolean} whether this is a later turn of the move that it began before
 */
function goesOnUnmarked({ n }, { volatiles, prepared, used, rolls }, move) {
  return prepared === move || ((volatiles[n.thrashing] > 0 || rolls > 0) && used === move);
}

/** A Pokémon that thaws or wakes may use the last move chosen for another Pokémon of its side. */
handlers.set("-hint", (tracker, parts) => {
  if (parts[2] === "Desync Clause Mod activated!") tracker.isDesynced = true;
});

/**
 * The first generation does not announce binding: a Pokémon hit by such a move cannot act until the move ends.
 * @param {Tracker} tracker
 * @param {TrackedSide} side
 * @param {number} flags
 * @param {boolean} missed
 */
export function bindInFirstGeneration(tracker, side, flags, missed) {
  const { n } = tracker;
  const target = foeOf(tracker, side).slot.volatiles;
  const binds = (flags & BINDS) !== 0;
  if (binds) target[n.recharge] = 0;
  if (binds && !missed) {
    side.slot.volatiles[n.binding] = Math.min(255, side.slot.volatiles[n.binding] + 1);
    target[n.bound] ||= 1;
  } else {
    side.slot.volatiles[n.binding] = 0;
    target[n.bound] = 0;
  }
}

/** @param {Tracker} tracker @param {TrackedSide} side @param {number} move @param {string[]} parts @returns {number} extra PP that Pressure costs */
function pressure(tracker, side, move, parts) {
  if (!tracker.pressure || hasTag(parts, "[notarget]") || tracker.gasSince) return 0;
  const flags = tracker.dexInfo.moveFlags[move];
  const foe = foeOf(tracker, side);
  const aimsAtItself = parts[4] && sideOf(tracker, parts[4]) === side;
  // Dragon Darts at an opponent aims at both.
  const spreads = (flags & SPREADS) !== 0 || (move > 0 && move === tracker.dragonDarts && !aimsAtItself);
  const pressesAll = (flags & PRESSED_ANYHOW) !== 0 || (spreads && foe.slots.length > 1);
  let extra = pressesPartner(tracker, side, move, parts) ? 1 : 0;
  if (!(flags & PRESSED_ANYHOW) && (!(flags & PRESSED) || (aimsAtItself && !pressesAll))) return extra;
  for (const slot of foe.slots) {
    if (slot.row < 0 || foe.pokemon[slot.row].fainted || foe.abilityOf(slot.row) !== tracker.pressure) continue;
    if (slot.volatiles[tracker.n.gastroacid]) continue;
    if (pressesAll) {
      extra++;
    } else if (!parts[4] || foe.slotOf(parts[4]) === slot) {
      extra++;
      break;
    }
  }
  return extra;
}

/** Targets that include the user's partner. */
const AT_PARTNER = new Set(["all", "allAdjacent", "allies", "allySide", "allyTeam"]);

/**
 * In doubles of the third and fourth generations, the Pressure of the user's partner costs PP, too.
 * @param {Tracker} tracker
 * @param {TrackedSide} side
 * @param {number} move
 * @param {string[]} parts
 * @returns {boolean} whether the move of `tracker.mover` also aims at its partner, who has Pressure
 */
function pressesPartner({ dexInfo, mover, pressure: ability }, side, move, parts) {
  const partner = side.slots.length > 1 && dexInfo.generation < 5 ? side.slots.find((slot) => slot !== mover) : null;
  if (!partner?.pokemon || partner.pokemon.fainted || side.abilityOf(partner.row) !== ability) return false;
  const { target, flags } = dexInfo.dex.moves.get(dexInfo.moves.ids[move]);
  if (flags.mustpressure) return false;
  return AT_PARTNER.has(target) || Boolean(parts[4]?.startsWith(parts[2].slice(0, 2)) && side.slotOf(parts[4]) === partner);
}

/**
 * Record a move of an active Pokémon and spend its PP.
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 * @param {TrackedPokemon} pokemon
 * @param {number} move
 * @param {number} pp
 */
export function spend(tracker, slot, pokemon, move, pp) {
  if (!move || move === tracker.struggle) return;
  if (slot.hasMoves && pokemon === slot.pokemon) {
    let m = tracker.placeIn(slot, move);
    if (m === slot.numMoves) {
      if (m === 4) return;
      slot.moves[m] = move;
      slot.numMoves++;
      if (slot.volatiles[tracker.n.transformed]) {
        tracker.setCopiedPp(slot, m);
      } else {
        // Mimic replaces one move; the Pokémon's other moves are its own.
        tracker.learn(pokemon, move);
        slot.pp[m] = slot.maxPp[m] = tracker.dexInfo.movePp[move];
      }
    }
    slot.pp[m] = Math.max(0, slot.pp[m] - pp);
    return;
  }
  const m = tracker.learn(pokemon, move);
  if (m >= 0) pokemon.pp[m] = Math.max(0, pokemon.pp[m] - pp);
}

handlers.set("cant", (tracker, parts) => {
  const reason = parts[3];
  let ident = parts[2];
  if (reason.startsWith("ability: ")) {
    // The ability's owner comes first; a different Pokémon that cannot act follows "[of]".
    showAbility(tracker, ident, reason.slice(9));
    ident = tagged(parts, "[of] ") || ident;
  }
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const slot = side.slotOf(ident);
  const { n } = tracker;
  if (pokemon && reason === "slp") pokemon.statusTurns++;
  if (reason === "recharge") slot.volatiles[n.recharge] = 0;
  if (tracker.dexInfo.generation > 1) {
    const bond = slot.volatiles[n.destinybond];
    prevented(tracker, slot);
    // The choice of another Destiny Bond ends none, even without PP.
    if (reason === "nopp" && parts[4] === "Destiny Bond") slot.volatiles[n.destinybond] = bond;
  } else {
    slot.stalls = 0;
    cannotInFirstGeneration(tracker, side, reason);
  }
});

/**
 * From the second generation on, a turn without a move ends what the next move would end, and moves of several turns.
 * @param {Tracker} tracker
 * @param {ActiveSlot} slot
 */
export function prevented({ n, turn }, slot) {
  slot.usedIn = turn;
  for (const v of [n.destinybond, n.grudge, n.glaiverush, n.rage, n.charging, n.hidden, n.thrashing]) slot.volatiles[v] = 0;
  slot.stalls = 0;
  slot.rolls = 0;
  slot.prepared = 0;
}

/**
 * A turn may pass without a line about the Pokémon: Sky Drop carries it, or in the second and third generations, another one
 * faints before its move. A recharge and a two-turn move end then, and from the third generation on a rampage. Sky Drop also
 * ends what the move would have ended.
 * @param {Tracker} tracker at the begin of a turn
 * @param {ActiveSlot} slot
 */
export function lapse({ dexInfo, n, turn }, slot) {
  if (dexInfo.generation === 1 || slot.usedIn >= turn - 1) return;
  for (const v of [n.recharge, n.charging, n.hidden]) slot.volatiles[v] = 0;
  if (dexInfo.generation > 2) slot.volatiles[n.thrashing] = 0;
  if (dexInfo.generation > 3) for (const v of [n.destinybond, n.grudge, n.glaiverush, n.rage]) slot.volatiles[v] = 0;
  slot.stalls = 0;
  slot.prepared = 0;
}

/**
 * In the first generation, a repeated move continues after a turn of sleep, freeze or flinching, and a move that hides
 * its user keeps hiding it whatever prevents it.
 * @param {Tracker} tracker
 * @param {TrackedSide} side
 * @param {string} reason
 */
function cannotInFirstGeneration(tracker, side, reason) {
  const { slot } = side;
  const { n } = tracker;
  foeOf(tracker, side).slot.volatiles[n.bound] = 0;
  if (reason === "flinch") slot.volatiles[n.recharge] = 0;
  if (reason === "par" || reason === "Disable") {
    slot.prepared = 0;
    slot.volatiles[n.charging] = 0;
  }
  if (reason === "par") {
    slot.volatiles[n.bide] = 0;
    slot.volatiles[n.thrashing] = 0;
    slot.volatiles[n.binding] = 0;
  }
}

handlers.set("-prepare", (tracker, parts) => {
  const slot = slotOf(tracker, parts[2]);
  const move = tracker.dexInfo.moves.of(parts[3]);
  if (!(tracker.dexInfo.moveFlags[move] & CHARGES)) return;
  slot.prepared = move;
  slot.volatiles[tracker.n.charging] = 1;
  slot.volatiles[tracker.n.hidden] = tracker.dexInfo.moveFlags[move] & HIDES ? 1 : 0;
});

/** A two-turn move that needs only one turn, because of the weather or an item. */
handlers.set("-anim", (tracker, parts) => {
  const slot = slotOf(tracker, parts[2]);
  slot.prepared = 0;
  slot.volatiles[tracker.n.charging] = 0;
  slot.volatiles[tracker.n.hidden] = 0;
});

handlers.set("-mustrecharge", (tracker, parts) => {
  slotOf(tracker, parts[2]).volatiles[tracker.n.recharge] = 1;
});

/** A Rollout that has no effect ends, and from the third generation on a rampage. @param {Tracker} tracker @param {string} ident the Pokémon that it had no effect on */
export function blocked(tracker, ident) {
  if (tracker.dexInfo.generation === 1 || !ident || tracker.isExtra) return;
  if (tracker.mover.side === sideOf(tracker, ident)) return;
  if (tracker.dexInfo.generation > 2) tracker.mover.volatiles[tracker.n.thrashing] = 0;
  tracker.mover.rolls = 0;
}

/** Abilities that take a move of their type without effect, and show themselves otherwise than as an immunity. */
const ABSORBERS = new Set([
  "Earth Eater", "Flash Fire", "Lightning Rod", "Motor Drive", "Sap Sipper", "Storm Drain", "Volt Absorb", "Water Absorb",
  "Well-Baked Body",
]);

/** @param {Tracker} tracker @param {string} ident the Pokémon with the ability @param {string} ability that a line shows */
export function absorbed(tracker, ident, ability) {
  if (ABSORBERS.has(ability)) blocked(tracker, ident);
}

/** @type {Handler} */
function failed(tracker, parts) {
  if (parts.length < 3 || !parts[2]) return;
  showCause(tracker, parts, parts[2]);
}
handlers.set("-fail", failed);
handlers.set("-block", (tracker, parts) => {
  failed(tracker, parts);
  const owner = tagged(parts, "[of] ") || parts[2];
  if (parts[3]?.startsWith("ability: ")) showAbility(tracker, owner, parts[3].slice(9));
  else if (parts[3]?.startsWith("item: ")) showItem(tracker, owner, parts[3].slice(6));
});
handlers.set("-immune", (tracker, parts) => {
  failed(tracker, parts);
  blocked(tracker, parts[2]);
  if (tracker.dexInfo.generation === 1 && parts[2]) {
    const { mover, n } = tracker;
    if (mover.gained === n.rage) mover.volatiles[n.rage] = 0;
    const side = sideOf(tracker, parts[2]);
    side.slot.volatiles[tracker.n.bound] = 0;
    foeOf(tracker, side).slot.volatiles[tracker.n.binding] = 0;
  }
});
