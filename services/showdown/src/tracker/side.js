/** What a seat knows of one side: its Pokémon, and the state of each active slot. */
import { ActiveSlot } from "./slot.js";

/** The item or ability is not known. */
export const UNKNOWN = 0;
/** The item is known; number 0 then means that the Pokémon holds none. */
export const KNOWN = 1;

/** Rows of a side. */
const MOST_POKEMON = 6;

const COLON = 0x3a;
const LOWER_B = 0x62;

/** A Pokémon, on the field or on the bench. `ActiveSlot` holds what it loses by switching out. */
export class TrackedPokemon {
  /** @param {string} name in the protocol; empty if only Team Preview has shown it */
  constructor(name) {
    this.name = name;
    this.species = 0;
    this.level = 100;
    this.gender = 0;
    /** On the protocol's scale: exact for own Pokémon, out of 100 or 48 for the opponent's. */
    this.hp = 1;
    this.maxHp = 1;
    /** Number in STATUSES. */
    this.status = 0;
    /** Turns lost to sleep, or turns of toxic damage since it came in. */
    this.statusTurns = 0;
    /** Whether it sleeps by Rest, which lasts a known number of turns. */
    this.resting = 0;
    this.fainted = false;
    /** Whether it has been on the field. */
    this.revealed = false;
    this.item = 0;
    this.itemKnown = UNKNOWN;
    /** The last item that it was seen to lose or consume. */
    this.lostItem = 0;
    /** Its ability whenever it comes in; 0 unknown. */
    this.ability = 0;
    /** The ability that it had before a change of forme gave it another; 0 unknown. */
    this.ownAbility = 0;
    /** Whether it was seen to prevent its opponent from switching, by an ability that was not shown. */
    this.traps = false;
    this.moves = new Uint16Array(4);
    this.pp = new Uint8Array(4);
    this.numMoves = 0;
    this.tera = 0;
    this.terastallized = false;
    /** Exact stats in the order of STATS; known for own Pokémon. */
    this.stats = new Uint16Array(6);
    /** The details in its last request. */
    this.requestDetails = "";
    /** The species in them. */
    this.requestSpecies = 0;
    /**
     * The last request entry that was read, until a line names this Pokémon. The same entry again has no news.
     * @type {import("./request.js").RequestedPokemon | null}
     */
    this.listed = null;
    /** Its state before it last came in, in case that was another Pokémon in disguise. */
    this.before = {
      species: 0, level: 100, gender: 0, hp: 1, maxHp: 1, status: 0, statusTurns: 0, resting: 0, fainted: false,
      item: 0, itemKnown: UNKNOWN, lostItem: 0, ability: 0, tera: 0, terastallized: false, numMoves: 0,
      pp: new Uint8Array(4),
    };
  }

  /** Remember the current state for `restore`. */
  save() {
    const { before } = this;
    before.species = this.species;
    before.level = this.level;
    before.gender = this.gender;
    before.hp = this.hp;
    before.maxHp = this.maxHp;
    before.status = this.status;
    before.statusTurns = this.statusTurns;
    before.resting = this.resting;
    before.fainted = this.fainted;
    before.item = this.item;
    before.itemKnown = this.itemKnown;
    before.lostItem = this.lostItem;
    before.ability = this.ability;
    before.tera = this.tera;
    before.terastallized = this.terastallized;
    before.numMoves = this.numMoves;
    before.pp.set(this.pp);
  }

  /** Return to the state at the last `save`. */
  restore() {
    const { before } = this;
    this.species = before.species;
    this.level = before.level;
    this.gender = before.gender;
    this.hp = before.hp;
    this.maxHp = before.maxHp;
    this.status = before.status;
    this.statusTurns = before.statusTurns;
    this.resting = before.resting;
    this.fainted = before.fainted;
    this.item = before.item;
    this.itemKnown = before.itemKnown;
    this.lostItem = before.lostItem;
    this.ability = before.ability;
    this.tera = before.tera;
    this.terastallized = before.terastallized;
    this.moves.fill(0, before.numMoves);
    this.numMoves = before.numMoves;
    this.pp.set(before.pp);
  }

  /**
   * Read "62/100 par", "235/235" or "0 fnt".
   * @param {string} text
   */
  setCondition(text) {
    let hp = 0;
    let i = 0;
    let code = text.charCodeAt(0);
    for (; code >= 48 && code <= 57; code = text.charCodeAt(++i)) hp = 10 * hp + code - 48;
    if (code === 47) {
      let maxHp = 0;
      for (code = text.charCodeAt(++i); code >= 48 && code <= 57; code = text.charCodeAt(++i)) maxHp = 10 * maxHp + code - 48;
      if (maxHp > 0) this.maxHp = maxHp;
      this.hp = hp;
      this.fainted = hp === 0;
      // A letter after the scale is the bar's colour.
      while (i < text.length && text.charCodeAt(i) !== 32) i++;
      this.setStatus(statusAt(text, i + 1));
    } else {
      this.hp = 0;
      this.fainted = true;
      this.setStatus(0);
    }
  }

  /** @param {number} status */
  setStatus(status) {
    if (status === this.status) return;
    this.status = status;
    this.statusTurns = 0;
    this.resting = 0;
  }

  /** @param {number} move @returns {number} its place among the known moves, or -1 */
  place(move) {
    for (let m = 0; m < this.numMoves; m++) if (this.moves[m] === move) return m;
    return -1;
  }
}

/** @param {string} text @param {number} at @returns {number} number in STATUSES of the three letters at `at` */
function statusAt(text, at) {
  switch (text.charCodeAt(at)) {
    case 98: return 1; // brn
    case 112: return text.charCodeAt(at + 1) === 97 ? 2 : 5; // par, psn
    case 115: return 3; // slp
    case 102: return text.charCodeAt(at + 1) === 114 ? 4 : 0; // frz, fnt
    case 116: return 6; // tox
    default: return 0;
  }
}

/** @param {string} text such as "par" @returns {number} number in STATUSES */
export function statusOf(text) {
  return statusAt(text, 0);
}

/** One side of the field. */
export class TrackedSide {
  /**
   * @param {import("../simulator/dex.js").DexInfo} dexInfo
   * @param {import("./volatiles.js").Volatiles} volatiles
   * @param {number} numConditions
   */
  constructor(dexInfo, volatiles, numConditions) {
    this.dexInfo = dexInfo;
    this.volatiles = volatiles;
    /** @type {TrackedPokemon[]} */
    this.pokemon = [];
    /** By position on the field: one in singles, two in doubles. */
    this.slots = Array.from({ length: dexInfo.numSlots }, () => new ActiveSlot(this, volatiles.size));
    this.teamSize = 6;
    /** Layers, or 1, of each side condition; 0 absent. */
    this.layers = new Uint8Array(numConditions);
    /** Turn in which each began. */
    this.since = new Uint16Array(numConditions);
    /** By position: the turn in which a Future Sight hits there, 0 for none. */
    this.futureTurns = new Uint16Array(dexInfo.numSlots);
    /** By position: the turn in which a Wish comes true there, 0 for none. */
    this.wishTurns = new Uint16Array(dexInfo.numSlots);
    this.usedMega = false;
    this.usedZMove = false;
    this.usedDynamax = false;
    this.usedTera = false;
  }

  /** The first slot, which is the only one in singles. */
  get slot() {
    return this.slots[0];
  }

  /** Row of the first slot's Pokémon, -1 before the first. */
  get active() {
    return this.slots[0].row;
  }

  /** @param {string} ident "p1a: Name", or "p1: Name" for one who has fainted @returns {number} position on the field; 0 if it names none */
  positionOf(ident) {
    if (this.slots.length === 1) return 0;
    const code = ident.charCodeAt(2);
    if (code !== COLON) return code === LOWER_B ? 1 : 0;
    const row = this.rowOf(ident.slice(4));
    return row >= 0 && this.slots[1].row === row ? 1 : 0;
  }

  /** @param {string} ident "p1a: Name" @returns {ActiveSlot} */
  slotOf(ident) {
    return this.slots[this.positionOf(ident)];
  }

  /** @param {number} row @returns {ActiveSlot | null} the slot of its Pokémon; null on the bench */
  slotAt(row) {
    for (const slot of this.slots) if (slot.row === row) return slot;
    return null;
  }

  /**
   * @param {string} ident "p1a: Name" for an active Pokémon, "p1: Name" for any
   * @returns {TrackedPokemon | null}
   */
  find(ident) {
    // A slot means its Pokémon, whatever name the line gives.
    if (ident.charCodeAt(2) !== COLON) return this.slotOf(ident).pokemon;
    const row = this.rowOf(ident.slice(4));
    if (row < 0) return null;
    this.pokemon[row].listed = null;
    return this.pokemon[row];
  }

  /** @param {string} name @returns {number} -1 if there is none */
  rowOf(name) {
    for (let row = 0; row < this.pokemon.length; row++) if (this.pokemon[row].name === name) return row;
    return -1;
  }

  /**
   * @param {string} name
   * @param {number} species
   * @returns {number} row of this Pokémon; a new row if it was not seen before
   */
  rowFor(name, species) {
    const row = this.rowOf(name);
    if (row >= 0) {
      this.pokemon[row].listed = null;
      return row;
    }
    // Team Preview shows a Pokémon without its name and without some formes.
    const base = this.dexInfo.baseSpecies[species];
    for (let shown = 0; shown < this.pokemon.length; shown++) {
      const pokemon = this.pokemon[shown];
      if (pokemon.name === "" && this.dexInfo.baseSpecies[pokemon.species] === base) {
        pokemon.name = name;
        return shown;
      }
    }
    if (this.pokemon.length < MOST_POKEMON) this.pokemon.push(new TrackedPokemon(name));
    // Only an inconsistent log names more Pokémon; the last row then holds the latest.
    else this.pokemon[MOST_POKEMON - 1] = new TrackedPokemon(name);
    return this.pokemon.length - 1;
  }

  /** Number of its current species, forme or copied species. @param {number} row */
  speciesOf(row) {
    return this.slotAt(row)?.species || this.pokemon[row].species;
  }

  /** Its current ability, 0 unknown or none. @param {number} row */
  abilityOf(row) {
    const slot = this.slotAt(row);
    return slot && slot.ability >= 0 ? slot.ability : this.pokemon[row].ability;
  }

  /**
   * @param {number} row
   * @param {Uint8Array} types receives three numbers: its current types, then zeros
   */
  writeTypes(row, types) {
    const pokemon = this.pokemon[row];
    types[2] = 0;
    if (pokemon.terastallized && pokemon.tera && pokemon.tera !== this.dexInfo.stellar) {
      types[0] = pokemon.tera;
      types[1] = 0;
      return;
    }
    const slot = this.slotAt(row);
    if (slot?.hasTypes) {
      types[0] = slot.types[0];
      types[1] = slot.types[1];
    } else {
      const species = slot?.species || pokemon.species;
      types[0] = this.dexInfo.speciesTypes[2 * species];
      types[1] = this.dexInfo.speciesTypes[2 * species + 1];
    }
    if (slot) types[2] = slot.addedType;
  }

  /** Clear a slot after its Pokémon left or fainted; the side's conditions stay. @param {ActiveSlot} slot */
  vacate(slot) {
    this.keepCopiedPp(slot);
    slot.clear();
  }

  /**
   * What its own moves have spent beside one that Mimic copied. In the first generation, that one spends the PP of the move
   * slot that it took.
   * @param {ActiveSlot} slot
   */
  keepCopiedPp(slot) {
    const { pokemon } = slot;
    if (!pokemon || !slot.hasMoves || slot.volatiles[this.volatiles.number("transformed")]) return;
    for (let m = 0; m < pokemon.numMoves; m++) {
      if (slot.moves[m] === pokemon.moves[m] || this.dexInfo.generation === 1) pokemon.pp[m] = slot.pp[m];
    }
  }
}
