/**
 * Requests at a fraction of the cost. Every request lists all Pokémon of a side, of which one or two have changed since
 * the last; the entries of the others are used again. Entries are frozen: whoever would write to one hears of it.
 */
import { Pokemon } from "./simulator.js";

const LAST = Symbol("last entry");

/**
 * @typedef {object} LastEntry what a Pokémon's entry was made of, as far as the entry itself does not say it
 * @property {any} entry
 * @property {number} hp
 * @property {number} maxhp
 * @property {string} status
 */

/**
 * @param {LastEntry} last
 * @param {any} pokemon
 * @returns {boolean} whether the simulator would make the same entry again
 */
function isCurrent({ entry, hp, maxhp, status }, pokemon) {
  if (hp !== pokemon.hp || maxhp !== pokemon.maxhp || status !== pokemon.status) return false;
  if (entry.active !== pokemon.position < pokemon.side.active.length) return false;
  if (entry.details !== pokemon.details || entry.ident !== pokemon.fullname) return false;
  if (entry.item !== pokemon.item || entry.baseAbility !== pokemon.baseAbility || entry.pokeball !== pokemon.pokeball) return false;
  const { stats, moves } = entry;
  const { baseStoredStats, moveSlots } = pokemon;
  if (stats.atk !== baseStoredStats.atk || stats.def !== baseStoredStats.def || stats.spe !== baseStoredStats.spe) return false;
  if (stats.spa !== baseStoredStats.spa || stats.spd !== baseStoredStats.spd) return false;
  if (moves.length !== moveSlots.length) return false;
  // Moves that are told with their power or type (Hidden Power, Return) differ here, so those entries are made anew.
  for (let at = 0; at < moves.length; at++) if (moves[at] !== moveSlots[at].id) return false;
  if (entry.ability !== undefined && entry.ability !== pokemon.ability) return false;
  if (entry.teraType !== undefined && (entry.teraType !== pokemon.teraType || entry.terastallized !== (pokemon.terastallized || ""))) {
    return false;
  }
  if (entry.commanding === undefined) return true;
  // States of a turn or two.
  if (entry.commanding || entry.reviving || pokemon.volatiles.commanding) return false;
  return !pokemon.side.slotConditions[pokemon.position]?.revivalblessing;
}

/** Let all Pokémon of this process list themselves so. */
export function listPokemonFast() {
  const prototype = /** @type {any} */ (Pokemon.prototype);
  const { getSwitchRequestData } = prototype;

  /** @this {any} @param {boolean} [forAlly] */
  prototype.getSwitchRequestData = function (forAlly) {
    // A partner's list has other moves.
    if (forAlly) return getSwitchRequestData.call(this, forAlly);
    /** @type {LastEntry | undefined} */
    const last = this[LAST];
    if (last && isCurrent(last, this)) return last.entry;
    const entry = getSwitchRequestData.call(this);
    Object.freeze(entry.stats);
    Object.freeze(entry.moves);
    this[LAST] = { entry: Object.freeze(entry), hp: this.hp, maxhp: this.maxhp, status: this.status };
    return entry;
  };
}
