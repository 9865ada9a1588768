/**
 * Events at a fraction of the cost. Of those that a battle runs, 96 to 99 in 100 concern nothing in it, and the
 * simulator finds that out by looking up some hundred names that it has just put together, for each decision. Here an
 * event that nothing at hand handles (`effects.js`) is over before it begins, and for any other only those are
 * asked that handle it, in the simulator's own order.
 *
 * Nothing is decided here but "certainly none": whatever is not known for certain counts as concerned.
 */
import {
  ALLY,
  ANY,
  FOE,
  KNOWN,
  OWN,
  SOURCE,
  handledByField,
  handledByPokemon,
  handledBySide,
  known,
  knownPokemon,
  namesOf,
} from "./effects.js";
import { lendMoves } from "./moves.js";
import { Battle, Pokemon, Side } from "../package.js";

/** Depth of events, and lines that wait, from which the simulator itself must speak. */
const MAX_DEPTH = 8;
const MAX_UNSENT_LINES = 1000;
/** Up to here a modifier of one leaves a number as it is; the simulator's 32 bits overflow beyond. */
const MAX_UNMODIFIED = 2 ** 20;

/** @typedef {import("./effects.js").EventNames} EventNames */

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
