/** Conditions of the field and of a side: ids in the protocol, generations, layers, descriptions for the encoder. */
import { toID } from "../simulator/package.js";

/** Weathers by number; 0 is none. Hail was replaced by snow in the ninth generation. */
export const WEATHERS = ["", "sunnyday", "raindance", "sandstorm", "hail", "snowscape", "desolateland", "primordialsea", "deltastream"];

/** Terrains by number; 0 is none. */
export const TERRAINS = ["", "electricterrain", "grassyterrain", "mistyterrain", "psychicterrain"];

/**
 * @typedef {object} Condition
 * @property {string} id
 * @property {[number, number]} generations
 * @property {number} layers most layers
 * @property {string} description
 */

/** @param {string} id @param {[number, number]} generations @param {string} description @param {number} [layers] @returns {Condition} */
const condition = (id, generations, description, layers = 1) => ({ id, generations, description, layers });

/** Conditions of the whole field besides weather and terrain. */
export const ROOMS = [
  condition("trickroom", [4, 9], "the slower Pokémon moves first"),
  condition("gravity", [4, 9], "everything is grounded"),
  condition("magicroom", [5, 9], "items have no effect"),
  condition("wonderroom", [5, 9], "Defense and Special Defense are swapped"),
  condition("mudsport", [6, 8], "Electric moves are weaker"),
  condition("watersport", [6, 8], "Fire moves are weaker"),
  condition("neutralizinggas", [8, 9], "abilities have no effect"),
];

/** Conditions of one side. */
export const SIDE_CONDITIONS = [
  condition("reflect", [2, 9], "halves physical damage"),
  condition("lightscreen", [2, 9], "halves special damage"),
  condition("auroraveil", [7, 9], "halves damage"),
  condition("safeguard", [2, 9], "prevents statuses"),
  condition("mist", [3, 9], "prevents lowered stats"),
  condition("tailwind", [4, 9], "doubles Speed"),
  condition("luckychant", [4, 7], "prevents critical hits"),
  condition("spikes", [2, 9], "layers of Spikes", 3),
  condition("toxicspikes", [4, 9], "layers of Toxic Spikes", 2),
  condition("stealthrock", [4, 9], "pointed stones"),
  condition("stickyweb", [6, 9], "a sticky web"),
  condition("firepledge", [5, 9], "a sea of fire"),
  condition("waterpledge", [5, 9], "a rainbow"),
  condition("grasspledge", [5, 9], "a swamp"),
  condition("gmaxwildfire", [8, 8], "a G-Max Wildfire"),
  condition("gmaxvinelash", [8, 8], "G-Max vines"),
  condition("gmaxcannonade", [8, 8], "a G-Max Cannonade"),
  condition("gmaxvolcalith", [8, 8], "G-Max rocks"),
  condition("gmaxsteelsurge", [8, 8], "sharp steel"),
];

/** Numbers of one generation's conditions, found by the protocol's text. */
export class Conditions {
  /** @param {readonly Condition[]} all @param {number} generation */
  constructor(all, generation) {
    this.all = all.filter(({ generations: [first, last] }) => first <= generation && generation <= last);
    this.size = this.all.length;
    this.ids = this.all.map(({ id }) => id);
  }

  /** @type {Map<string, number>} */
  #numbers = new Map();

  /** @param {string} text such as "move: Stealth Rock" @returns {number} -1 for an untracked condition */
  of(text) {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.ids.indexOf(effectId(text));
      if (this.#numbers.size < 5000) this.#numbers.set(text, number);
    }
    return number;
  }
}

/** @param {string} text @returns {string} the id of an effect, without the kind that the protocol puts before it */
export function effectId(text) {
  return toID(text.replace(/^(move|ability|item): /, ""));
}
