/**
 * What one seat knows of its battle. The tracker reads only the protocol lines that this seat may see and the seat's own
 * requests, so the same code follows training battles, stored replays and the ladder.
 */
import { legalChoices } from "./actions.js";
import { BOOSTS, STATS, STATUSES } from "../simulator/dex.js";
import { Conditions, ROOMS, SIDE_CONDITIONS, TERRAINS, WEATHERS } from "./field.js";
import { parseLine } from "./lines/lines.js";
import { ASKS_NOTHING, ASKS_SWITCH, ASKS_TEAM, NOWHERE, readRequest } from "./request.js";
import { KNOWN, TrackedSide } from "./side.js";
import { Volatiles } from "./volatiles.js";

/** @typedef {import("../simulator/dex.js").DexInfo} DexInfo */
/** @typedef {import("./side.js").TrackedPokemon} TrackedPokemon */
/** @typedef {import("./side.js").ActiveSlot} ActiveSlot */
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

/** Volatiles that handlers refer to by id. */
const NAMED = [
  "binding", "bound", "charge", "charging", "confusion", "defensecurl", "destinybond", "dragoncheer", "dynamax",
  "focusenergy", "gastroacid", "glaiverush", "grudge", "hidden", "laserfocus", "lockon", "minimize", "rage",
  "recharge", "smackdown", "substitute", "thrashing", "transformed", "trapped",
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
      moves: Object.fromEntries(["mimic", "rage", "struggle", "wish"].map((id) => [id, dexInfo.moves.of(id)])),
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
    this.mimic = moves.mimic;
    this.rage = moves.rage;
    this.struggle = moves.struggle;
    this.wish = moves.wish;
    this.pressure = dexInfo.abilities.of("pressure");
    this.regenerator = dexInfo.abilities.of("regenerator");
    this.electric = dexInfo.types.of("electric");
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

    /** The side whose Pokémon moved last; lines about failures refer to that move. */
    this.mover = this.own;
    /** The first generation's simulator announced that the next move may not be its user's own. */
    this.isDesynced = false;
    /** @type {Request | null} */
    this.request = null;
    this.hasTeam = false;
    /** What the request asks for, one of the ASKS constants. */
    this.asks = ASKS_NOTHING;
    this.reviving = false;
    /** Whether the last request said that the own active Pokémon may be trapped. */
    this.maybeTrapped = false;
    /** By own row: the Pokémon's place in the request, which is the simulator's number for a switch. */
    this.places = new Uint8Array(6).fill(NOWHERE);
    /** By index of the active Pokémon's moves: whether the request allows the move, and its place in the request. */
    this.usable = new Uint8Array(4);
    this.moveAt = new Uint8Array(4).fill(NOWHERE);
    /** The request offers a single move that is not the Pokémon's own; it has index 0. */
    this.lone = false;
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

  /**
   * Whether a switch is impossible. The request says "maybe" if the opponent's active Pokémon could have a trapping
   * ability; what is known of that Pokémon can make it certain.
   */
  get isTrapped() {
    const active = this.request?.active?.[0];
    if (!active?.maybeTrapped) return Boolean(active?.trapped);
    const { opponent, dexInfo } = this;
    const pokemon = opponent.activePokemon;
    if (!pokemon) return false;
    const ability = opponent.abilityOf(opponent.active);
    if (ability) return dexInfo.trapping.has(ability);
    return pokemon.traps || dexInfo.isTrapper[opponent.speciesOf(opponent.active)] === 1;
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
      if (pokemon === side.activePokemon) side.slot.ability = -1;
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
   * Give the transformed active Pokémon of `side` what is known of the original's moves and ability.
   * @param {TrackedSide} side
   * @param {TrackedSide} other
   */
  copyMoves({ slot }, other) {
    const original = other.activePokemon;
    if (!original) return;
    const from = other.slot.hasMoves ? other.slot : original;
    slot.numMoves = from.numMoves;
    slot.moves.set(from.moves);
    slot.hasMoves = true;
    for (let m = 0; m < slot.numMoves; m++) this.setCopiedPp(slot, m);
    if (this.dexInfo.generation > 2) slot.ability = other.abilityOf(other.active);
  }

  /** Set a copied move's PP. @param {ActiveSlot} slot @param {number} m its index */
  setCopiedPp(slot, m) {
    const full = this.dexInfo.movePp[slot.moves[m]];
    slot.pp[m] = Math.min(5, full);
    slot.maxPp[m] = this.dexInfo.generation >= 5 ? slot.pp[m] : full;
  }

  /**
   * The active Pokémon is another in disguise: the wearer takes over everything that was seen since it came in, and
   * the Pokémon that it looked like returns to its state before.
   * @param {TrackedSide} side
   * @param {number} row of the wearer
   */
  unmask(side, row) {
    const worn = side.activePokemon;
    const wearer = side.pokemon[row];
    side.active = row;
    if (!worn || worn === wearer) return;
    const { before } = worn;
    wearer.hp = worn.hp;
    wearer.maxHp = worn.maxHp;
    wearer.status = worn.status;
    wearer.statusTurns = worn.statusTurns;
    wearer.resting = worn.resting;
    wearer.fainted = worn.fainted;
    if (worn.itemKnown && !(before.itemKnown && before.item === worn.item)) {
      wearer.item = worn.item;
      wearer.itemKnown = worn.itemKnown;
      wearer.lostItem = worn.lostItem;
    }
    if (worn.terastallized && !before.terastallized) {
      wearer.tera = worn.tera;
      wearer.terastallized = true;
    }
    for (let m = 0; m < worn.numMoves; m++) {
      const had = m < before.numMoves ? before.pp[m] : this.dexInfo.movePp[worn.moves[m]];
      const spent = had - worn.pp[m];
      if (m < before.numMoves && spent <= 0) continue;
      const place = this.learn(wearer, worn.moves[m]);
      if (place >= 0) wearer.pp[place] = Math.max(0, wearer.pp[place] - Math.max(0, spent));
    }
    worn.restore();
  }

  /** @returns {Record<string, unknown>} the whole tracked state as plain JSON, with ids instead of numbers */
  state() {
    const active = this.request?.active?.[0];
    return {
      turn: this.turn,
      generation: this.dexInfo.generation,
      asks: ["nothing", "move", "switch", "team"][this.asks],
      force_switch: this.asks === ASKS_SWITCH,
      team_preview: this.asks === ASKS_TEAM,
      reviving: this.reviving,
      trapped: Boolean(active?.trapped),
      maybe_trapped: Boolean(active?.maybeTrapped),
      can_mega: Boolean(active?.canMegaEvo),
      can_z_move: Boolean(active?.canZMove),
      can_dynamax: Boolean(active?.canDynamax),
      can_tera: Boolean(active?.canTerastallize),
      weather: this.weather ? { id: WEATHERS[this.weather], since: this.weatherSince } : null,
      terrain: this.terrain ? { id: TERRAINS[this.terrain], since: this.terrainSince } : null,
      rooms: Object.fromEntries(
        this.rooms.ids.flatMap((id, i) => (this.roomSince[i] ? [[id, this.roomSince[i] - 1]] : [])),
      ),
      own: this.#sideState(this.own),
      opponent: this.#sideState(this.opponent),
      choices: legalChoices(this),
    };
  }

  /** @param {TrackedSide} side */
  #sideState(side) {
    return {
      active: side.active,
      team_size: side.teamSize,
      used_mega: side.usedMega,
      used_z_move: side.usedZMove,
      used_dynamax: side.usedDynamax,
      used_tera: side.usedTera,
      conditions: Object.fromEntries(
        this.conditions.ids.flatMap((id, i) => (side.layers[i] ? [[id, { layers: side.layers[i], since: side.since[i] }]] : [])),
      ),
      future_turn: side.futureTurn,
      wish_turn: side.wishTurn,
      pokemon: side.pokemon.map((pokemon, row) => this.#pokemonState(side, pokemon, row)),
    };
  }

  /** @param {TrackedSide} side @param {TrackedPokemon} pokemon @param {number} row */
  #pokemonState(side, pokemon, row) {
    const { species, items, abilities, moves, types } = this.dexInfo;
    const active = row === side.active;
    const { slot } = side;
    const current = active && slot.hasMoves ? slot : pokemon;
    side.writeTypes(row, this.scratchTypes);
    return {
      name: pokemon.name,
      species: species.ids[pokemon.species],
      forme: species.ids[side.speciesOf(row)],
      level: pokemon.level,
      gender: ["", "M", "F"][pokemon.gender],
      hp: pokemon.hp,
      max_hp: pokemon.maxHp,
      status: STATUSES[pokemon.status],
      status_turns: pokemon.statusTurns,
      resting: Boolean(pokemon.resting),
      fainted: pokemon.fainted,
      active,
      revealed: pokemon.revealed,
      types: [...this.scratchTypes].filter(Boolean).map((type) => types.ids[type]),
      item: pokemon.itemKnown === KNOWN ? items.ids[pokemon.item] : null,
      lost_item: items.ids[pokemon.lostItem],
      ability: abilities.ids[side.abilityOf(row)],
      base_ability: abilities.ids[pokemon.ability],
      tera: types.ids[pokemon.tera],
      terastallized: pokemon.terastallized,
      stats: side === this.own ? Object.fromEntries(STATS.map((stat, i) => [stat, pokemon.stats[i]])) : null,
      moves: Array.from({ length: current.numMoves }, (_, m) => ({
        id: moves.ids[current.moves[m]],
        pp: current.pp[m],
        max_pp: current === slot ? slot.maxPp[m] : this.dexInfo.movePp[current.moves[m]],
      })),
      boosts: Object.fromEntries(BOOSTS.map((stat, i) => [stat, active ? slot.boosts[i] : 0])),
      volatiles: Object.fromEntries(
        this.volatiles.all.flatMap(({ id }, i) => (active && slot.volatiles[i] ? [[id, slot.volatiles[i]]] : [])),
      ),
      last_move: active ? moves.ids[slot.lastMove] : "",
      prepared: active ? moves.ids[slot.prepared] : "",
      stalls: active ? slot.stalls : 0,
      turns: active ? slot.turns : 0,
    };
  }
}
