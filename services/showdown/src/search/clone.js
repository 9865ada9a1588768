/**
 * Copies of a battle that has no observers, for planning: about 20 times as fast as the simulator's own way through JSON.
 *
 * A copy shares what never changes (species, moves, sets, rules) and has everything else for itself. A copy of a battle
 * that was `silence`d keeps no log; other copies begin with an empty one.
 */
import { Battle, BattleQueue, Field, PRNG, Pokemon, Side, simulatorSeed } from "../simulator/package.js";

/** @typedef {import("../simulator/package.js").Battle} LiveBattle */

/** Properties of a battle that all copies share. Its generator of random numbers is replaced. */
const SHARED = new Set(["dex", "format", "ruleTable", "teamGenerator", "prng", "hints", "log", "inputLog", "messageLog", "send"]);
/** Of a Pokémon or a side: the sets as the players brought them. */
const SETS = new Set(["set", "team"]);

/** Methods that write the log. */
const WRITERS = ["add", "addMove", "addSplit", "attrLastMove", "retargetLastMove", "hint", "debug", "sendUpdates"];

function nothing() {}

/**
 * Make a battle write no log from now on, and none in its copies.
 * @param {any} battle
 */
export function silence(battle) {
  for (const name of WRITERS) battle[name] = nothing;
  battle.send = nothing;
  battle.log = [];
  battle.lastMoveLine = -1;
  battle.sentLogPos = 0;
}

/** @param {object} prototype @returns {boolean} whether objects of this class belong to one battle */
function isOwned(prototype) {
  return (
    prototype === Pokemon.prototype ||
    prototype === Side.prototype ||
    prototype === Field.prototype ||
    prototype === BattleQueue.prototype ||
    prototype === Battle.prototype
  );
}

/** One copy in the making. */
class Copying {
  /** @type {Map<object, any>} copies by their originals */
  copies = new Map();

  /** @param {any} value @returns {any} */
  of(value) {
    if (typeof value !== "object" || value === null) return value;
    const made = this.copies.get(value);
    if (made !== undefined) return made;
    if (Array.isArray(value)) return this.#array(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return Object.isFrozen(value) ? value : this.#object(value, prototype);
    if (isOwned(prototype) || prototype === this.actions) return this.#object(value, prototype);
    if (prototype === Set.prototype) return new Set([...value].map((item) => this.of(item)));
    if (prototype === Map.prototype) return new Map([...value].map(([key, item]) => [this.of(key), this.of(item)]));
    // Data of the dex, or a move that was used.
    return value;
  }

  /** @param {any[]} list */
  #array(list) {
    if (Object.isFrozen(list)) return list;
    const copy = new Array(list.length);
    this.copies.set(list, copy);
    for (let at = 0; at < list.length; at++) copy[at] = this.of(list[at]);
    return copy;
  }

  /** @param {any} source @param {object | null} prototype */
  #object(source, prototype) {
    const copy = { ...source };
    if (prototype !== Object.prototype) Object.setPrototypeOf(copy, prototype);
    this.copies.set(source, copy);
    for (const key in copy) {
      const value = copy[key];
      if (typeof value !== "object" || value === null || SETS.has(key)) continue;
      copy[key] = this.of(value);
    }
    return copy;
  }

  /** @param {any} battle */
  battle(battle) {
    this.actions = Object.getPrototypeOf(battle.actions);
    const copy = { ...battle };
    Object.setPrototypeOf(copy, Battle.prototype);
    this.copies.set(battle, copy);
    for (const key in copy) if (!SHARED.has(key)) copy[key] = this.of(copy[key]);
    for (const action of copy.queue.list) if (action.move) action.move = Object.assign(Object.create(Object.getPrototypeOf(action.move)), action.move);
    const isSilent = copy.add === nothing;
    // A gender, so that the stand-in's is not drawn.
    const standIn = isSilent ? null : new Pokemon({ ...copy.sides[0].pokemon[0].set, gender: "N" }, copy.sides[0]);
    for (const side of copy.sides) for (const pokemon of side.pokemon) isSilent ? silenceTexts(pokemon) : bindTexts(pokemon, standIn);
    return copy;
  }
}

/** A Pokémon's texts are functions of one Pokémon; nothing reads a silent copy's log. @param {any} pokemon */
function silenceTexts(pokemon) {
  const health = () => ({ side: pokemon.side.id, secret: "", shared: "" });
  pokemon.getHealth = health;
  pokemon.getFullDetails = health;
}

/** What a Pokémon's texts depend on. */
const SHOWN = ["hp", "maxhp", "status", "side", "battle", "details", "illusion", "level", "terastallized"];

/**
 * The simulator makes a Pokémon's texts in functions that know the Pokémon that they were made for. One stand-in per copy
 * makes those of all.
 * @param {any} pokemon of the copy
 * @param {any} standIn
 */
function bindTexts(pokemon, standIn) {
  const asked = () => {
    for (const key of SHOWN) standIn[key] = pokemon[key];
    return standIn;
  };
  pokemon.getHealth = () => asked().getHealth();
  pokemon.getFullDetails = () => asked().getFullDetails();
}

/**
 * @param {LiveBattle} battle that waits for choices
 * @param {string} seed 16 hex digits: the copy's random numbers from here on
 * @returns {LiveBattle}
 */
export function copyBattle(battle, seed) {
  const copy = new Copying().battle(battle);
  copy.prng = new PRNG(simulatorSeed(seed));
  copy.log = [];
  copy.lastMoveLine = -1;
  copy.sentLogPos = 0;
  return copy;
}
