/**
 * A world as plain JSON, in the simulator's ids: what a search program outside of this process needs to rebuild it.
 * Everything in it is seen by the seat or drawn, because worlds are.
 */
import { toID } from "../simulator/package.js";

/** @typedef {import("../simulator/package.js").Battle} Battle */

/**
 * @param {Battle} world that waits for a decision
 * @param {number} seat
 * @returns {Record<string, any>} `own` and `opponent` list their Pokémon in the order of the side's request
 */
export function snapshot(world, seat) {
  const { field } = world;
  const turns = (/** @type {any} */ state) => state?.duration ?? null;
  return {
    generation: world.gen,
    team_preview: world.requestState === "teampreview",
    weather: field.weather ? { id: field.weather, turns: turns(field.weatherState) } : null,
    terrain: field.terrain ? { id: field.terrain, turns: turns(field.terrainState) } : null,
    trick_room: turns(field.pseudoWeather.trickroom),
    own: sideOf(world.sides[seat]),
    opponent: sideOf(world.sides[1 - seat]),
  };
}

/** @param {any} side */
function sideOf(side) {
  const [active] = side.active;
  const request = side.activeRequest;
  return {
    active: active ? active.position : 0,
    force_switch: Boolean(request?.forceSwitch?.[0]),
    trapped: Boolean(request?.active?.[0]?.trapped),
    last_move: active?.lastMove?.id ?? "",
    conditions: Object.fromEntries(
      Object.entries(side.sideConditions).map(([id, { layers, duration }]) => [id, { layers: layers ?? 1, turns: duration ?? null }]),
    ),
    boosts: { ...active?.boosts },
    volatiles: Object.fromEntries(Object.entries(active?.volatiles ?? {}).map(([id, state]) => [id, volatileOf(active, id, state)])),
    substitute_hp: active?.volatiles.substitute?.hp ?? 0,
    pokemon: side.pokemon.map((/** @type {any} */ pokemon) => pokemonOf(pokemon, pokemon === active ? request?.active?.[0]?.moves : undefined)),
  };
}

/** @param {any} pokemon @param {string} id @param {any} state */
function volatileOf(pokemon, id, state) {
  const whole = pokemon.battle.dex.conditions.get(id).duration ?? state.duration ?? 0;
  return { left: state.duration ?? null, passed: Math.max(0, whole - (state.duration ?? whole)), stat: state.bestStat ?? null };
}

/**
 * @param {any} pokemon
 * @param {{id: string, disabled?: boolean | string}[] | undefined} offered the moves of its request; undefined: it has none
 */
function pokemonOf(pokemon, offered) {
  const { species, set, statusState } = pokemon;
  const isAsleep = pokemon.status === "slp";
  const allowed = offered && new Set(offered.filter(({ disabled }) => !disabled).map(({ id }) => id));
  return {
    species: species.isCosmeticForme ? toID(species.baseSpecies) : species.id,
    level: pokemon.level,
    types: pokemon.getTypes().map(toID),
    base_types: species.types.map(toID),
    hp: pokemon.hp,
    max_hp: pokemon.maxhp,
    stats: { ...pokemon.storedStats },
    evs: { ...set.evs },
    nature: toID(set.nature),
    ability: pokemon.ability,
    base_ability: pokemon.baseAbility,
    item: pokemon.item,
    status: pokemon.status,
    is_resting: isAsleep && Boolean(statusState.isResting),
    sleep_turns: isAsleep ? statusState.startTime - statusState.time : 0,
    sleep_left: isAsleep ? statusState.time : 0,
    toxic_turns: (pokemon.status === "tox" && (pokemon.volatiles.residualdmg?.counter ?? statusState.stage)) || 0,
    weight_kg: pokemon.weighthg / 10,
    is_mega: Boolean(species.isMega),
    tera_type: toID(pokemon.teraType),
    is_terastallized: Boolean(pokemon.terastallized),
    hidden_power: toID(pokemon.hpType),
    moves: pokemon.moveSlots.map((/** @type {any} */ { id, pp, disabled }) => ({ id, pp, disabled: allowed ? !allowed.has(id) : Boolean(disabled) })),
  };
}
