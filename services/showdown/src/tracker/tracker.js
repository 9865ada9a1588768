/**
 * What one seat knows of its battle. The tracker reads only the protocol lines that this seat may see and the seat's own
 * requests, so the same code follows training battles, stored replays and the ladder.
 */
import { STATUSES } from "../simulator/dex.js";
import { Conditions, ROOMS, SIDE_CONDITIONS } from "./field.js";
import { parseLine } from "./lines/lines.js";
import { ASKS_NOTHING, NOWHERE, readRequest } from "./request.js";
import { TrackedSide } from "./side.js";
import { stateOf } from "./state.js";
import { Volatiles } from "./volatiles.js";

/** @typedef {import("../simulator/dex.js").DexInfo} DexInfo */
/** @typedef {import("./side.js").TrackedPokemon} TrackedPokemon */
/** @typedef {import("./slot.js").ActiveSlot} ActiveSlot */
/** @typedef {import("./lines/lines.js").ParsedLine} ParsedLine */
/** @typedef {import("./request.js").Request} Request */

/**
 * Numbers that depend only on the format.
 * @typedef {object} Numbers
 * @property {Volatiles} volatiles
 * @property {Conditions} rooms
 * @property {Conditions} conditions
 * @property {Record<string, number>} n volatile by id
 * @property {Record<string, number>} moves
 */

/** @type {WeakMap<DexInfo, Numbers>} */
const numbersOf = new WeakMap();

/** What the request offers one own slot. */
export class Offer {
  constructor() {
    /** By index of the Pokémon's moves: whether the request allows the move, and its place in the request. */
    this.usable = new Uint8Array(4);
    this.moveAt = new Uint8Array(4).fill(NOWHERE);
    /** The request offers a single move that is not the Pokémon's own; it has index 0. */
    this.lone = false;
  }

  /** Offer nothing. */
  clear() {
    // V8's `fill` costs more than a loop over so few.
    for (let m = 0; m < this.usable.length; m++) {
      this.usable[m] = 0;
      this.moveAt[m] = NOWHERE;
    }
    this.lone = false;
  }
}

/** Volatiles that handlers refer to by id. */
const NAMED = [
  "bide", "binding", "bound", "charge", "charging", "confusion", "defensecurl", "destinybond", "dragoncheer", "dynamax",
  "focusenergy", "gastroacid", "glaiverush", "grudge", "hidden", "laserfocus", "lockon", "magnetrise", "minimize", "rage",
  "recharge", "smackdown", "substitute", "telekinesis", "thrashing", "transformed", "trapped",
];

/** @param {DexInfo} dexInfo @returns {Numbers} */
export function numbersFor(dexInfo) {
  let numbers = numbersOf.get(dexInfo);
  if (!numbers) {
    const volatiles = new Volatiles(dexInfo);
    numbers = {
      volatiles,
      rooms: new Conditions(ROOMS, dexInfo.generation),
      conditions: new Conditions(SIDE_CONDITIONS, dexInfo.generation),
      n: Object.fromEntries(NAMED.map((id) => [id, volatiles.number(id)])),
      moves: Object.fromEntries(["dragondarts", "mimic", "rage", "rollout", "struggle", "wish"].map((id) => [id, dexInfo.moves.of(id)])),
    };
    numbersOf.set(dexInfo, numbers);
  }
  return numbers;
}

export class Tracker {
  /**
   * @param {DexInfo} dexInfo
   * @param {number} seat 0 or 1
   */
  constructor(dexInfo, seat) {
    const { volatiles, rooms, conditions, n, moves } = numbersFor(dexInfo);
    this.dexInfo = dexInfo;
    this.seat = seat;
    this.volatiles = volatiles;
    this.rooms = rooms;
    this.conditions = conditions;
    this.n = n;
    this.dragonDarts = moves.dragondarts;
    this.mimic = moves.mimic;
    this.rage = moves.rage;
    this.rollout = moves.rollout;
    this.struggle = moves.struggle;
    this.wish = moves.wish;
    this.pressure = dexInfo.abilities.of("pressure");
    this.regenerator = dexInfo.abilities.of("regenerator");
    /** Abilities that replace an attacker's. */
    this.mummies = ["mummy", "lingeringaroma"].map((id) => dexInfo.abilities.of(id)).filter(Boolean);
    this.stickyBarb = dexInfo.items.of("stickybarb");
    this.electric = dexInfo.types.of("electric");
    this.sleep = STATUSES.indexOf("slp");
    this.toxic = STATUSES.indexOf("tox");
    this.gas = rooms.ids.indexOf("neutralizinggas");

    /** By seat. */
    this.sides = [new TrackedSide(dexInfo, volatiles, conditions.size), new TrackedSide(dexInfo, volatiles, conditions.size)];
    this.own = this.sides[seat];
    this.opponent = this.sides[1 - seat];
    this.turn = 0;
    /** Indices into WEATHERS and TERRAINS, and the turns in which they began. */
    this.weather = 0;
    this.weatherSince = 0;
    this.terrain = 0;
    this.terrainSince = 0;
    /** One plus the turn in which each room began, 0 where it is absent. */
    this.roomSince = new Uint16Array(rooms.size);

    /** The slot whose Pokémon moved last; lines about failures refer to that move. */
    this.mover = this.own.slots[0];
    /** The protocol's name of that move's target. */
    this.aim = "";
    /** The slot whose Pokémon used Baton Pass last of all in this turn. @type {ActiveSlot | null} */
    this.passer = null;
    /** The slot whose Pokémon Regenerator has healed as it leaves, where the format announces it. @type {ActiveSlot | null} */
    this.regenerated = null;
    /** Whether an ability, such as Magic Bounce, used that move besides its owner's own. */
    this.isExtra = false;
    /** The first generation's simulator announced that the next move may not be its user's own. */
    this.isDesynced = false;
    /** @type {Request | null} */
    this.request = null;
    this.hasTeam = false;
    /** What the request asks for, one of the ASKS constants. */
    this.asks = ASKS_NOTHING;
    this.reviving = false;
    /** Whether the last request said that an own active Pokémon may be trapped. */
    this.maybeTrapped = false;
    /** By own row: the Pokémon's place in the request, which is the simulator's number for a switch. */
    this.places = new Uint8Array(6).fill(NOWHERE);
    /** Rows of the own Pokémon that lead, once a Team Preview in doubles has chosen them and still asks for the others. @type {[number, number] | null} */
    this.leads = null;
    /** What the request offers each own slot, by position. */
    this.offers = this.own.slots.map(() => new Offer());
    this.scratchTypes = new Uint8Array(3);
  }

  /** @param {string} line one line of the protocol, as this seat may see it */
  readLine(line) {
    this.readParsed(parseLine(line));
  }

  /** @param {ParsedLine | null} parsed such a line, parsed once for all seats that may see it */
  readParsed(parsed) {
    if (parsed) parsed.handler(this, parsed.parts);
  }

  /** @param {Request} request the seat's request, read after the lines before it; never changed */
  readRequest(request) {
    readRequest(this, request);
  }

  /** One plus the turn in which Neutralizing Gas began to suppress abilities, else 0. */
  get gasSince() {
    return this.gas >= 0 ? this.roomSince[this.gas] : 0;
  }

  /** @param {boolean} present */
  setGas(present) {
    if (this.gas >= 0) this.roomSince[this.gas] = present ? this.turn + 1 : 0;
  }

  /**
   * Apply a details text to a Pokémon.
   * @param {TrackedSide} side
   * @param {TrackedPokemon} pokemon
   * @param {import("../simulator/dex.js").Details} details
   */
  setDetails(side, pokemon, details) {
    const before = pokemon.species;
    const changed = before !== 0 && before !== details.species;
    pokemon.species = details.species;
    pokemon.level = details.level;
    pokemon.gender = details.gender;
    if (details.tera) {
      pokemon.tera = details.tera;
      pokemon.terastallized = true;
    }
    const sole = this.dexInfo.soleAbility[details.species];
    if (!sole) {
      // A Mega Evolution that ends takes its ability with it.
      if (changed && pokemon.ability && !this.dexInfo.mayHave(details.species, pokemon.ability)) {
        pokemon.ability = this.dexInfo.mayHave(details.species, pokemon.ownAbility) ? pokemon.ownAbility : 0;
      }
      return;
    }
    if (pokemon.ability === 0) {
      pokemon.ability = sole;
    } else if (changed) {
      pokemon.ownAbility = pokemon.ability;
      pokemon.ability = sole;
      const slot = side.slots.find((other) => other.pokemon === pokemon);
      if (slot) slot.ability = -1;
    }
  }

  /**
   * @param {TrackedPokemon} pokemon
   * @param {number} move
   * @returns {number} its index among the Pokémon's moves, which it keeps; -1 if four others are known
   */
  learn(pokemon, move) {
    if (!move) return -1;
    const place = this.placeIn(pokemon, move);
    if (place < pokemon.numMoves) return place;
    if (pokemon.numMoves === 4) return -1;
    pokemon.moves[pokemon.numMoves] = move;
    pokemon.pp[pokemon.numMoves] = this.dexInfo.movePp[move];
    return pokemon.numMoves++;
  }

  /**
   * @param {{moves: Uint16Array, numMoves: number}} known a Pokémon, or a slot with copied moves
   * @param {number} move
   * @returns {number} the move's index; `numMoves` if it is not known. A Hidden Power without a type fits one with a type.
   */
  placeIn({ moves, numMoves }, move) {
    for (let m = 0; m < numMoves; m++) if (moves[m] === move) return m;
    if (move !== this.dexInfo.hiddenPower) return numMoves;
    for (let m = 0; m < numMoves; m++) if (this.dexInfo.moves.ids[moves[m]].startsWith("hiddenpower")) return m;
    return numMoves;
  }

  /**
   * Give a transformed active Pokémon what is known of the original's moves and ability.
   * @param {ActiveSlot} slot
   * @param {ActiveSlot} original
   */
  copyMoves(slot, original) {
    if (!original.pokemon) return;
    const from = original.hasMoves ? original : original.pokemon;
    slot.numMoves = from.numMoves;
    slot.moves.set(from.moves);
    slot.hasMoves = true;
    for (let m = 0; m < slot.numMoves; m++) this.setCopiedPp(slot, m);
    if (this.dexInfo.generation > 2) slot.ability = original.side.abilityOf(original.row);
  }

  /** Set a copied move's PP. @param {ActiveSlot} slot @param {number} m its index */
  setCopiedPp(slot, m) {
    const full = this.dexInfo.movePp[slot.moves[m]];
    slot.pp[m] = Math.min(5, full);
    slot.maxPp[m] = this.dexInfo.generation >= 5 ? slot.pp[m] : full;
  }

  /** @returns {Record<string, unknown>} the whole tracked state as plain JSON, with ids instead of numbers */
  state() {
    return stateOf(this);
  }
}
