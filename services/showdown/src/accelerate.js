/**
 * A faster simulator that plays the same. Of the events that a battle runs, 96 to 99 in 100 concern nothing in it, and
 * the simulator finds that out by looking up some hundred names that it has just put together, for each decision:
 * a third of its time. Here each effect's handlers are read once; an event that none of the effects at hand handles
 * has no handlers, and every other goes the simulator's own way.
 *
 * Nothing is decided here but "certainly none": whatever is not known for certain counts as concerned.
 */
import { Battle, Pokemon, simulatorVersion } from "./simulator.js";
import { log } from "./log.js";

/** The version whose event dispatch this knows. */
const KNOWN_VERSION = "0.11.11";
/** What may stand between `on` and an event's name in a handler's name. */
const PREFIXES = ["Ally", "Any", "Foe", "Source"];
/** An event whose handlers are also looked up by another name, `onStart`. */
const ALIASED = "SwitchIn";
/** Formats and their rules are complete once they are loaded, though not frozen: a rule table is added later. */
const RULES = new Set(["Format", "Ruleset", "Rule", "ValidatorRule"]);
const KNOWN = Symbol("effects that were read");

/** @typedef {{has: (event: string) => boolean}} Events names of events */

/** What an effect that may still change could handle. @type {Events} */
const EVERYTHING = { has: () => true };

/** @type {WeakMap<object, Events>} */
const eventsByEffect = new WeakMap();

/**
 * @param {Record<string, any>} effect
 * @returns {Events} at least the events that it handles
 */
function eventsOf(effect) {
  let events = eventsByEffect.get(effect);
  if (!events) eventsByEffect.set(effect, (events = readEvents(effect)));
  return events;
}

/** @param {Record<string, any>} effect @returns {Events} */
function readEvents(effect) {
  if (!RULES.has(effect.effectType) && !Object.isFrozen(effect)) return EVERYTHING;
  const events = new Set();
  for (const key in effect) {
    if (!key.startsWith("on")) continue;
    const event = key.slice(2);
    events.add(event);
    for (const prefix of PREFIXES) if (event.startsWith(prefix)) events.add(event.slice(prefix.length));
  }
  return events;
}

/** The conditions of one dex by id: volatiles, side conditions, weathers. */
class Conditions {
  /** @param {any} dex */
  constructor(dex) {
    this.dex = dex;
    /** @type {Map<string, Events>} */
    this.events = new Map();
  }

  /** @param {string} id @returns {Events} */
  of(id) {
    let events = this.events.get(id);
    if (!events) this.events.set(id, (events = eventsOf(this.dex.conditions.getByID(id))));
    return events;
  }
}

/** @type {WeakMap<object, Conditions>} */
const conditionsByDex = new WeakMap();

/** What was read of a battle or a Pokémon stands on itself, by a symbol: nothing that copies or prints it sees that. */
class KnownBattle {
  /** @param {any} battle */
  constructor(battle) {
    let conditions = conditionsByDex.get(battle.dex);
    if (!conditions) conditionsByDex.set(battle.dex, (conditions = new Conditions(battle.dex)));
    this.conditions = conditions;
    this.format = eventsOf(battle.format);
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
    /** @type {Events[]} those of the effects that handle anything */
    this.events = isUsual ? effects.map(eventsOf).filter((events) => !(events instanceof Set && events.size === 0)) : [EVERYTHING];
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

/**
 * @param {any} pokemon
 * @param {string} event
 * @param {Conditions} conditions
 */
function concernsPokemon(pokemon, event, conditions) {
  /** @type {KnownPokemon | undefined} */
  let known = pokemon[KNOWN];
  if (known === undefined || !known.isCurrent(pokemon)) known = pokemon[KNOWN] = new KnownPokemon(pokemon);
  for (const events of known.events) if (events.has(event)) return true;
  return (
    concernsOneOf(pokemon.volatiles, event, conditions) ||
    concernsOneOf(pokemon.side.slotConditions[pokemon.position], event, conditions)
  );
}

/**
 * @param {Record<string, unknown>} states by the condition's id
 * @param {string} event
 * @param {Conditions} conditions
 */
function concernsOneOf(states, event, conditions) {
  for (const id in states) if (conditions.of(id).has(event)) return true;
  return false;
}

/**
 * @param {any} battle
 * @param {string} event
 * @param {any} target
 * @param {any} source
 * @returns {boolean} false only if nothing in the battle handles the event, whoever its target is
 */
function concernsAnything(battle, event, target, source) {
  /** @type {KnownBattle} */
  const { conditions, format } = (battle[KNOWN] ??= new KnownBattle(battle));
  if (format.has(event)) return true;
  const { field } = battle;
  if (conditions.of(field.weather).has(event) || conditions.of(field.terrain).has(event)) return true;
  if (concernsOneOf(field.pseudoWeather, event, conditions)) return true;
  for (const side of battle.sides) {
    if (!side) return true;
    if (concernsOneOf(side.sideConditions, event, conditions)) return true;
    for (const active of side.active) if (active && concernsPokemon(active, event, conditions)) return true;
  }
  // Either may be on the bench.
  if (target instanceof Pokemon && !target.isActive && concernsPokemon(target, event, conditions)) return true;
  return source instanceof Pokemon && !source.isActive && concernsPokemon(source, event, conditions);
}

/**
 * Make all battles of this process dispatch events faster, if the simulator is the one that this knows.
 * @returns {boolean} whether it does
 */
export function accelerate() {
  const prototype = /** @type {any} */ (Battle.prototype);
  const findEventHandlers = prototype.findEventHandlers;
  if (simulatorVersion !== KNOWN_VERSION || findEventHandlers?.length !== 3) {
    log("warning", "this simulator is not the one that can be sped up: it runs as it is", {
      simulator: simulatorVersion,
      known: KNOWN_VERSION,
    });
    return false;
  }
  /** @this {any} @param {any} target @param {string} event @param {any} [source] */
  prototype.findEventHandlers = function (target, event, source) {
    const isOwnWay = event === ALIASED || this.events || Array.isArray(target);
    if (!isOwnWay && !concernsAnything(this, event, target, source)) return [];
    return findEventHandlers.call(this, target, event, source);
  };
  return true;
}
