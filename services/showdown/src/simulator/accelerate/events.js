/**
 * Faster events. Of 100 events that a battle runs, 96 to 99 have no handler, and the simulator finds this out by building
 * and looking up about a hundred names per decision. Here, an event that nothing present handles (`effects.js`) exits
 * early. For any other event, only the effects that handle it are asked, in the simulator's order.
 *
 * The answer "no handler" is always certain; in doubt, an event counts as handled.
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
import { lastLent, lendMoves } from "./moves.js";
import { Battle, Pokemon, Side } from "../package.js";

/** Event depth and unsent lines above which the simulator's own checks must run. */
const MAX_DEPTH = 8;
const MAX_UNSENT_LINES = 1000;
/** Below this, a modifier of 1 leaves a number unchanged; above it, the simulator's 32-bit arithmetic overflows. */
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
 * @returns {boolean} false only if nothing in the battle handles the event, for any target
 */
export function concernsAnything(battle, name, target, source) {
  const knownBattle = known(battle);
  const { conditions, format, isUsual, met } = knownBattle;
  if (!isUsual || battle.events !== null || !knownBattle.hasAllSides(battle)) return true;
  const event = namesOf(name).number;
  if (met[event] === 0) {
    // Conditions are registered when they begin (initEffectState), but a Pokémon's own effects may have changed.
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
 * The handlers of an event, without asking those that certainly have none.
 * @param {any} battle
 * @param {EventNames} names
 * @param {any} target neither a list nor a side
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

/** Replace the event dispatch of all battles of this process. */
export function dispatchEventsFast() {
  const prototype = /** @type {any} */ (Battle.prototype);
  const { runEvent, singleEvent, findEventHandlers, initEffectState } = prototype;

  /** Every condition that begins gets its state here. @this {any} @param {any} state @param {number} [effectOrder] */
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
    // Only the end of a turn runs this event, and it asks each move next.
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
      ((effect === lastLent && event === "DisableMove") || effect[namesOf(event).own] === undefined) &&
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
