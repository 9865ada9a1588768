/**
 * Public data of a format's species, moves, items and abilities, as integer tables that are built once. The tracker and
 * the encoder share it; nothing here belongs to a battle.
 */
import { Dex, Teams, playableFormat, simulatorSeed, toID } from "./package.js";

/** @typedef {import("pokemon-showdown/dist/sim/dex.js").ModdedDex} ModdedDex */
/** @typedef {import("pokemon-showdown/dist/sim/dex-moves.js").Move} Move */

/** Stats and boosts in the simulator's order. */
export const STATS = /** @type {const} */ (["hp", "atk", "def", "spa", "spd", "spe"]);
export const BOOSTS = ["atk", "def", "spa", "spd", "spe", "accuracy", "evasion"];
/** Major statuses; index 0 is none. */
export const STATUSES = ["", "brn", "par", "slp", "frz", "psn", "tox"];
/** Categories of moves by their code in `moveCategory`. */
export const CATEGORIES = ["Status", "Physical", "Special"];

/** Bits of `moveFlags`. */
export const STALLS = 1; // Protect and similar moves: each success in a row makes the next less likely
export const PRESSED = 2; // costs one more PP when the opposing active Pokémon has Pressure
export const CHARGES = 4; // prepares in its first turn
export const HIDES = 8; // semi-invulnerable while it is prepared
export const THRASHES = 16; // Outrage and similar moves: the user repeats it for some turns
export const BINDS = 32; // traps the target for some turns
export const MINIMIZES = 64; // its volatile is not announced
export const CURLS = 128; // also not announced
export const PRESSED_ANYHOW = 256; // as PRESSED, even if the line names the user as the target
export const SPREADS = 512; // hits every opposing active Pokémon
export const HITS_ALLY = 1024; // also hits the user's ally
export const AT_OWN = 2048; // for the user's ally or the whole own side

/** log2 of the multiplier against an immune type, before it is clipped to the encoder's scale. */
export const IMMUNE = -64;

/** Abilities that prevent the opponent from switching and are not announced. */
const TRAPPING = ["shadowtag", "arenatrap", "magnetpull"];

/** Most texts that a vocabulary caches besides its own entries; a bound for logs from outside. */
const MAX_REMEMBERED = 20_000;

/** Names and ids of one kind, numbered from 1. Number 0 means "none or unknown". */
export class Vocabulary {
  /** @type {Map<string, number>} */
  #numbers = new Map([["", 0]]);

  /** @param {readonly {id: string, name: string}[]} entries */
  constructor(entries) {
    /** Id by number. */
    this.ids = ["", ...entries.map((entry) => String(entry.id))];
    this.size = this.ids.length;
    for (const [index, entry] of entries.entries()) {
      this.#numbers.set(String(entry.id), index + 1);
      this.#numbers.set(entry.name, index + 1);
    }
    this.#numLimit = this.#numbers.size + MAX_REMEMBERED;
  }

  #numLimit;

  /** Add another name for an entry. @param {string} name @param {string} id of the entry */
  alias(name, id) {
    const number = this.#numbers.get(id) ?? 0;
    if (!this.#numbers.has(name)) this.#numbers.set(name, number);
    if (!this.#numbers.has(toID(name))) this.#numbers.set(toID(name), number);
  }

  /**
   * @param {string} text a name or an id; requests append the power to some moves' ids ("return102")
   * @returns {number} its number, 0 if this format does not have it
   */
  of(text) {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const id = toID(text);
    const number = this.#numbers.get(id) ?? this.#numbers.get(id.replace(/\d+$/, "")) ?? 0;
    if (this.#numbers.size < this.#numLimit) this.#numbers.set(text, number);
    return number;
  }
}

/**
 * The content of a details text such as "Dondozo, L78, F, shiny".
 * @typedef {object} Details
 * @property {number} species
 * @property {number} level
 * @property {number} gender 0 none, 1 male, 2 female
 * @property {number} tera type of its Terastallization, 0 for none
 */

/**
 * A Z-move or a Max move, by the moves that it can replace.
 * @typedef {object} Replacement
 * @property {number} type of a damaging move
 * @property {number} category 0: it replaces any status move, whatever its type; -1: a damaging move
 * @property {number} own the only move that it replaces, else 0
 */

/** Tables of one format. Arrays are indexed by vocabulary number; row 0 is all zero. */
export class DexInfo {
  /** @type {Map<string, DexInfo>} */
  static #byFormat = new Map();

  /**
   * @param {string} formatId
   * @returns {DexInfo} one shared object per format
   * @throws {import("./package.js").UnknownFormat}
   */
  static forFormat(formatId) {
    let info = DexInfo.#byFormat.get(formatId);
    if (!info) DexInfo.#byFormat.set(formatId, (info = new DexInfo(formatId)));
    return info;
  }

  /** @param {string} formatId */
  constructor(formatId) {
    const format = playableFormat(formatId);
    const dex = Dex.forFormat(format);
    const allowsPast = Dex.formats.getRuleTable(format).has("natdexmod");
    /** @param {{isNonstandard: string | null, gen: number}} entry */
    const exists = ({ isNonstandard, gen }) =>
      gen <= dex.gen &&
      (isNonstandard === null ||
        isNonstandard === "Unobtainable" ||
        isNonstandard === "Gigantamax" ||
        (allowsPast && isNonstandard === "Past"));
    // Species with numbers of 0 and below are glitches and props.
    const species = dex.species.all().filter((entry) => exists(entry) && entry.num > 0);
    const moves = dex.moves.all().filter((move) => exists(move) && !move.isZ && !move.isMax);

    this.formatId = formatId;
    this.generation = dex.gen;
    /** Active Pokémon of each side. */
    this.numSlots = format.gameType === "doubles" ? 2 : 1;
    /** Pokémon of each side that take part in a battle. */
    this.pickedTeamSize = Dex.formats.getRuleTable(format).pickedTeamSize ?? 6;
    this.species = new Vocabulary(species);
    for (const entry of species) {
      for (const forme of entry.cosmeticFormes ?? []) this.species.alias(forme, String(entry.id));
    }
    // The simulator gives every Hidden Power the same id; its type is in its name.
    this.moves = new Vocabulary(moves.map(({ name }) => ({ id: toID(name), name })));
    this.items = new Vocabulary(dex.gen >= 2 ? dex.items.all().filter(exists) : []);
    this.abilities = new Vocabulary(
      dex.gen >= 3 ? dex.abilities.all().filter((ability) => exists(ability) && String(ability.id) !== "noability") : [],
    );
    this.types = new Vocabulary(dex.types.all().filter((type) => !type.isNonstandard));

    const numSpecies = this.species.size;
    /** Two types per species. */
    this.speciesTypes = new Uint8Array(2 * numSpecies);
    /** Six base stats per species. */
    this.baseStats = new Uint8Array(6 * numSpecies);
    /** The ability of a species with a single possible ability, else 0. */
    this.soleAbility = new Uint16Array(numSpecies);
    /** Up to four possible abilities per species. */
    this.abilitiesOf = new Uint16Array(4 * numSpecies);
    /** The species that this is a forme of. */
    this.baseSpecies = new Uint16Array(numSpecies);
    for (const [index, entry] of species.entries()) {
      const row = index + 1;
      for (const [i, type] of entry.types.entries()) this.speciesTypes[2 * row + i] = this.types.of(type);
      for (const [i, stat] of STATS.entries()) this.baseStats[6 * row + i] = entry.baseStats[stat];
      this.baseSpecies[row] = this.species.of(entry.baseSpecies) || row;
      const abilities = Object.values(entry.abilities);
      for (const [i, ability] of abilities.entries()) this.abilitiesOf[4 * row + i] = this.abilities.of(ability);
      if (abilities.length === 1) this.soleAbility[row] = this.abilities.of(abilities[0]);
    }

    const numMoves = this.moves.size;
    this.moveType = new Uint8Array(numMoves);
    this.moveCategory = new Uint8Array(numMoves);
    this.movePower = new Uint16Array(numMoves);
    /** 0 to 1; 1 also for moves that never miss. */
    this.moveAccuracy = new Float32Array(numMoves);
    this.movePriority = new Int8Array(numMoves);
    /** With all PP Ups, as in every battle format of the simulator. */
    this.movePp = new Uint8Array(numMoves);
    this.moveFlags = new Uint16Array(numMoves);
    for (const [index, move] of moves.entries()) {
      const row = index + 1;
      this.moveType[row] = this.types.of(move.type);
      this.moveCategory[row] = CATEGORIES.indexOf(move.category);
      this.movePower[row] = move.basePower;
      this.moveAccuracy[row] = move.accuracy === true ? 1 : move.accuracy / 100;
      this.movePriority[row] = move.priority;
      this.movePp[row] = fullPp(move, dex);
      this.moveFlags[row] = flagsOf(move);
    }

    /** Z-moves and Max moves, which replace one of the user's own moves, by name. @type {Map<string, Replacement>} */
    this.replacements = new Map();
    for (const move of dex.moves.all()) {
      if (!(move.isZ || move.isMax) || move.gen > dex.gen) continue;
      const own = typeof move.isZ === "string" ? dex.items.get(move.isZ).zMoveFrom : undefined;
      this.replacements.set(move.name, {
        type: this.types.of(move.type), category: move.category === "Status" ? 0 : -1, own: own ? this.moves.of(own) : 0,
      });
    }

    const numTypes = this.types.size;
    /** log2 of the multiplier of type a against type b at `a * types.size + b`; IMMUNE for no effect. */
    this.effectiveness = new Int8Array(numTypes * numTypes);
    for (const [index, id] of this.types.ids.entries()) {
      if (index === 0) continue;
      const taken = dex.types.get(id).damageTaken;
      for (const attacking of dex.types.all()) {
        const from = this.types.of(attacking.name);
        if (from) this.effectiveness[from * numTypes + index] = [0, 1, -1, IMMUNE][taken[attacking.name] ?? 0];
      }
    }
    this.stellar = this.types.of("stellar");
    /** The name under which an opponent's Hidden Power of any type appears. */
    this.hiddenPower = this.moves.of("hiddenpower");
    this.teraBlast = this.moves.of("terablast");
    this.trapping = new Set(TRAPPING.map((id) => this.abilities.of(id)).filter((ability) => ability > 0));
    /** The trapping ability that a species may have, else 0; no species has two. */
    this.trapOf = new Uint16Array(numSpecies);
    /** 1 for a species whose every possible ability traps. */
    this.isTrapper = new Uint8Array(numSpecies);
    const sets = publicSets(format);
    for (const [index, entry] of species.entries()) {
      const abilities = sets?.[entry.id]?.sets.flatMap((set) => set.abilities ?? []) ?? [];
      const named = Object.values(entry.abilities).map((name) => this.abilities.of(name));
      this.trapOf[index + 1] = named.find((ability) => this.trapping.has(ability)) ?? 0;
      const possible = abilities.length > 0 ? abilities.map((name) => this.abilities.of(name)) : named;
      if (possible.length > 0 && possible.every((ability) => this.trapping.has(ability))) this.isTrapper[index + 1] = 1;
    }
    this.dex = dex;
  }

  /** @type {Map<string, Details>} */
  #details = new Map();

  /**
   * @param {string} text
   * @returns {Details} frozen and shared
   */
  details(text) {
    let details = this.#details.get(text);
    if (details) return details;
    const parts = text.split(", ");
    details = { species: this.species.of(parts[0]), level: 100, gender: 0, tera: 0 };
    for (const part of parts.slice(1)) {
      if (part === "M") details.gender = 1;
      else if (part === "F") details.gender = 2;
      else if (part.startsWith("tera:")) details.tera = this.types.of(part.slice(5));
      else if (/^L\d+$/.test(part)) details.level = Number(part.slice(1));
    }
    Object.freeze(details);
    if (this.#details.size < MAX_REMEMBERED) this.#details.set(text, details);
    return details;
  }

  /**
   * @param {string} name of a Z-move or a Max move
   * @param {{moves: Uint16Array, numMoves: number}} known moves of its user
   * @returns {number} the own move that it replaces; 0 if the name is another's, or what is known leaves it open
   */
  replacedBy(name, { moves, numMoves }) {
    // A status move keeps its name as a Z-move.
    if (name.startsWith("Z-")) return this.moves.of(name.slice(2));
    const replacement = this.replacements.get(name);
    if (!replacement) return 0;
    if (replacement.own) return replacement.own;
    if (numMoves < 4) return 0;
    const fits = moves.subarray(0, numMoves).filter((move) =>
      replacement.category === 0 ? this.moveCategory[move] === 0 : this.moveCategory[move] > 0 && this.moveType[move] === replacement.type);
    return fits.length === 1 ? fits[0] : 0;
  }

  /** @param {number} species @param {number} ability @returns {boolean} whether Pokémon of this species can have the ability */
  mayHave(species, ability) {
    for (let i = 4 * species; i < 4 * species + 4; i++) if (this.abilitiesOf[i] === ability) return true;
    return false;
  }

  /**
   * @param {number} attacking type
   * @param {number} first type of the target
   * @param {number} second
   * @param {number} third
   * @returns {number} log2 of the type chart's multiplier, at most IMMUNE / 2 for no effect
   */
  multiplier(attacking, first, second, third) {
    const row = attacking * this.types.size;
    return this.effectiveness[row + first] + this.effectiveness[row + second] + this.effectiveness[row + third];
  }
}

/**
 * @param {import("./package.js").Format} format
 * @returns {Record<string, {sets: {abilities?: string[]}[]}> | null} by species, the published sets that a random format's
 *   generator draws from; null for other formats
 */
function publicSets(format) {
  if (format.team !== "random") return null;
  return /** @type {any} */ (Teams.getGenerator(format, simulatorSeed("0".repeat(16)))).randomSets ?? null;
}

/** @param {Move} move @param {any} dex @returns {number} PP after three PP Ups */
function fullPp(move, { gen: generation, data }) {
  if (move.noPPBoosts || move.id === "trumpcard") return move.pp;
  // Champions has no PP Ups, and a rule of its own.
  if (data.Scripts.calculatePP) return data.Scripts.calculatePP(move, 0);
  const pp = Math.floor((move.pp * 8) / 5);
  return generation <= 2 && move.pp === 40 ? pp - 3 : pp;
}

const HIDING_MOVES = new Set(["fly", "dig", "dive", "bounce", "shadowforce", "phantomforce", "skydrop"]);
/** Targets of moves that act on the opposing active Pokémon; a move on a side or field needs its own flag. */
const PRESSED_TARGETS = new Set(["allAdjacent", "allAdjacentFoes", "any", "normal", "randomNormal", "scripted", "adjacentFoe"]);

/** @param {Move} move */
function flagsOf(move) {
  let flags = 0;
  if (move.stallingMove) flags |= STALLS;
  if (PRESSED_TARGETS.has(move.target)) flags |= PRESSED;
  if (move.target === "allAdjacent") flags |= HITS_ALLY;
  if (["adjacentAlly", "adjacentAllyOrSelf", "allies", "allySide", "allyTeam"].includes(move.target)) flags |= AT_OWN;
  if (move.target === "allAdjacent" || move.target === "allAdjacentFoes") flags |= SPREADS;
  if (move.target === "all" || move.flags.mustpressure) flags |= PRESSED_ANYHOW;
  // The first generation's data lack this flag; its moves are the same.
  if (move.flags.charge || HIDING_MOVES.has(move.id)) flags |= CHARGES;
  if (HIDING_MOVES.has(move.id)) flags |= HIDES;
  if (move.self?.volatileStatus === "lockedmove") flags |= THRASHES;
  if (move.volatileStatus === "partiallytrapped" || move.self?.volatileStatus === "partialtrappinglock") flags |= BINDS;
  if (move.id === "minimize") flags |= MINIMIZES;
  if (move.id === "defensecurl") flags |= CURLS;
  return flags;
}
