/** What one seat knows of a place on the field. */

/** @typedef {import("./side.js").TrackedSide} TrackedSide */
/** @typedef {import("./side.js").TrackedPokemon} TrackedPokemon */

/** A type override that keeps the species' type. */
const NO_TYPE = 255;

/** State of an active Pokémon that ends, or is passed on, when it leaves the field. */
export class ActiveSlot {
  /** @param {TrackedSide} side @param {number} numVolatiles */
  constructor(side, numVolatiles) {
    this.side = side;
    /** Row of its Pokémon, -1 before the first. */
    this.row = -1;
    /** What this slot has shown while another slot shows the same Pokémon: one is in disguise. @type {TrackedPokemon | null} */
    this.double = null;
    /** In the order of BOOSTS. */
    this.boosts = new Int8Array(7);
    /** One byte per volatile, see Volatiles; the last is never read. */
    this.volatiles = new Uint8Array(numVolatiles + 1);
    /** The current forme or the copied species, 0 for the Pokémon's own. */
    this.species = 0;
    this.types = new Uint8Array(2);
    this.addedType = 0;
    /** Its current ability if it is not its own; -1 for its own. */
    this.ability = -1;
    /** Moves that replace its own: all copied by Transform, or one by Mimic. */
    this.moves = new Uint16Array(4);
    this.pp = new Uint8Array(4);
    this.maxPp = new Uint8Array(4);
    this.numMoves = 0;
    this.hasMoves = false;
    this.lastMove = 0;
    /** The move that it used last, chosen or called by another. */
    this.used = 0;
    /** The turn in which it did, or could not. */
    this.usedIn = 0;
    /** The volatile that its last move gave it without a line, unless Snatch took it or it had no effect; -1 for none. */
    this.gained = -1;
    /** The move that it prepares. */
    this.prepared = 0;
    /** Whether the prepared move is its own, and not called by another such as Metronome. */
    this.preparesOwn = false;
    /** Consecutive successes of Protect and similar moves. */
    this.stalls = 0;
    /** Successive hits of the second generation's Rollout, which goes on up to five. */
    this.rolls = 0;
    /** Ends of turns since it came in. */
    this.turns = 0;
    /** Where the Pokémon is that binds it, and the one that traps it. @type {ActiveSlot | null} */
    this.binder = null;
    /** @type {ActiveSlot | null} */
    this.trapper = null;
    /** Where the Pokémon was that its own transformed into. @type {ActiveSlot | null} */
    this.original = null;
    this.clear();
  }

  /** Its Pokémon, which may have fainted. @returns {TrackedPokemon | null} */
  get pokemon() {
    return this.double ?? (this.row >= 0 ? this.side.pokemon[this.row] : null);
  }

  /** Set the state that a Pokémon normally comes in with. */
  clear() {
    for (let boost = 0; boost < this.boosts.length; boost++) this.boosts[boost] = 0;
    this.volatiles.fill(0);
    this.species = 0;
    for (let type = 0; type < this.types.length; type++) this.types[type] = NO_TYPE;
    this.addedType = 0;
    this.ability = -1;
    this.hasMoves = false;
    this.numMoves = 0;
    this.lastMove = 0;
    this.used = 0;
    this.usedIn = 0;
    this.prepared = 0;
    this.preparesOwn = false;
    this.stalls = 0;
    this.rolls = 0;
    this.turns = 0;
    this.binder = null;
    this.trapper = null;
    this.original = null;
    this.double = null;
  }

  get hasTypes() {
    return this.types[0] !== NO_TYPE;
  }

  clearTypes() {
    this.types.fill(NO_TYPE);
    this.addedType = 0;
  }
}
