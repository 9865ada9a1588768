/** Offsets of the fields in a block's row, by name; -1 for a field that the generation does not have. */
import { offsetOf } from "./layout.js";

/** @typedef {import("./layout.js").Block} Block */

/** @param {Block} block */
export function pokemonOffsets(block) {
  return {
    present: offsetOf(block, "present"),
    revealed: offsetOf(block, "revealed"),
    active: Math.max(offsetOf(block, "active"), offsetOf(block, "active_a")),
    brought: offsetOf(block, "brought"),
    leads: offsetOf(block, "leads"),
    fainted: offsetOf(block, "fainted"),
    species: offsetOf(block, "species"),
    types: offsetOf(block, "types"),
    level: offsetOf(block, "level"),
    hp: offsetOf(block, "hp"),
    status: offsetOf(block, "status"),
    statusTurns: offsetOf(block, "status_turns"),
    resting: offsetOf(block, "resting"),
    baseStats: offsetOf(block, "base_stats"),
    stats: offsetOf(block, "stats"),
    attack: offsetOf(block, "attack_matchup"),
    defence: offsetOf(block, "defence_matchup"),
    item: offsetOf(block, "item"),
    itemKnown: offsetOf(block, "item_known"),
    lostItem: offsetOf(block, "lost_item"),
    ability: offsetOf(block, "ability"),
    abilityKnown: offsetOf(block, "ability_known"),
    tera: offsetOf(block, "tera_type"),
    terastallized: offsetOf(block, "terastallized"),
  };
}

/** @param {Block} block */
export function moveOffsets(block) {
  return {
    move: offsetOf(block, "move"),
    known: offsetOf(block, "known"),
    type: offsetOf(block, "type"),
    physical: offsetOf(block, "physical"),
    special: offsetOf(block, "special"),
    power: offsetOf(block, "power"),
    accuracy: offsetOf(block, "accuracy"),
    effectiveness: offsetOf(block, "effectiveness"),
    spreads: offsetOf(block, "spreads"),
    hitsAlly: offsetOf(block, "hits_ally"),
    atOwn: offsetOf(block, "at_own"),
    stab: offsetOf(block, "stab"),
    priority: offsetOf(block, "priority"),
    pp: offsetOf(block, "pp"),
    usable: offsetOf(block, "usable"),
  };
}

/** @param {Block} block */
export function fieldOffsets(block) {
  return {
    turn: offsetOf(block, "turn"),
    forceSwitch: offsetOf(block, "force_switch"),
    reviving: offsetOf(block, "reviving"),
    teamPreview: offsetOf(block, "team_preview"),
    weather: offsetOf(block, "weather"),
    weatherTurns: offsetOf(block, "weather_turns"),
    terrain: offsetOf(block, "terrain"),
    terrainTurns: offsetOf(block, "terrain_turns"),
  };
}

/**
 * @param {Block} block the field in singles, the active slots in doubles
 * @param {string} prefix of the names
 * @param {import("../tracker/tracker.js").Numbers} numbers
 */
export function slotOffsets(block, prefix, numbers) {
  return {
    boosts: offsetOf(block, `${prefix}boosts`),
    volatiles: Int16Array.from(numbers.volatiles.all, ({ id }) => offsetOf(block, `${prefix}${id}`)),
    lastMove: offsetOf(block, `${prefix}last_move`),
    stalls: offsetOf(block, `${prefix}stalls`),
    turnsActive: offsetOf(block, `${prefix}turns_active`),
    future: offsetOf(block, `${prefix}future_move`),
    wish: offsetOf(block, `${prefix}wish`),
  };
}

/** @param {Block} block where the request's fields of an own slot are: as for `slotOffsets` */
export function requestOffsets(block) {
  return {
    forceSwitch: offsetOf(block, "force_switch"),
    reviving: offsetOf(block, "reviving"),
    commanding: offsetOf(block, "commanding"),
    trapped: offsetOf(block, "trapped"),
    maybeTrapped: offsetOf(block, "maybe_trapped"),
    canMega: offsetOf(block, "can_mega"),
    canZMove: offsetOf(block, "can_z_move"),
    canDynamax: offsetOf(block, "can_dynamax"),
    canTera: offsetOf(block, "can_tera"),
  };
}

/** @param {Block} block @param {string} side @param {import("../tracker/tracker.js").Numbers} numbers */
export function sideOffsets(block, side, numbers) {
  return {
    conditions: Int16Array.from(numbers.conditions.all, ({ id }) => offsetOf(block, `${side}_side_${id}`)),
    conditionTurns: Int16Array.from(numbers.conditions.all, ({ id }) => offsetOf(block, `${side}_side_${id}_turns`)),
    left: offsetOf(block, `${side}_left`),
    usedMega: offsetOf(block, `${side}_used_mega`),
    usedZMove: offsetOf(block, `${side}_used_z_move`),
    usedDynamax: offsetOf(block, `${side}_used_dynamax`),
    usedTera: offsetOf(block, `${side}_used_tera`),
  };
}
