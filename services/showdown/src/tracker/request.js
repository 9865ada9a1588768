/**
 * Reads the simulator's request to a seat. It is exact about the seat's own side and newer than the lines before it, so
 * it overrides them. The request is the simulator's live object and must not be changed.
 */
import { unmask } from "./disguise.js";
import { KNOWN, TrackedPokemon } from "./side.js";
import { learnTrap } from "./trap.js";

/** @typedef {import("./tracker.js").Tracker} Tracker */

/**
 * The parts of a request that this module and the actions read.
 * @typedef {object} RequestedMove
 * @property {string} id
 * @property {string} [target] kind of target, in doubles where the user may choose one
 * @property {number | null} [pp] null in a request that was rebuilt from a log: the lines say what was spent
 * @property {number} [maxpp]
 * @property {boolean | string} [disabled]
 *
 * @typedef {object} RequestedActive
 * @property {RequestedMove[]} moves
 * @property {boolean} [trapped]
 * @property {boolean} [maybeTrapped]
 * @property {boolean} [canMegaEvo]
 * @property {({move: string, target?: string} | null)[]} [canZMove]
 * @property {boolean} [canDynamax]
 * @property {{maxMoves: {target?: string, disabled?: boolean}[]}} [maxMoves]
 * @property {string} [canTerastallize]
 *
 * @typedef {object} RequestedPokemon
 * @property {string} ident
 * @property {string} details
 * @property {string} [condition] absent, as item and ability may be, where a log is all that is known: the lines count
 * @property {boolean} active
 * @property {Record<string, number>} stats with `hp` where the condition is absent
 * @property {string[]} moves
 * @property {string} [baseAbility]
 * @property {string} [ability]
 * @property {string} [item]
 * @property {string} [teraType]
 * @property {string} [terastallized]
 * @property {boolean} [reviving]
 * @property {boolean} [commanding]
 *
 * @typedef {object} Request
 * @property {boolean} [wait]
 * @property {boolean} [update] it corrects the previous request after a rejected choice
 * @property {boolean} [teamPreview]
 * @property {number} [maxChosenTeamSize]
 * @property {boolean[]} [forceSwitch]
 * @property {RequestedActive[]} [active] by position
 * @property {{pokemon: RequestedPokemon[]}} side
 */

/** What a request asks for. */
export const ASKS_NOTHING = 0;
export const ASKS_MOVE = 1;
export const ASKS_SWITCH = 2;
export const ASKS_TEAM = 3;

/** No place in the request. */
export const NOWHERE = 255;

/** @param {Tracker} tracker @param {Request} request */
export function readRequest(tracker, request) {
  tracker.request = request;
  tracker.leads = null;
  const listed = request.side.pokemon;
  const isFirst = !tracker.hasTeam;
  if (isFirst) orderTeam(tracker, listed);
  const { own } = tracker;
  const { places } = tracker;
  for (let row = 0; row < places.length; row++) places[row] = NOWHERE;
  let reviving = false;
  for (let place = 0; place < listed.length; place++) {
    const entry = listed[place];
    const row = rowOf(tracker, entry, places);
    if (row < 0) continue;
    places[row] = place;
    // The request begins with the active Pokémon, by position.
    const slot = entry.active && place < own.slots.length ? own.slots[place] : null;
    if (slot && row !== slot.row && !request.teamPreview) unmask(tracker, slot, row);
    const pokemon = own.pokemon[row];
    // The accelerated simulator reuses the entry of a Pokémon that has not changed. The active Pokémon is always read:
    // lines describe it without naming it, and its entry also describes the slot.
    if (entry !== pokemon.listed || entry.active || own.slotAt(row)) readPokemon(tracker, pokemon, entry, slot);
    pokemon.listed = entry;
    if (entry.reviving) reviving = true;
  }
  tracker.reviving = reviving;
  learnTrap(tracker, request);
  // An opponent that came in transformed copied moves that only this request lists.
  if (isFirst) {
    for (const slot of tracker.opponent.slots) if (slot.original) tracker.copyMoves(slot, slot.original);
  }
  tracker.asks = request.wait ? ASKS_NOTHING
    : request.teamPreview ? ASKS_TEAM
    : request.forceSwitch?.some(Boolean) ? ASKS_SWITCH
    : request.active ? ASKS_MOVE
    : ASKS_NOTHING;
  for (let position = 0; position < own.slots.length; position++) {
    const slot = own.slots[position];
    const { pokemon } = slot;
    if (!pokemon || places[slot.row] === NOWHERE) continue;
    readMoves(tracker, slot, pokemon, listed[places[slot.row]], request.active?.[position] ?? null, tracker.offers[position]);
  }
}

/**
 * Put the team in the order of the first request, which never changes.
 * @param {Tracker} tracker
 * @param {RequestedPokemon[]} listed
 */
function orderTeam(tracker, listed) {
  const { own } = tracker;
  const active = own.slots.map(({ pokemon }) => pokemon);
  const seen = own.pokemon;
  own.pokemon = listed.map(({ ident }) => {
    const name = ident.slice(4);
    const at = seen.findIndex((pokemon) => pokemon.name === name);
    return at >= 0 ? seen.splice(at, 1)[0] : new TrackedPokemon(name);
  });
  for (const [position, slot] of own.slots.entries()) {
    const pokemon = active[position];
    slot.row = pokemon ? own.pokemon.indexOf(pokemon) : -1;
  }
  own.teamSize = listed.length;
  tracker.hasTeam = true;
}

/** @param {Tracker} tracker @param {RequestedPokemon} entry @param {Uint8Array} places of the rows that are already matched @returns {number} */
function rowOf(tracker, entry, places) {
  const { ident } = entry;
  const team = tracker.own.pokemon;
  let fallback = -1;
  for (let row = 0; row < team.length; row++) {
    if (places[row] !== NOWHERE) continue;
    if (team[row].listed === entry) return row;
    const { name } = team[row];
    if (name.length !== ident.length - 4 || !ident.endsWith(name)) continue;
    // Two Pokémon of the same name differ in the details of their last requests.
    if (team[row].requestDetails === entry.details) return row;
    if (fallback < 0) fallback = row;
  }
  return fallback;
}

/**
 * @param {Tracker} tracker
 * @param {TrackedPokemon} pokemon
 * @param {RequestedPokemon} entry
 * @param {import("./slot.js").ActiveSlot | null} slot of an active Pokémon
 */
function readPokemon(tracker, pokemon, entry, slot) {
  const { dexInfo } = tracker;
  const isChanged = pokemon.requestDetails !== entry.details;
  if (isChanged) {
    const { species } = dexInfo.details(entry.details);
    pokemon.requestDetails = entry.details;
    pokemon.requestSpecies = species;
  }
  if (isChanged || pokemon.species !== pokemon.requestSpecies) {
    tracker.setDetails(tracker.own, pokemon, dexInfo.details(entry.details));
  }
  if (entry.condition !== undefined) pokemon.setCondition(entry.condition);
  const { stats } = entry;
  if (!pokemon.fainted) pokemon.stats[0] = stats.hp ?? pokemon.maxHp;
  pokemon.stats[1] = stats.atk;
  pokemon.stats[2] = stats.def;
  pokemon.stats[3] = stats.spa;
  pokemon.stats[4] = stats.spd;
  pokemon.stats[5] = stats.spe;
  if (dexInfo.generation >= 2 && entry.item !== undefined) {
    pokemon.item = dexInfo.items.of(entry.item);
    pokemon.itemKnown = KNOWN;
  }
  if (dexInfo.generation >= 3 && entry.baseAbility !== undefined) {
    pokemon.ability = dexInfo.abilities.of(entry.baseAbility);
    if (slot && entry.ability !== undefined) {
      slot.ability = entry.ability === entry.baseAbility ? -1 : dexInfo.abilities.of(entry.ability);
    }
  }
  // A transformed Pokémon's request lists the copied moves.
  const copies = slot && slot.volatiles[tracker.n.transformed];
  if (pokemon.numMoves === 0 && !copies) {
    for (const id of entry.moves) tracker.learn(pokemon, dexInfo.moves.of(id));
  }
  if (entry.teraType) {
    pokemon.tera = dexInfo.types.of(entry.terastallized || entry.teraType);
    pokemon.terastallized = Boolean(entry.terastallized);
  }
}

/**
 * Replace the own moves that the request lists no more.
 * @param {Tracker} tracker
 * @param {TrackedPokemon} pokemon
 * @param {string[]} listed ids
 */
function replaceMoves({ dexInfo }, pokemon, listed) {
  for (let m = 0; m < Math.min(pokemon.numMoves, listed.length); m++) {
    const move = dexInfo.moves.of(listed[m]);
    if (!move || move === pokemon.moves[m]) continue;
    pokemon.moves[m] = move;
    pokemon.pp[m] = dexInfo.movePp[move];
  }
}

/**
 * Forbid moves whose PP the lines show as spent, in a request that was rebuilt from a log. If no other is left, such a
 * log does not list all of the Pokémon's moves, and they stay.
 * @param {Uint8Array} usable
 * @param {ArrayLike<number>} pp
 * @param {number} num moves
 */
function leaveOutSpent(usable, pp, num) {
  let isAnyLeft = false;
  for (let m = 0; m < num; m++) if (usable[m] && pp[m] > 0) isAnyLeft = true;
  if (!isAnyLeft) return;
  for (let m = 0; m < num; m++) if (pp[m] <= 0) usable[m] = 0;
}

/**
 * Read the moves of an active Pokémon and their PP.
 * @param {Tracker} tracker
 * @param {import("./slot.js").ActiveSlot} slot
 * @param {TrackedPokemon} pokemon
 * @param {RequestedPokemon} entry
 * @param {RequestedActive | null} active null if the request does not ask for a move
 * @param {import("./tracker.js").Offer} offer receives what the request allows
 */
function readMoves(tracker, slot, pokemon, entry, active, offer) {
  const { dexInfo } = tracker;
  const { usable, moveAt } = offer;
  const { moves } = entry;
  const num = Math.min(4, moves.length);
  const transformed = slot.volatiles[tracker.n.transformed] === 1;
  // A crowned form's own move changes as it first comes in; only a copied move leaves a slot's mark.
  if (dexInfo.generation >= 8 && !transformed && !slot.hasMoves) replaceMoves(tracker, pokemon, moves);
  let differs = transformed;
  for (let m = 0; m < num; m++) if (dexInfo.moves.of(moves[m]) !== pokemon.moves[m]) differs = true;
  if (differs) {
    const { moves: shown, pp, maxPp } = { moves: slot.moves.slice(), pp: slot.pp.slice(), maxPp: slot.maxPp.slice() };
    for (let m = 0; m < num; m++) {
      const move = dexInfo.moves.of(moves[m]);
      // The first generation's Mimic may copy a move that its user has.
      const known = !slot.hasMoves ? -1 : shown[m] === move ? m : shown.indexOf(move);
      slot.moves[m] = move;
      if (known < 0) {
        tracker.setCopiedPp(slot, m);
      } else {
        slot.pp[m] = pp[known];
        slot.maxPp[m] = maxPp[known];
      }
    }
    slot.numMoves = num;
    slot.hasMoves = true;
  } else {
    slot.hasMoves = false;
  }
  offer.clear();
  if (!active) return;
  const asked = active.moves;
  const own4 = differs ? slot.moves : pokemon.moves;
  if (asked.length === moves.length && asked[0].pp !== undefined) {
    for (let m = 0; m < num; m++) {
      moveAt[m] = m;
      usable[m] = asked[m].disabled ? 0 : 1;
      const { pp } = asked[m];
      if (pp === undefined || pp === null) continue;
      if (differs) {
        slot.pp[m] = pp;
        slot.maxPp[m] = asked[m].maxpp ?? slot.maxPp[m];
      } else {
        pokemon.pp[m] = pp;
      }
    }
    if (asked[0].pp === null) leaveOutSpent(usable, differs ? slot.pp : pokemon.pp, num);
    else slot.volatiles[tracker.n.thrashing] = 0;
    return;
  }
  // The Pokémon is locked into one move, or left with one that is not its own, such as Struggle.
  const locked = dexInfo.moves.of(asked[0].id);
  let at = -1;
  for (let m = 0; m < num; m++) if (locked && own4[m] === locked) at = m;
  if (at < 0 && asked[0].id === "hiddenpower") at = moves.findIndex((id) => id.startsWith("hiddenpower"));
  if (at < 0) {
    at = 0;
    offer.lone = true;
  }
  moveAt[at] = 0;
  usable[at] = asked[0].disabled ? 0 : 1;
}
