/**
 * Faster requests. Every request lists all Pokémon of a side, and one or two of them have changed since the last; the
 * entries of the others are reused. Entries are frozen, so that an attempt to change one throws.
 */
import { ENTRY } from "./pokemon.js";
import { Pokemon } from "../package.js";

/** A Pokémon's last entry and the values that it was made from; they are in one object because most are only compared. */
class LastEntry {
  /** @param {any} pokemon @param {any} entry */
  constructor(pokemon, entry) {
    this.entry = Object.freeze(entry);
    this.hp = pokemon.hp;
    this.maxhp = pokemon.maxhp;
    this.status = pokemon.status;
    this.details = pokemon.details;
    this.ident = pokemon.fullname;
    this.item = pokemon.item;
    this.baseAbility = pokemon.baseAbility;
    this.ability = pokemon.ability;
    this.pokeball = pokemon.pokeball;
    this.teraType = pokemon.teraType;
    this.terastallized = pokemon.terastallized;
    this.isActive = entry.active;
    const { atk, def, spa, spd, spe } = pokemon.baseStoredStats;
    this.atk = atk;
    this.def = def;
    this.spa = spa;
    this.spd = spd;
    this.spe = spe;
    this.slots = [...pokemon.moveSlots];
    this.hasPassing = entry.commanding !== undefined;
    /** Whether the entry may be reused: no short-lived state, and no move listed with its power or type. */
    this.isLasting = !entry.commanding && !entry.reviving && this.slots.every((slot, at) => slot.id === entry.moves[at]);
  }

  /** @param {any} pokemon @returns {boolean} whether the simulator would make the same entry again */
  isCurrent(pokemon) {
    if (!this.isLasting || this.hp !== pokemon.hp || this.maxhp !== pokemon.maxhp || this.status !== pokemon.status) return false;
    if (this.isActive !== pokemon.position < pokemon.side.active.length) return false;
    if (this.details !== pokemon.details || this.ident !== pokemon.fullname || this.item !== pokemon.item) return false;
    if (this.baseAbility !== pokemon.baseAbility || this.ability !== pokemon.ability || this.pokeball !== pokemon.pokeball) return false;
    if (this.teraType !== pokemon.teraType || this.terastallized !== pokemon.terastallized) return false;
    const { atk, def, spa, spd, spe } = pokemon.baseStoredStats;
    if (this.atk !== atk || this.def !== def || this.spe !== spe || this.spa !== spa || this.spd !== spd) return false;
    const { slots } = this;
    const { moveSlots } = pokemon;
    if (slots.length !== moveSlots.length) return false;
    for (let at = 0; at < slots.length; at++) if (slots[at] !== moveSlots[at]) return false;
    if (!this.hasPassing) return true;
    return !pokemon.volatiles.commanding && !pokemon.side.slotConditions[pokemon.position]?.revivalblessing;
  }
}

/** Replace the request entries of all Pokémon of this process. */
export function listPokemonFast() {
  const prototype = /** @type {any} */ (Pokemon.prototype);
  const { getSwitchRequestData } = prototype;

  /** @this {any} @param {boolean} [forAlly] */
  prototype.getSwitchRequestData = function (forAlly) {
    // An ally's list has other moves.
    if (forAlly) return getSwitchRequestData.call(this, forAlly);
    /** @type {LastEntry | null} */
    const last = this[ENTRY];
    if (last?.isCurrent(this)) return last.entry;
    const entry = getSwitchRequestData.call(this);
    Object.freeze(entry.stats);
    Object.freeze(entry.moves);
    this[ENTRY] = new LastEntry(this, entry);
    return entry;
  };
}
