/**
 * What each line of the protocol tells. A handler gets the tracker and the line's parts; `parts[0]` is empty and
 * `parts[1]` the line's type. Lines without a handler tell nothing that is tracked.
 * Reference: sim/SIM-PROTOCOL.md in the simulator's package, and the simulator's own `add` calls.
 */
import { BINDS, BOOSTS, CHARGES, CURLS, HIDES, MINIMIZES, PRESSED, PRESSED_ANYHOW, STALLS, THRASHES } from "./dex.js";
import { TERRAINS, WEATHERS, effectId } from "./tracker_field.js";
import { KNOWN, TrackedPokemon, statusOf } from "./tracker_side.js";

/** @typedef {import("./tracker.js").Tracker} Tracker */
/** @typedef {import("./tracker_side.js").TrackedSide} TrackedSide */
/** @typedef {(tracker: Tracker, parts: string[]) => void} Handler */

/** @type {Map<string, Handler>} */
export const HANDLERS = new Map();

/** Whose ability or item a "[from]" tag names when "[of]" names a second Pokémon. */
const OF = 0; // the second if there is one, else the first
const SUBJECT = 1; // always the first

/** Turns after which a Future Sight hits, and a Wish comes true, counted from the turn of the move. */
const FUTURE_TURNS = 2;
const WISH_TURNS = 1;

// ---- identities ----

/** @param {Tracker} tracker @param {string} ident */
function sideOf(tracker, ident) {
  return tracker.sides[ident.charCodeAt(1) === 49 ? 0 : 1];
}

/** @param {Tracker} tracker @param {string} ident */
function find(tracker, ident) {
  return ident ? sideOf(tracker, ident).find(ident) : null;
}

/** @param {Tracker} tracker @param {TrackedSide} side */
function foeOf(tracker, side) {
  return side === tracker.sides[0] ? tracker.sides[1] : tracker.sides[0];
}

/** @param {string[]} parts @param {string} tag such as "[from] " @returns {string} what follows it, or "" */
function tagged(parts, tag) {
  for (let i = 2; i < parts.length; i++) if (parts[i].startsWith(tag)) return parts[i].slice(tag.length);
  return "";
}

/** @param {string[]} parts @param {string} tag such as "[miss]" */
function hasTag(parts, tag) {
  return parts.includes(tag, 2);
}

// ---- abilities and items ----

/** @param {Tracker} tracker @param {string} ident @param {string} name */
function showAbility(tracker, ident, name) {
  const ability = tracker.dexInfo.abilities.of(name);
  const side = ident ? sideOf(tracker, ident) : null;
  const pokemon = side?.find(ident);
  if (!ability || !side || !pokemon) return;
  const isActive = pokemon === side.activePokemon;
  if (isActive && side.slot.ability >= 0) side.slot.ability = ability;
  else if (pokemon.ability === 0) pokemon.ability = ability;
  else if (pokemon.ability !== ability && isActive) side.slot.ability = ability;
}

/** @param {Tracker} tracker @param {string} ident @param {string} name */
function showItem(tracker, ident, name) {
  const item = tracker.dexInfo.items.of(name);
  const pokemon = find(tracker, ident);
  if (!item || !pokemon) return;
  // A berry's effect is reported after the berry was eaten.
  if (pokemon.itemKnown === KNOWN && pokemon.item === 0 && pokemon.lostItem === item) return;
  pokemon.item = item;
  pokemon.itemKnown = KNOWN;
}

/** @param {TrackedPokemon | null} pokemon @param {number} item */
function loseItem(pokemon, item) {
  if (!pokemon) return;
  if (item) pokemon.lostItem = item;
  pokemon.item = 0;
  pokemon.itemKnown = KNOWN;
}

/**
 * Learn an ability or item from the tags of a line about `ident`.
 * @param {Tracker} tracker
 * @param {string[]} parts
 * @param {string} ident
 * @param {number} [abilityOwner]
 * @param {number} [itemOwner]
 */
function showCause(tracker, parts, ident, abilityOwner = OF, itemOwner = OF) {
  const from = tagged(parts, "[from] ");
  if (!from) return;
  if (from.startsWith("ability: ")) {
    showAbility(tracker, (abilityOwner === OF && tagged(parts, "[of] ")) || ident, from.slice(9));
  } else if (from.startsWith("item: ")) {
    showItem(tracker, (itemOwner === OF && tagged(parts, "[of] ")) || ident, from.slice(6));
  }
}

// ---- coming and going ----

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
  // Even if another only looks like it, a Pokémon of this species is in the team.
  if (pokemon.species === 0) tracker.setDetails(side, pokemon, details);
  pokemon.save();
  side.active = row;
  pokemon.revealed = true;
  tracker.setDetails(side, pokemon, details);
  // Details name a Terastallization whenever there is one; without it, what was seen before was a disguise.
  pokemon.terastallized = details.tera !== 0;
  pokemon.setCondition(parts[4]);
  if (pokemon.status === tracker.toxic) pokemon.statusTurns = 0;
  // What bound its opponent, or was bound by it, ends with it.
  const { volatiles } = foeOf(tracker, side).slot;
  volatiles[tracker.n.bound] = 0;
  volatiles[tracker.n.binding] = 0;
  volatiles[tracker.n.trapped] = 0;
}
HANDLERS.set("switch", switchIn);
HANDLERS.set("drag", switchIn);

const PASS_NONE = 0;
const PASS_ALL = 1;
const PASS_SUBSTITUTE = 2;

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

/** The Pokémon in the slot was another in disguise: it takes over all that was seen since it came in. */
HANDLERS.set("replace", (tracker, parts) => {
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
HANDLERS.set("detailschange", detailsChange);

HANDLERS.set("-formechange", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (pokemon && pokemon === side.activePokemon) {
    const species = tracker.dexInfo.species.of(parts[3]);
    side.slot.species = species === pokemon.species ? 0 : species;
    side.slot.clearTypes();
  }
  showCause(tracker, parts, parts[2], SUBJECT);
});

HANDLERS.set("-transform", (tracker, parts) => {
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

HANDLERS.set("faint", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  if (!pokemon) return;
  pokemon.hp = 0;
  pokemon.fainted = true;
  pokemon.terastallized = false;
  pokemon.setStatus(0);
  if (pokemon === side.activePokemon) side.vacate();
});

HANDLERS.set("poke", (tracker, parts) => {
  const side = tracker.sides[parts[2] === "p1" ? 0 : 1];
  if (side === tracker.own) return;
  const pokemon = new TrackedPokemon("");
  side.pokemon.push(pokemon);
  tracker.setDetails(side, pokemon, tracker.dexInfo.details(parts[3].replace(/-\*/, "")));
});

HANDLERS.set("teamsize", (tracker, parts) => {
  tracker.sides[parts[2] === "p1" ? 0 : 1].teamSize = Number(parts[3]);
});

// ---- moves ----

/** Causes of a move that is not the user's own. */
const BORROWED = new Set(["Metronome", "Copycat", "Nature Power", "Me First", "Assist", "Mirror Move", "Magic Coat", "Snatch"]);

HANDLERS.set("move", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  if (!pokemon) return;
  const { dexInfo, n } = tracker;
  const move = dexInfo.moves.of(parts[3]);
  const flags = dexInfo.moveFlags[move];
  const { slot } = side;
  const { volatiles } = slot;
  const from = tagged(parts, "[from] ");
  const missed = hasTag(parts, "[miss]") || hasTag(parts, "[notarget]");
  const { isDesynced } = tracker;
  tracker.isDesynced = false;
  tracker.mover = side;
  const goesOn = from === "lockedmove" || (dexInfo.generation === 1 && from === parts[3]);

  if (isDesynced) {
    slot.lastMove = move;
  } else if (goesOn) {
    // The first generation pays for a move of two turns in the second.
    if (dexInfo.generation === 1 && flags & CHARGES && slot.prepared === move) spend(tracker, side, pokemon, move, 1);
  } else {
    const caller = from.startsWith("move: ") ? from.slice(6) : from;
    if (from.startsWith("ability: ")) {
      showAbility(tracker, ident, from.slice(9));
    } else if (from === "" || caller === "Pursuit") {
      slot.lastMove = move;
      const paysLater = dexInfo.generation === 1 && flags & CHARGES;
      spend(tracker, side, pokemon, move, paysLater ? 0 : 1 + pressure(tracker, side, move, parts));
    } else if (caller === "Sleep Talk") {
      spend(tracker, side, pokemon, move, 0);
      const extra = pressure(tracker, side, move, parts);
      if (extra) spend(tracker, side, pokemon, dexInfo.moves.of(caller), extra);
    } else if (BORROWED.has(caller)) {
      const extra = pressure(tracker, side, move, parts);
      if (extra && dexInfo.generation > 2) spend(tracker, side, pokemon, dexInfo.moves.of(caller), extra);
    }
  }

  volatiles[n.recharge] = 0;
  volatiles[n.hidden] = 0;
  volatiles[n.charging] = 0;
  volatiles[n.destinybond] = 0;
  volatiles[n.grudge] = 0;
  volatiles[n.glaiverush] = 0;
  if (move !== tracker.rage) volatiles[n.rage] = 0;
  slot.prepared = 0;
  const goesWild = flags & THRASHES && (!missed || dexInfo.generation === 1);
  volatiles[n.thrashing] = goesWild ? Math.min(255, volatiles[n.thrashing] + 1) : 0;
  if (!(flags & STALLS)) slot.stalls = 0;
  if (flags & MINIMIZES) volatiles[n.minimize] = 1;
  if (flags & CURLS) volatiles[n.defensecurl] = 1;
  if (volatiles[n.charge] && move && dexInfo.moveType[move] === tracker.electric && dexInfo.moveCategory[move] && dexInfo.generation < 9) {
    volatiles[n.charge] = 0;
  }
  if (dexInfo.generation === 1) bindInFirstGeneration(tracker, side, flags, missed);
  if (move === tracker.wish && !from) side.wishTurn = tracker.turn + WISH_TURNS;
});

/** A Pokémon that thaws or wakes may be made to use what another of its side was last told. */
HANDLERS.set("-hint", (tracker, parts) => {
  if (parts[2] === "Desync Clause Mod activated!") tracker.isDesynced = true;
});

/**
 * The first generation does not announce who is bound: whoever was hit by such a move cannot act until the move ends.
 * @param {Tracker} tracker
 * @param {TrackedSide} side
 * @param {number} flags
 * @param {boolean} missed
 */
function bindInFirstGeneration(tracker, side, flags, missed) {
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

/** @param {Tracker} tracker @param {TrackedSide} side @param {number} move @param {string[]} parts @returns {number} PP that Pressure costs besides */
function pressure(tracker, side, move, parts) {
  if (!tracker.pressure || hasTag(parts, "[notarget]")) return 0;
  const flags = tracker.dexInfo.moveFlags[move];
  const foe = foeOf(tracker, side);
  const aimsAtItself = parts[4] && sideOf(tracker, parts[4]) === side;
  if (!(flags & PRESSED_ANYHOW) && (!(flags & PRESSED) || aimsAtItself)) return 0;
  if (foe.active < 0 || foe.pokemon[foe.active].fainted || tracker.gasSince) return 0;
  return foe.abilityOf(foe.active) === tracker.pressure ? 1 : 0;
}

/**
 * Show a move of the active Pokémon and take PP from it.
 * @param {Tracker} tracker
 * @param {TrackedSide} side
 * @param {TrackedPokemon} pokemon
 * @param {number} move
 * @param {number} pp
 */
function spend(tracker, side, pokemon, move, pp) {
  if (!move || move === tracker.struggle) return;
  const { slot } = side;
  if (slot.hasMoves && pokemon === side.activePokemon) {
    let m = 0;
    while (m < slot.numMoves && slot.moves[m] !== move) m++;
    if (m === slot.numMoves) {
      if (m === 4) return;
      slot.moves[m] = move;
      slot.numMoves++;
      if (slot.volatiles[tracker.n.transformed]) {
        tracker.setCopiedPp(slot, m);
      } else {
        // Beside one by Mimic, its own moves are as they were.
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

HANDLERS.set("cant", (tracker, parts) => {
  const reason = parts[3];
  let ident = parts[2];
  if (reason.startsWith("ability: ")) {
    // Whose ability it is comes first, and whom it stops after "[of]", if that is another.
    showAbility(tracker, ident, reason.slice(9));
    ident = tagged(parts, "[of] ") || ident;
  }
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const { slot } = side;
  const { n } = tracker;
  if (pokemon && reason === "slp") pokemon.statusTurns++;
  slot.stalls = 0;
  slot.volatiles[n.destinybond] = 0;
  slot.volatiles[n.glaiverush] = 0;
  if (reason === "recharge") slot.volatiles[n.recharge] = 0;
  if (tracker.dexInfo.generation === 1) {
    cannotInFirstGeneration(tracker, side, reason);
    return;
  }
  slot.volatiles[n.charging] = 0;
  slot.volatiles[n.hidden] = 0;
  slot.volatiles[n.thrashing] = 0;
  slot.prepared = 0;
});

/**
 * In the first generation, a move that goes on outlasts a turn of sleep, freeze or flinching, and one that hides its
 * user goes on hiding it whatever prevents it.
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
    slot.volatiles[n.thrashing] = 0;
    slot.volatiles[n.binding] = 0;
  }
}

HANDLERS.set("-prepare", (tracker, parts) => {
  const { slot } = sideOf(tracker, parts[2]);
  const move = tracker.dexInfo.moves.of(parts[3]);
  if (!(tracker.dexInfo.moveFlags[move] & CHARGES)) return;
  slot.prepared = move;
  slot.volatiles[tracker.n.charging] = 1;
  slot.volatiles[tracker.n.hidden] = tracker.dexInfo.moveFlags[move] & HIDES ? 1 : 0;
});

/** A move that needed no second turn after all, by the weather or an item. */
HANDLERS.set("-anim", (tracker, parts) => {
  const { slot } = sideOf(tracker, parts[2]);
  slot.prepared = 0;
  slot.volatiles[tracker.n.charging] = 0;
  slot.volatiles[tracker.n.hidden] = 0;
});

HANDLERS.set("-mustrecharge", (tracker, parts) => {
  sideOf(tracker, parts[2]).slot.volatiles[tracker.n.recharge] = 1;
});

/** A move of this kind that does nothing does not go on by itself. @param {Tracker} tracker @param {string} ident whom it did nothing to */
function blocked(tracker, ident) {
  if (tracker.dexInfo.generation === 1 || !ident) return;
  if (tracker.mover !== sideOf(tracker, ident)) tracker.mover.slot.volatiles[tracker.n.thrashing] = 0;
}

/** @type {Handler} */
function failed(tracker, parts) {
  if (parts.length < 3 || !parts[2]) return;
  showCause(tracker, parts, parts[2]);
}
HANDLERS.set("-fail", failed);
HANDLERS.set("-block", (tracker, parts) => {
  failed(tracker, parts);
  const owner = tagged(parts, "[of] ") || parts[2];
  if (parts[3]?.startsWith("ability: ")) showAbility(tracker, owner, parts[3].slice(9));
  else if (parts[3]?.startsWith("item: ")) showItem(tracker, owner, parts[3].slice(6));
});
HANDLERS.set("-immune", (tracker, parts) => {
  failed(tracker, parts);
  blocked(tracker, parts[2]);
  if (tracker.dexInfo.generation === 1 && parts[2]) {
    const side = sideOf(tracker, parts[2]);
    side.slot.volatiles[tracker.n.bound] = 0;
    foeOf(tracker, side).slot.volatiles[tracker.n.binding] = 0;
  }
});

// ---- hit points and statuses ----

/** @type {Handler} */
function setHp(tracker, parts) {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setCondition(parts[3]);
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
}
HANDLERS.set("-damage", (tracker, parts) => {
  setHp(tracker, parts);
  if (tracker.dexInfo.generation === 1 && hasTag(parts, "[from] confusion")) {
    const { slot } = sideOf(tracker, parts[2]);
    slot.prepared = 0;
    slot.volatiles[tracker.n.charging] = 0;
    slot.volatiles[tracker.n.hidden] = 0;
    slot.volatiles[tracker.n.thrashing] = 0;
    bindInFirstGeneration(tracker, sideOf(tracker, parts[2]), 0, true);
  }
});
HANDLERS.set("-sethp", setHp);
HANDLERS.set("-heal", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setCondition(parts[3]);
  if (parts.length === 4) return;
  const from = tagged(parts, "[from] ");
  // The tag "[of]" names whose move was absorbed, not whose ability heals, but for Hospitality.
  showCause(tracker, parts, parts[2], from === "ability: Hospitality" ? OF : SUBJECT, SUBJECT);
  if (from === "move: Wish") sideOf(tracker, parts[2]).wishTurn = 0;
});

HANDLERS.set("-status", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  pokemon.setStatus(statusOf(parts[3]));
  pokemon.statusTurns = 0;
  pokemon.resting = hasTag(parts, "[from] move: Rest") ? 1 : 0;
  // In the first generation, sleep takes the place of the recharge.
  if (parts[3] === "slp" && tracker.dexInfo.generation === 1) sideOf(tracker, parts[2]).slot.volatiles[tracker.n.recharge] = 0;
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
});

HANDLERS.set("-curestatus", (tracker, parts) => {
  const pokemon = find(tracker, parts[2]);
  if (!pokemon) return;
  if (parts[3] === "confusion") sideOf(tracker, parts[2]).slot.volatiles[tracker.n.confusion] = 0;
  else pokemon.setStatus(0);
  if (parts.length > 4) showCause(tracker, parts, parts[2]);
});

HANDLERS.set("-cureteam", (tracker, parts) => {
  for (const pokemon of sideOf(tracker, parts[2]).pokemon) pokemon.setStatus(0);
});

// ---- boosts ----

/** @param {Int8Array} boosts @param {string} stat @param {number} value */
function writeBoost(boosts, stat, value) {
  const i = BOOSTS.indexOf(stat);
  if (i >= 0) boosts[i] = Math.max(-6, Math.min(6, value));
}

/** @param {number} sign @returns {Handler} */
const boostBy = (sign) => (tracker, parts) => {
  const { boosts } = sideOf(tracker, parts[2]).slot;
  writeBoost(boosts, parts[3], boosts[BOOSTS.indexOf(parts[3])] + sign * Number(parts[4]));
  if (parts.length > 5) showCause(tracker, parts, parts[2]);
};
HANDLERS.set("-boost", boostBy(1));
HANDLERS.set("-unboost", boostBy(-1));
HANDLERS.set("-setboost", (tracker, parts) => {
  writeBoost(sideOf(tracker, parts[2]).slot.boosts, parts[3], Number(parts[4]));
  if (parts.length > 5) showCause(tracker, parts, parts[2]);
});
HANDLERS.set("-clearboost", (tracker, parts) => {
  sideOf(tracker, parts[2]).slot.boosts.fill(0);
});
HANDLERS.set("-clearallboost", (tracker) => {
  for (const side of tracker.sides) side.slot.boosts.fill(0);
});
HANDLERS.set("-clearpositiveboost", (tracker, parts) => {
  const { boosts } = sideOf(tracker, parts[2]).slot;
  for (let i = 0; i < 7; i++) boosts[i] = Math.min(0, boosts[i]);
});
HANDLERS.set("-clearnegativeboost", (tracker, parts) => {
  const { boosts } = sideOf(tracker, parts[2]).slot;
  for (let i = 0; i < 7; i++) boosts[i] = Math.max(0, boosts[i]);
});
HANDLERS.set("-invertboost", (tracker, parts) => {
  const { boosts } = sideOf(tracker, parts[2]).slot;
  for (let i = 0; i < 7; i++) boosts[i] = -boosts[i];
});
HANDLERS.set("-copyboost", (tracker, parts) => {
  sideOf(tracker, parts[2]).slot.boosts.set(sideOf(tracker, parts[3]).slot.boosts);
});
HANDLERS.set("-swapboost", (tracker, parts) => {
  const a = sideOf(tracker, parts[2]).slot.boosts;
  const b = sideOf(tracker, parts[3]).slot.boosts;
  const stats = parts[4] && !parts[4].startsWith("[") ? parts[4].split(", ") : BOOSTS;
  for (const stat of stats) {
    const i = BOOSTS.indexOf(stat);
    if (i < 0) continue;
    const kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
});

// ---- volatiles ----

HANDLERS.set("-start", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const name = parts[3];
  const { slot } = side;
  const { n, dexInfo } = tracker;
  if (name === "typechange") {
    const of = tagged(parts, "[of] ");
    if (tagged(parts, "[from] ") === "move: Reflect Type" && of) {
      const other = sideOf(tracker, of);
      if (other.active >= 0) other.writeTypes(other.active, tracker.scratchTypes);
      slot.types.set(tracker.scratchTypes.subarray(0, 2));
      slot.addedType = tracker.scratchTypes[2];
    } else {
      setTypes(tracker, side, parts[4] ?? "");
    }
  } else if (name === "typeadd") {
    slot.addedType = dexInfo.types.of(parts[4]);
  } else if (name === "Mimic" && pokemon) {
    mimic(tracker, side, pokemon, parts[4]);
  } else if (name.startsWith("move: Future Sight") || name === "Future Sight" || name === "Doom Desire" || name === "move: Doom Desire") {
    foeOf(tracker, side).futureTurn = tracker.turn + FUTURE_TURNS;
  } else {
    const effect = tracker.volatiles.effect(name);
    if (effect) {
      // A condition that is announced again has not begun again.
      const goesOn = slot.volatiles[effect.from] && (effect.value === 1 || hasTag(parts, "[upkeep]"));
      if (!goesOn) slot.volatiles[effect.from] = effect.value;
      if (effect.from === n.confusion && hasTag(parts, "[fatigue]")) slot.volatiles[n.thrashing] = 0;
      if (effect.from === n.dynamax) side.usedDynamax = true;
      if (effect.from === n.smackdown) slot.volatiles[n.hidden] = slot.volatiles[n.charging] = 0;
    }
    if (name.startsWith("ability: ")) showAbility(tracker, ident, name.slice(9));
  }
  if (parts.length > 4) showCause(tracker, parts, ident);
});

/** @param {Tracker} tracker @param {TrackedSide} side @param {string} names such as "Water/Ghost" */
function setTypes(tracker, side, names) {
  const parts = names.split("/");
  const { slot } = side;
  slot.types[0] = tracker.dexInfo.types.of(parts[0]);
  slot.types[1] = parts.length > 1 ? tracker.dexInfo.types.of(parts[1]) : 0;
  slot.addedType = parts.length > 2 ? tracker.dexInfo.types.of(parts[2]) : 0;
}

/** @param {Tracker} tracker @param {TrackedSide} side @param {TrackedPokemon} pokemon @param {string} name */
function mimic(tracker, side, pokemon, name) {
  const { slot } = side;
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
  slot.moves[place] = tracker.dexInfo.moves.of(name);
  if (tracker.dexInfo.generation > 1) tracker.setCopiedPp(slot, place);
  else slot.maxPp[place] = tracker.dexInfo.movePp[slot.moves[place]];
}

HANDLERS.set("-end", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const { slot } = side;
  const name = parts[3];
  if (name === "typechange") {
    slot.clearTypes();
    return;
  }
  const effect = tracker.volatiles.effect(name);
  if (effect) slot.volatiles.fill(0, effect.from, effect.to + 1);
  const id = effectId(name);
  if (id === "futuresight" || id === "doomdesire") side.futureTurn = 0;
  else if (id === "neutralizinggas") tracker.setGas(false);
});

HANDLERS.set("-activate", (tracker, parts) => {
  const ident = parts[2];
  if (!ident) return;
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  const name = parts[3];
  const { slot } = side;
  const { n, dexInfo } = tracker;
  const of = tagged(parts, "[of] ");
  if (!pokemon) return;
  if (name.startsWith("ability: ")) {
    const old = tagged(parts, "[ability] ");
    if (old) {
      // Mummy and the like: the fourth part has now the ability of the second.
      const target = sideOf(tracker, parts[4]);
      const victim = target.find(parts[4]);
      showAbility(tracker, ident, name.slice(9));
      if (victim && victim.ability === 0) victim.ability = dexInfo.abilities.of(old);
      if (victim === target.activePokemon) target.slot.ability = dexInfo.abilities.of(name.slice(9));
    } else {
      showAbility(tracker, ident, name.slice(9));
    }
    return;
  }
  if (name.startsWith("item: ")) {
    if (name === "item: Leppa Berry" || name === "item: Mystery Berry") restorePp(tracker, side, pokemon, parts[4], name === "item: Leppa Berry" ? 10 : 5);
    else if (!hasTag(parts, "[consumed]")) showItem(tracker, ident, name.slice(6));
    return;
  }
  switch (effectId(name)) {
    case "protect":
    case "maxguard":
      blocked(tracker, ident);
      break;
    case "trapped":
      slot.volatiles[n.trapped] = 1;
      break;
    case "lockon":
    case "mindreader":
      slot.volatiles[n.lockon] = 1;
      break;
    case "mimic":
      mimic(tracker, side, pokemon, parts[4]);
      break;
    case "poltergeist":
      showItem(tracker, ident, parts[4]);
      break;
    case "spite":
    case "eeriespell":
    case "gmaxdepletion":
      spend(tracker, side, pokemon, dexInfo.moves.of(parts[4]), Number(parts[5]) || 0);
      break;
    case "grudge":
      spend(tracker, side, pokemon, dexInfo.moves.of(parts[4]), 255);
      break;
    case "skillswap":
      swapAbilities(tracker, side, parts, of);
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
      if (effect && effect.from === n.bound && of) slot.volatiles[n.bound] ||= 1;
    }
  }
});

/** @param {Tracker} tracker @param {TrackedSide} side @param {TrackedPokemon} pokemon @param {string} name @param {number} pp */
function restorePp(tracker, side, pokemon, name, pp) {
  const move = tracker.dexInfo.moves.of(name);
  const { slot } = side;
  if (slot.hasMoves && pokemon === side.activePokemon) {
    const m = slot.moves.indexOf(move);
    if (m >= 0) slot.pp[m] = Math.min(slot.maxPp[m], slot.pp[m] + pp);
    return;
  }
  const m = tracker.learn(pokemon, move);
  if (m >= 0) pokemon.pp[m] = Math.min(tracker.dexInfo.movePp[move], pokemon.pp[m] + pp);
}

/** @param {Tracker} tracker @param {TrackedSide} side @param {string[]} parts @param {string} of */
function swapAbilities(tracker, side, parts, of) {
  if (!of) return;
  const other = sideOf(tracker, of);
  const mine = side.activePokemon;
  const theirs = other.activePokemon;
  if (!mine || !theirs || side === other) return;
  const { abilities } = tracker.dexInfo;
  // From the fifth generation on, both are named: what the first has now, then what the second has now.
  const got = abilities.of(parts[4] ?? "") || other.abilityOf(other.active);
  const gave = abilities.of(parts[5] ?? "") || side.abilityOf(side.active);
  if (mine.ability === 0) mine.ability = gave;
  if (theirs.ability === 0) theirs.ability = got;
  side.slot.ability = got;
  other.slot.ability = gave;
}

/** @type {Handler} */
function single(tracker, parts) {
  const { slot } = sideOf(tracker, parts[2]);
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
HANDLERS.set("-singleturn", single);
HANDLERS.set("-singlemove", single);

// ---- items, abilities, gimmicks ----

const SWAPS = new Set(["move: Trick", "move: Switcheroo"]);

HANDLERS.set("-item", (tracker, parts) => {
  const ident = parts[2];
  if (!ident) return;
  const from = tagged(parts, "[from] ");
  const of = tagged(parts, "[of] ");
  const pokemon = find(tracker, ident);
  if (!pokemon) return;
  // A herb that works as soon as it is swapped in is reported as used before it is reported as swapped.
  if (!SWAPS.has(from)) pokemon.lostItem = 0;
  showItem(tracker, ident, parts[3]);
  if (from === "ability: Frisk") showAbility(tracker, of, "Frisk");
  else if (from.startsWith("ability: ")) showAbility(tracker, ident, from.slice(9));
  if (of && from !== "ability: Frisk") loseItem(find(tracker, of), 0);
});

HANDLERS.set("-enditem", (tracker, parts) => {
  loseItem(find(tracker, parts[2]), tracker.dexInfo.items.of(parts[3]));
});

HANDLERS.set("-ability", (tracker, parts) => {
  const ident = parts[2];
  const side = sideOf(tracker, ident);
  const pokemon = side.find(ident);
  if (!pokemon) return;
  const { abilities } = tracker.dexInfo;
  const ability = abilities.of(parts[3]);
  if (parts[3] === "Neutralizing Gas") tracker.setGas(true);
  // As One announces its two halves by their names.
  if (!ability || abilities.ids[pokemon.ability].startsWith("asone")) return;
  if (tagged(parts, "[from] ").match(/^(ability|move): /)) {
    const old = abilities.of(parts[4] ?? "");
    if (pokemon.ability === 0 && side.slot.ability < 0 && old) pokemon.ability = old;
    if (pokemon === side.activePokemon) side.slot.ability = ability;
  } else {
    showAbility(tracker, ident, parts[3]);
  }
});

HANDLERS.set("-endability", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  side.slot.volatiles[tracker.n.gastroacid] = 1;
});

HANDLERS.set("-terastallize", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const pokemon = side.find(parts[2]);
  side.usedTera = true;
  if (!pokemon) return;
  pokemon.tera = tracker.dexInfo.types.of(parts[3]);
  pokemon.terastallized = true;
  side.slot.addedType = 0;
});

/** @type {Handler} */
function mega(tracker, parts) {
  sideOf(tracker, parts[2]).usedMega = true;
  showItem(tracker, parts[2], parts[4] ?? "");
}
HANDLERS.set("-mega", mega);
HANDLERS.set("-burst", mega);
HANDLERS.set("-primal", (tracker, parts) => showItem(tracker, parts[2], parts[3] ?? ""));
HANDLERS.set("-zpower", (tracker, parts) => {
  sideOf(tracker, parts[2]).usedZMove = true;
});

// ---- field and sides ----

HANDLERS.set("-weather", (tracker, parts) => {
  const id = effectId(parts[2]);
  const weather = id === "snow" ? WEATHERS.indexOf("snowscape") : Math.max(0, WEATHERS.indexOf(id));
  if (weather !== tracker.weather) tracker.weatherSince = tracker.turn;
  else if (!hasTag(parts, "[upkeep]")) tracker.weatherSince = tracker.turn;
  tracker.weather = weather;
  if (parts.length > 3) showCause(tracker, parts, tagged(parts, "[of] "));
});

HANDLERS.set("-fieldstart", (tracker, parts) => {
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

HANDLERS.set("-fieldend", (tracker, parts) => {
  if (TERRAINS.indexOf(effectId(parts[2])) > 0) {
    tracker.terrain = 0;
  } else {
    const room = tracker.rooms.of(parts[2]);
    if (room >= 0) tracker.roomSince[room] = 0;
  }
});

HANDLERS.set("-sidestart", (tracker, parts) => {
  const side = sideOf(tracker, parts[2]);
  const number = tracker.conditions.of(parts[3]);
  if (number < 0) return;
  if (side.layers[number] === 0) side.since[number] = tracker.turn;
  side.layers[number] = Math.min(side.layers[number] + 1, tracker.conditions.all[number].layers);
});

HANDLERS.set("-sideend", (tracker, parts) => {
  const number = tracker.conditions.of(parts[3]);
  if (number >= 0) sideOf(tracker, parts[2]).layers[number] = 0;
});

HANDLERS.set("-swapsideconditions", (tracker) => {
  const [first, second] = tracker.sides;
  [first.layers, second.layers] = [second.layers, first.layers];
  [first.since, second.since] = [second.since, first.since];
});

// ---- time ----

HANDLERS.set("turn", (tracker, parts) => {
  tracker.turn = Number(parts[2]);
  for (const side of tracker.sides) {
    const pokemon = side.activePokemon;
    const { slot } = side;
    slot.turns = Math.min(255, slot.turns + 1);
    if (pokemon && pokemon.status === tracker.toxic) pokemon.statusTurns++;
    for (const v of tracker.volatiles.counting) if (slot.volatiles[v] && slot.volatiles[v] < 255) slot.volatiles[v]++;
    // It holds for the next turn only.
    if (slot.volatiles[tracker.n.lockon] > 2) slot.volatiles[tracker.n.lockon] = 0;
    if (side.wishTurn && side.wishTurn < tracker.turn) side.wishTurn = 0;
    if (side.futureTurn && side.futureTurn < tracker.turn) side.futureTurn = 0;
  }
});
