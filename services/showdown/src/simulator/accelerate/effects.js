/**
 * Which events the effects of a battle may handle. The names of each effect's handlers are read once, into an array of
 * flags indexed by event. An effect that could still change counts as handling everything. This holds for battles played
 * from their beginning: a battle restored from a saved state would have conditions that never began here.
 */
import { EFFECTS } from "./pokemon.js";
import { Pokemon } from "../package.js";

/** How an effect may handle an event: by a handler named `on…`, `onAlly…` and so on. */
export const OWN = 1;
export const ALLY = 2;
export const ANY = 4;
export const FOE = 8;
export const SOURCE = 16;
const ALL = OWN | ALLY | ANY | FOE | SOURCE;
/** @type {[string, number][]} */
const PREFIXES = [["Ally", ALLY], ["Any", ANY], ["Foe", FOE], ["Source", SOURCE]];
/** Events that only their target handles. */
const UNPREFIXED = new Set(["BeforeTurn", "Update", "Weather", "WeatherChange", "TerrainChange"]);
/** Most distinct events; the simulator has about 300. */
const MAX_EVENTS = 1024;
/** Formats and rules do not change once loaded, though they are not frozen: a rule table is added later. */
const RULES = new Set(["Format", "Ruleset", "Rule", "ValidatorRule"]);
/** The simulator's methods that are replaced or skipped. A format that overrides one of them is left alone. */
export const DISPATCH = /** @type {const} */ ([
  "runEvent", "singleEvent", "findEventHandlers", "findPokemonEventHandlers", "findSideEventHandlers",
  "findFieldEventHandlers", "findBattleEventHandlers", "getCallback", "resolvePriority", "modify", "endTurn", "initEffectState",
  "eachEvent", "speedSort", "getAllActive",
]);
export const KNOWN = Symbol("known of a battle");

/** An event's names and its number. */
export class EventNames {
  /** @param {string} event @param {number} number */
  constructor(event, number) {
    this.number = number;
    this.isPrefixed = !UNPREFIXED.has(event);
    this.own = `on${event}`;
    this.ally = `onAlly${event}`;
    this.any = `onAny${event}`;
    this.foe = `onFoe${event}`;
    this.source = `onSource${event}`;
  }
}

/** @type {Map<string, EventNames>} */
const eventNames = new Map();

/** @param {string} event @returns {EventNames} */
export function namesOf(event) {
  let names = eventNames.get(event);
  if (!names) {
    if (eventNames.size === MAX_EVENTS) throw new RangeError(`more than ${MAX_EVENTS} different events`);
    eventNames.set(event, (names = new EventNames(event, eventNames.size)));
  }
  return names;
}

/** @typedef {Uint8Array} Handled flags by event number: how an effect may handle the event */

/** For an effect that may still change. @type {Handled} */
const EVERYTHING = new Uint8Array(MAX_EVENTS).fill(ALL);
/** @type {Handled} */
const NOTHING = new Uint8Array(MAX_EVENTS);

/** @type {WeakMap<object, Handled>} */
const handledByEffect = new WeakMap();

/** @param {Record<string, any>} effect @returns {Handled} */
function handledBy(effect) {
  let handled = handledByEffect.get(effect);
  if (!handled) handledByEffect.set(effect, (handled = readHandled(effect)));
  return handled;
}

/** @param {Record<string, any>} effect @returns {Handled} */
function readHandled(effect) {
  if (!RULES.has(effect.effectType) && !Object.isFrozen(effect)) return EVERYTHING;
  let handled = NOTHING;
  /** @param {string} event @param {number} how */
  const mark = (event, how) => {
    if (handled === NOTHING) handled = new Uint8Array(MAX_EVENTS);
    handled[namesOf(event).number] |= how;
  };
  for (const key in effect) {
    if (!key.startsWith("on")) continue;
    const event = key.slice(2);
    mark(event, OWN);
    for (const [prefix, how] of PREFIXES) if (event.startsWith(prefix)) mark(event.slice(prefix.length), how);
    // An ability or item without a SwitchIn handler runs its Start handler then.
    if (event === "Start") mark("SwitchIn", OWN);
  }
  return handled;
}

/** The conditions of one dex by id: volatiles, side conditions, weathers. */
class Conditions {
  /** @param {any} dex */
  constructor(dex) {
    this.dex = dex;
    /** @type {Map<string, Handled>} */
    this.handled = new Map();
  }

  /** @param {string} id @returns {Handled} */
  of(id) {
    let handled = this.handled.get(id);
    if (!handled) this.handled.set(id, (handled = handledBy(this.dex.conditions.getByID(id))));
    return handled;
  }
}

/** @type {WeakMap<object, Conditions>} */
const conditionsByDex = new WeakMap();

/** What is known of a battle. The battle holds it under a symbol, which nothing that copies or prints it sees. */
class KnownBattle {
  /** @param {any} battle */
  constructor(battle) {
    let conditions = conditionsByDex.get(battle.dex);
    if (!conditions) conditionsByDex.set(battle.dex, (conditions = new Conditions(battle.dex)));
    this.conditions = conditions;
    this.format = handledBy(battle.format);
    /** Whether the format leaves the event dispatch unchanged. */
    this.isUsual = !battle.debugMode && DISPATCH.every((name) => !Object.hasOwn(battle, name));
    /**
     * Union of the flags of every effect that the battle has met so far. An event without a flag here has no handler now.
     * @type {Handled}
     */
    this.met = this.format.slice();
    this.isComplete = false;
    /** @type {Set<string>} conditions included in it */
    this.metConditions = new Set();
    for (const id of presentConditions(battle)) this.meetCondition(id);
  }

  /** @param {any} battle the same @returns {boolean} whether all its players have joined */
  hasAllSides(battle) {
    return (this.isComplete ||= !battle.sides.includes(null));
  }

  /** @param {Handled} handled */
  meet(handled) {
    for (let event = 0; event < MAX_EVENTS; event++) this.met[event] |= handled[event];
  }

  /** @param {string} id */
  meetCondition(id) {
    if (this.metConditions.has(id)) return;
    this.metConditions.add(id);
    this.meet(this.conditions.of(id));
  }
}

/** @param {any} battle @yields {string} ids of the conditions in effect */
function* presentConditions({ field, sides }) {
  if (field.weather !== "") yield field.weather;
  if (field.terrain !== "") yield field.terrain;
  yield* Object.keys(field.pseudoWeather);
  for (const side of sides) {
    if (!side) continue;
    yield* Object.keys(side.sideConditions);
    for (const slot of side.slotConditions) yield* Object.keys(slot);
    for (const pokemon of side.pokemon) yield* Object.keys(pokemon.volatiles);
  }
}

const { getStatus, getAbility, getItem } = Pokemon.prototype;

class KnownPokemon {
  /** @param {any} pokemon */
  constructor(pokemon) {
    this.status = pokemon.status;
    this.ability = pokemon.ability;
    this.item = pokemon.item;
    this.species = pokemon.baseSpecies;
    const isUsual = pokemon.getStatus === getStatus && pokemon.getAbility === getAbility && pokemon.getItem === getItem;
    const effects = [pokemon.getStatus(), pokemon.getAbility(), pokemon.getItem(), pokemon.baseSpecies];
    /** @type {Handled[]} flags of its effects that handle anything */
    this.handled = isUsual ? effects.map(handledBy).filter((handled) => handled !== NOTHING) : [EVERYTHING];
  }

  /** @param {any} pokemon */
  isCurrent(pokemon) {
    return (
      this.status === pokemon.status &&
      this.ability === pokemon.ability &&
      this.item === pokemon.item &&
      this.species === pokemon.baseSpecies
    );
  }
}

/** @param {any} battle @returns {KnownBattle} */
export function known(battle) {
  return (battle[KNOWN] ??= new KnownBattle(battle));
}

/** @param {any} pokemon @returns {KnownPokemon} up to date */
export function knownPokemon(pokemon) {
  /** @type {KnownPokemon | null} */
  const read = pokemon[EFFECTS];
  if (read?.isCurrent(pokemon)) return read;
  const fresh = (pokemon[EFFECTS] = new KnownPokemon(pokemon));
  const battle = known(pokemon.battle);
  for (const handled of fresh.handled) battle.meet(handled);
  return fresh;
}

/**
 * @param {any} pokemon
 * @param {number} event
 * @param {Conditions} conditions
 * @returns {number} how it may handle the event
 */
export function handledByPokemon(pokemon, event, conditions) {
  let how = 0;
  const { handled } = knownPokemon(pokemon);
  for (let at = 0; at < handled.length; at++) how |= handled[at][event];
  const { volatiles } = pokemon;
  for (const id in volatiles) how |= conditions.of(id)[event];
  const slot = pokemon.side.slotConditions[pokemon.position];
  for (const id in slot) how |= conditions.of(id)[event];
  return how;
}

/** @param {any} field @param {number} event @param {Conditions} conditions @returns {number} */
export function handledByField(field, event, conditions) {
  let how = 0;
  if (field.weather !== "") how |= conditions.of(field.weather)[event];
  if (field.terrain !== "") how |= conditions.of(field.terrain)[event];
  for (const id in field.pseudoWeather) how |= conditions.of(id)[event];
  return how;
}

/** @param {any} side @param {number} event @param {Conditions} conditions @returns {number} */
export function handledBySide(side, event, conditions) {
  let how = 0;
  for (const id in side.sideConditions) how |= conditions.of(id)[event];
  return how;
}
