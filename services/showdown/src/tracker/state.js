/** The tracked state as plain JSON: what the `states` of the gateway's messages contain. */
import { legalChoices } from "./actions.js";
import { legalChoices as legalJointChoices } from "./doubles/actions.js";
import { BOOSTS, STATS, STATUSES } from "../simulator/dex.js";
import { TERRAINS, WEATHERS } from "./field.js";
import { ASKS_SWITCH, ASKS_TEAM } from "./request.js";
import { KNOWN } from "./side.js";

/** @typedef {import("./tracker.js").Tracker} Tracker */
/** @typedef {import("./side.js").TrackedSide} TrackedSide */
/** @typedef {import("./side.js").TrackedPokemon} TrackedPokemon */

/**
 * @param {Tracker} tracker
 * @returns {Record<string, unknown>} the whole tracked state as plain JSON, with ids instead of numbers
 */
export function stateOf(tracker) {
  const active = tracker.request?.active?.[0];
  return {
    turn: tracker.turn,
    generation: tracker.dexInfo.generation,
    asks: ["nothing", "move", "switch", "team"][tracker.asks],
    force_switch: tracker.asks === ASKS_SWITCH,
    team_preview: tracker.asks === ASKS_TEAM,
    reviving: tracker.reviving,
    ...activeState(active),
    weather: tracker.weather ? { id: WEATHERS[tracker.weather], since: tracker.weatherSince } : null,
    terrain: tracker.terrain ? { id: TERRAINS[tracker.terrain], since: tracker.terrainSince } : null,
    rooms: Object.fromEntries(
      tracker.rooms.ids.flatMap((id, i) => (tracker.roomSince[i] ? [[id, tracker.roomSince[i] - 1]] : [])),
    ),
    own: sideState(tracker, tracker.own),
    opponent: sideState(tracker, tracker.opponent),
    choices: tracker.own.slots.length === 1 ? legalChoices(tracker) : legalJointChoices(tracker),
    ...(tracker.own.slots.length === 1 ? {} : {
      maybe_trapped: Boolean(tracker.request?.active?.some(({ maybeTrapped }) => maybeTrapped)),
      leads: tracker.leads, slots: tracker.own.slots.map((_, position) => slotState(tracker, position)),
    }),
  };
}

/** @param {any} active of a request @returns what it says of one active Pokémon */
function activeState(active) {
  return {
    trapped: Boolean(active?.trapped),
    maybe_trapped: Boolean(active?.maybeTrapped),
    can_mega: Boolean(active?.canMegaEvo),
    can_z_move: Boolean(active?.canZMove),
    can_dynamax: Boolean(active?.canDynamax),
    can_tera: Boolean(active?.canTerastallize),
  };
}

/** @param {Tracker} tracker @param {number} position @returns what the request asks of one own slot in doubles */
function slotState({ request }, position) {
  const entry = request?.side.pokemon[position];
  const active = entry?.condition?.endsWith(" fnt") ? undefined : request?.active?.[position];
  return {
    force_switch: Boolean(request?.forceSwitch?.[position]),
    reviving: Boolean(entry?.reviving),
    commanding: Boolean(entry?.commanding),
    ...activeState(active),
    moves: (active?.moves ?? []).map(({ id, target, disabled }) => ({ id, target: target ?? null, disabled: Boolean(disabled) })),
  };
}

/** @param {Tracker} tracker @param {TrackedSide} side */
function sideState(tracker, side) {
  return {
    active: side.active,
    team_size: side.teamSize,
    used_mega: side.usedMega,
    used_z_move: side.usedZMove,
    used_dynamax: side.usedDynamax,
    used_tera: side.usedTera,
    conditions: Object.fromEntries(
      tracker.conditions.ids.flatMap((id, i) => (side.layers[i] ? [[id, { layers: side.layers[i], since: side.since[i] }]] : [])),
    ),
    future_turn: side.futureTurns[0],
    wish_turn: side.wishTurns[0],
    ...(side.slots.length === 1 ? {} : {
      slots: side.slots.map(({ row }) => row), future_turns: [...side.futureTurns], wish_turns: [...side.wishTurns],
    }),
    pokemon: side.pokemon.map((pokemon, row) => pokemonState(tracker, side, pokemon, row)),
  };
}

/** @param {Tracker} tracker @param {TrackedSide} side @param {TrackedPokemon} pokemon @param {number} row */
function pokemonState(tracker, side, pokemon, row) {
  const { species, items, abilities, moves, types } = tracker.dexInfo;
  const at = side.slotAt(row);
  const active = at !== null;
  const slot = at ?? side.slot;
  const current = at?.hasMoves ? at : pokemon;
  side.writeTypes(row, tracker.scratchTypes);
  return {
    name: pokemon.name,
    species: species.ids[pokemon.species],
    forme: species.ids[side.speciesOf(row)],
    level: pokemon.level,
    gender: ["", "M", "F"][pokemon.gender],
    hp: pokemon.hp,
    max_hp: pokemon.maxHp,
    status: STATUSES[pokemon.status],
    status_turns: pokemon.statusTurns,
    resting: Boolean(pokemon.resting),
    fainted: pokemon.fainted,
    active,
    revealed: pokemon.revealed,
    types: [...tracker.scratchTypes].filter(Boolean).map((type) => types.ids[type]),
    item: pokemon.itemKnown === KNOWN ? items.ids[pokemon.item] : null,
    lost_item: items.ids[pokemon.lostItem],
    ability: abilities.ids[side.abilityOf(row)],
    base_ability: abilities.ids[pokemon.ability],
    tera: types.ids[pokemon.tera],
    terastallized: pokemon.terastallized,
    stats: side === tracker.own ? Object.fromEntries(STATS.map((stat, i) => [stat, pokemon.stats[i]])) : null,
    moves: Array.from({ length: current.numMoves }, (_, m) => ({
      id: moves.ids[current.moves[m]],
      pp: current.pp[m],
      max_pp: current === at ? at.maxPp[m] : tracker.dexInfo.movePp[current.moves[m]],
    })),
    boosts: Object.fromEntries(BOOSTS.map((stat, i) => [stat, active ? slot.boosts[i] : 0])),
    volatiles: Object.fromEntries(
      tracker.volatiles.all.flatMap(({ id }, i) => (active && slot.volatiles[i] ? [[id, slot.volatiles[i]]] : [])),
    ),
    last_move: active ? moves.ids[slot.lastMove] : "",
    prepared: active ? moves.ids[slot.prepared] : "",
    stalls: active ? slot.stalls : 0,
    turns: active ? slot.turns : 0,
  };
}