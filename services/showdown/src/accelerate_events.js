/**
 * Events at a fraction of the cost. Of those that a battle runs, 96 to 99 in 100 concern nothing in it, and the
 * simulator finds that out by looking up some hundred names that it has just put together, for each decision. Here the
 * names of each effect's handlers are read once, into a row of flags with a place for each event; then an event that
 * nothing at hand handles is over before it begins, and for any other only those are asked that handle it, in the
 * simulator's own order.
 *
 * Nothing is decided here but "certainly none": whatever is not known for certain counts as concerned. Battles are
 * played from their beginning: one restored from a saved state would have conditions that never began here.
 */
import { lendMoves } from "./accelerate_moves.js";
import { EFFECTS } from "./accelerate_pokemon.js";
import { Battle, Pokemon, Side } from "./simulator.js";

/** How an effect may handle an event: by a handler named `on…`, `onAlly…` and so on. */
const OWN = 1;
const ALLY = 2;
const ANY = 4;
const FOE = 8;
const SOURCE = 16;
const ALL = OWN | ALLY | ANY | FOE | SOURCE;
/** @type {[string, number][]} */
const PREFIXES = [["Ally", ALLY], ["Any", ANY], ["Foe", FOE], ["Source", SOURCE]];
/** Events that are told to their target alone. */
const UNPREFIXED = new Set(["BeforeTurn", "Update", "Weather", "WeatherChange", "TerrainChange"]);
/** Most different events; the simulator has some 300. */
const MAX_EVENTS = 1024;
/** Depth of events, and lines that wait, from which the simulator itself must speak. */
const MAX_DEPTH = 8;
const MAX_UNSENT_LINES = 1000;
/** Up to here a modifier of one leaves a number as it is; the simulator's 32 bits overflow beyond. */
const MAX_UNMODIFIED = 2 ** 20;
/** Formats and their rules are complete once they are loaded, though not frozen: a rule table is added later. */
const RULES = new Set(["Format", "Ruleset", "Rule", "ValidatorRule"]);
/** The simulator's methods that this stands in for or leaves out; a format's own version of one goes its own way. */
export const DISPATCH = /** @type {const} */ ([
  "runEvent", "singleEvent", "findEventHandlers", "findPokemonEventHandlers", "findSideEventHandlers",
  "findFieldEventHandlers", "findBattleEventHandlers", "getCallback", "resolvePriority", "modify", "endTurn", "initEffectState",
  "eachEvent", "speedSort", "getAllActive",
]);
const KNOWN = Symbol("what was read of a battle");

/** An event's names and its number. */
class EventNames {
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
function namesOf(event) {
  let names = eventNames.get(event);
  if (!names) {
    if (eventNames.size === MAX_EVENTS) throw new RangeError(`more than ${MAX_EVENTS} different events`);
    eventNames.set(event, (names = new EventNames(event, eventNames.size)));
  }
  return names;
}

/** @typedef {Uint8Array} Handled by an event's number: how it is handled at least */

/** What an effect that may still change could handle. @type {Handled} */
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
    // An ability or item that has nothing of its own for a switch-in starts then.
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

/** What was read of a battle stands on itself, by a symbol: nothing that copies or prints it sees that. */
class KnownBattle {
  /** @param {any} battle */
  constructor(battle) {
    let conditions = conditionsByDex.get(battle.dex);
    if (!conditions) conditionsByDex.set(battle.dex, (conditions = new Conditions(battle.dex)));
    this.conditions = conditions;
    this.format = handledBy(battle.format);
    /** Whether the format leaves the dispatch as it is. */
    this.isUsual = !battle.debugMode && DISPATCH.every((name) => !Object.hasOwn(battle, name));
    /**
     * How events were handled by anything that the battle has met so far. What no effect of all these handles needs no
     * look at those that are there now.
     * @type {Handled}
     */
    this.met = this.format.slice();
    /** @type {Set<string>} conditions among them */
    this.metConditions = new Set();
    for (const id of presentConditions(battle)) this.meetCondition(id);
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

/** @param {any} battle @yields {string} ids of the conditions that are there now */
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
    /** @type {Handled[]} by those of its effects that handle anything */
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
function known(battle) {
  return (battle[KNOWN] ??= new KnownBattle(battle));
}

/** @param {any} pokemon @returns {KnownPokemon} as it is now */
function knownPokemon(pokemon) {
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
function handledByPokemon(pokemon, event, conditions) {
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
function handledByField(field, event, conditions) {
  let how = 0;
  if (field.weather !== "") how |= conditions.of(field.weather)[event];
  if (field.terrain !== "") how |= conditions.of(field.terrain)[event];
  for (const id in field.pseudoWeather) how |= conditions.of(id)[event];
  return how;
}

/** @param {any} side @param {number} event @param {Conditions} conditions @returns {number} */
function handledBySide(side, event, conditions) {
  let how = 0;
  for (const id in side.sideConditions) how |= conditions.of(id)[event];
  return how;
}

/** @param {any[]} sides @param {any} target @param {any} source */
function meetPokemon(sides, target, source) {
  for (const side of sides) for (const active of side.active) if (active) knownPokemon(active);
  // Either may be on the bench.
  if (target instanceof Pokemon && !target.isActive) knownPokemon(target);
  if (source instanceof Pokemon && !source.isActive) knownPokemon(source);
}

/**
 * @param {any} battle
 * @param {string} name
 * @param {any} target
 * @param {any} source
 * @returns {boolean} false only if nothing in the battle handles the event, whoever its target is
 */
export function concernsAnything(battle, name, target, source) {
  const { conditions, format, isUsual, met } = known(battle);
  if (!isUsual || battle.events !== null || battle.sides.includes(null)) return true;
  const event = namesOf(name).number;
  if (met[event] === 0) {
    // Conditions are met as they begin (initEffectState); of a Pokémon's own effects any may be another by now.
    meetPokemon(battle.sides, target, source);
    if (met[event] === 0) return false;
  }
  let how = format[event] | handledByField(battle.field, event, conditions);
  for (const side of battle.sides) {
    how |= handledBySide(side, event, conditions);
    for (const active of side.active) if (active) how |= handledByPokemon(active, event, conditions);
  }
  // Either may be on the bench.
  if (target instanceof Pokemon && !target.isActive) how |= handledByPokemon(target, event, conditions);
  if (source instanceof Pokemon && !source.isActive) how |= handledByPokemon(source, event, conditions);
  return how !== 0;
}

/**
 * The handlers of an event, those that surely have none left out.
 * @param {any} battle
 * @param {EventNames} names
 * @param {any} target no list and no side
 * @param {any} source
 * @returns {any[]}
 */
function findHandlers(battle, names, target, source) {
  const { conditions, format } = known(battle);
  const { number, isPrefixed } = names;
  /** @type {any[]} */
  const handlers = [];
  /** @param {any} pokemon @param {number} how @param {string} callback */
  const ask = (pokemon, how, callback) => {
    if (handledByPokemon(pokemon, number, conditions) & how) handlers.push(...battle.findPokemonEventHandlers(pokemon, callback));
  };
  let side = null;
  if (target instanceof Pokemon && (target.isActive || source?.isActive)) {
    ask(target, OWN, names.own);
    if (isPrefixed) {
      for (const ally of target.alliesAndSelf()) {
        ask(ally, ALLY, names.ally);
        ask(ally, ANY, names.any);
      }
      for (const foe of target.foes()) {
        ask(foe, FOE, names.foe);
        ask(foe, ANY, names.any);
      }
    }
    side = target.side;
  }
  if (source && isPrefixed) ask(source, SOURCE, names.source);
  if (side) {
    for (const other of battle.sides) {
      // Allies of a multi battle share the conditions of the first.
      if (other.n >= 2 && other.allySide) continue;
      const how = handledBySide(other, number, conditions);
      if (other === side || other === /** @type {any} */ (side).allySide) {
        if (how & OWN) handlers.push(...battle.findSideEventHandlers(other, names.own));
      } else if (isPrefixed && how & FOE) {
        handlers.push(...battle.findSideEventHandlers(other, names.foe));
      }
      if (isPrefixed && how & ANY) handlers.push(...battle.findSideEventHandlers(other, names.any));
    }
  }
  if (handledByField(battle.field, number, conditions) & OWN) {
    handlers.push(...battle.findFieldEventHandlers(battle.field, names.own));
  }
  if (format[number] & OWN) handlers.push(...battle.findBattleEventHandlers(names.own));
  return handlers;
}

/** Let all battles of this process dispatch their events so. */
export function dispatchEventsFast() {
  const prototype = /** @type {any} */ (Battle.prototype);
  const { runEvent, singleEvent, findEventHandlers, initEffectState } = prototype;

  /** Whatever begins gets its state here. @this {any} @param {any} state @param {number} [effectOrder] */
  prototype.initEffectState = function (state, effectOrder) {
    if (state.id && this[KNOWN]) this[KNOWN].meetCondition(state.id);
    return initEffectState.call(this, state, effectOrder);
  };

  /**
   * @this {any}
   * @param {string} event
   * @param {any} target
   * @param {any} source
   * @param {any} sourceEffect
   * @param {any} relayVar
   * @param {any} onEffect
   * @param {any} fastExit
   */
  prototype.runEvent = function (event, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    lendMoves(0);
    const isPlain = !onEffect && this.eventDepth < MAX_DEPTH && !Array.isArray(target);
    if (!isPlain || concernsAnything(this, event, target, source)) {
      const answer = runEvent.call(this, event, target, source, sourceEffect, relayVar, onEffect, fastExit);
      if (event === "DisableMove" && known(this).isUsual) lendMoves(target.moveSlots.length);
      return answer;
    }
    // The end of a turn is the only one to ask this, and asks each move next.
    if (event === "DisableMove") lendMoves(target.moveSlots.length);
    if (relayVar === undefined || relayVar === null) return true;
    if (typeof relayVar === "number" && relayVar >= MAX_UNMODIFIED && Number.isInteger(relayVar)) return this.modify(relayVar, 1);
    return relayVar;
  };

  /**
   * @this {any}
   * @param {string} event
   * @param {any} effect
   * @param {any} state
   * @param {any} target
   * @param {any} source
   * @param {any} sourceEffect
   * @param {any} relayVar
   * @param {any} customCallback
   */
  prototype.singleEvent = function (event, effect, state, target, source, sourceEffect, relayVar, customCallback) {
    const isOver =
      !customCallback &&
      effect[namesOf(event).own] === undefined &&
      this.eventDepth < MAX_DEPTH &&
      this.log.length - this.sentLogPos <= MAX_UNSENT_LINES &&
      known(this).isUsual;
    if (isOver) return relayVar === undefined ? true : relayVar;
    lendMoves(0);
    return singleEvent.call(this, event, effect, state, target, source, sourceEffect, relayVar, customCallback);
  };

  /** @this {any} @param {any} target @param {string} event @param {any} [source] */
  prototype.findEventHandlers = function (target, event, source) {
    if (Array.isArray(target) || target instanceof Side || this.events !== null || !known(this).isUsual) {
      return findEventHandlers.call(this, target, event, source);
    }
    return findHandlers(this, namesOf(event), target, source);
  };
}
