/** Copies of trackers, for forks of a battle. */
import { TrackedPokemon, TrackedSide } from "./side.js";
import { ActiveSlot } from "./slot.js";
import { Offer, Tracker } from "./tracker.js";

const OWNED = new Set([Tracker, TrackedSide, TrackedPokemon, ActiveSlot, Offer].map((one) => one.prototype));

/**
 * @param {Tracker} tracker
 * @returns {Tracker} an independent copy; it shares the requests, which never change, and the format's data
 */
export function copyTracker(tracker) {
  /** @type {Map<object, any>} */
  const copies = new Map();
  /** @param {any} value @returns {any} */
  const copy = (value) => {
    if (typeof value !== "object" || value === null) return value;
    const made = copies.get(value);
    if (made !== undefined) return made;
    if (ArrayBuffer.isView(value)) return remember(value, /** @type {any} */ (value).slice());
    if (Array.isArray(value)) return fill(remember(value, []), value);
    const prototype = Object.getPrototypeOf(value);
    return OWNED.has(prototype) ? fill(remember(value, Object.create(prototype)), value) : value;
  };
  /** @param {object} value @param {any} made */
  const remember = (value, made) => {
    copies.set(value, made);
    return made;
  };
  /** @param {any} made @param {any} source */
  const fill = (made, source) => {
    for (const key of Object.keys(source)) made[key] = key === "before" ? { ...source[key], pp: source[key].pp.slice() } : copy(source[key]);
    return made;
  };
  return copy(tracker);
}
