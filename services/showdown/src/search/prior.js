/**
 * What the opponent may have brought, given what a seat has seen: sets from the format's own generator, or from the teams
 * that its players are known to draw from.
 */
import { PRNG, Teams, simulatorSeed, toID } from "../simulator/package.js";

/** @typedef {import("../simulator/package.js").Format} Format */
/** @typedef {import("../simulator/package.js").PokemonSet} PokemonSet */
/** @typedef {InstanceType<typeof PRNG>} Random */

/**
 * @typedef {object} Seen what a seat knows of an opposing Pokémon, with ids
 * @property {string} species
 * @property {number} level
 * @property {string} gender
 * @property {string[]} moves
 * @property {string | null} item what it brought; empty for none, null if that is unknown
 * @property {string} ability empty if it is unknown
 * @property {string} tera empty if it is unknown
 */

/** The worlds of this format cannot be sampled. */
export class NoPrior extends Error {}

/** Sets drawn, at most, for one Pokémon until one has the seen moves, item and ability. */
const MAX_DRAWS = 40;
/** Teams drawn, at most, for the unseen Pokémon. */
const MAX_TEAMS = 20;

/** @param {string} seen a move's id @param {string} brought a move's name or id @returns {boolean} whether they can be one move */
function isMove(seen, brought) {
  const id = toID(brought);
  // Lines call every Hidden Power the same.
  return id === seen || (seen === "hiddenpower" && id.startsWith("hiddenpower"));
}

/** @param {PokemonSet} set @param {string[]} moves @returns {number} how many of the moves it lacks */
function lacks(set, moves) {
  return moves.filter((seen) => !set.moves.some((brought) => isMove(seen, brought))).length;
}

/** @param {PokemonSet} set @param {Seen} seen @returns {number} 0 if the set fits everything that was seen; smaller fits better */
function misfit(set, { moves, item, ability }) {
  return (
    4 * lacks(set, moves) +
    (item !== null && toID(set.item) !== item ? 2 : 0) +
    (ability && toID(set.ability) !== ability ? 1 : 0)
  );
}

/**
 * @param {PokemonSet} set
 * @param {Seen} seen
 * @param {any} dex
 * @returns {PokemonSet} a copy that certainly has what was seen
 */
function fitted(set, seen, dex) {
  const kept = set.moves.filter((brought) => seen.moves.some((move) => isMove(move, brought)));
  const missing = seen.moves.filter((move) => !set.moves.some((brought) => isMove(move, brought)));
  const others = set.moves.filter((brought) => !kept.includes(brought));
  const size = Math.max(set.moves.length, seen.moves.length);
  return {
    ...set,
    moves: [...kept, ...missing, ...others].slice(0, Math.max(size, 1)),
    level: seen.level,
    gender: seen.gender || set.gender,
    item: seen.item ?? set.item,
    ability: seen.ability || set.ability,
    ...(seen.tera ? { teraType: dex.types.get(seen.tera).name } : {}),
  };
}

/** @param {any} dex @returns {{nature: string, evs: any, ivs: any}} the spread of a Pokémon whose own is unknown: even */
export function evenSpread(dex) {
  const evs = dex.gen <= 2 ? 252 : 84;
  return {
    nature: "Serious",
    evs: { hp: evs, atk: evs, def: evs, spa: evs, spd: evs, spe: evs },
    ivs: { hp: 31, atk: 31, def: 31, spa: 31, spd: 31, spe: 31 },
  };
}

/** Draws the opponent's team. One object serves all battles of a format. */
export class Prior {
  /**
   * @param {Format} format
   * @param {any} dex
   * @param {string[]} packed teams that players draw from, if the format has no generator
   * @throws {NoPrior}
   */
  constructor(format, dex, packed) {
    this.dex = dex;
    /** @type {any} */
    this.generator = null;
    /** @type {PokemonSet[][]} */
    this.teams = [];
    if (format.team) {
      this.generator = Teams.getGenerator(format, simulatorSeed("0".repeat(16)));
      this.pristine = { ...this.generator };
    } else {
      this.teams = packed.map((team) => Teams.unpack(team) ?? []).filter((team) => team.length > 0);
      if (this.teams.length === 0) {
        throw new NoPrior(`format ${format.id} generates no teams: give the teams that its players draw from`);
      }
    }
  }

  /**
   * @param {Seen[]} seen
   * @param {number} size of the team
   * @param {Random} prng
   * @returns {PokemonSet[]} first a set for each Pokémon that was seen, in order, then the others
   */
  draw(seen, size, prng) {
    return this.generator ? this.#generate(seen, size, prng) : this.#choose(seen, size, prng);
  }

  /** @param {Seen[]} seen @param {number} size @param {Random} prng @returns {PokemonSet[]} */
  #generate(seen, size, prng) {
    this.#reset(prng);
    const sets = seen.map((pokemon) => fitted(this.#generateSet(pokemon), pokemon, this.dex));
    const taken = new Set(seen.map(({ species }) => this.#base(species)));
    for (let attempt = 0; attempt < MAX_TEAMS && sets.length < size; attempt++) {
      this.#reset(prng);
      for (const set of /** @type {PokemonSet[]} */ (this.generator.getTeam())) {
        const base = this.#base(set.species || set.name);
        if (sets.length >= size || taken.has(base)) continue;
        taken.add(base);
        sets.push(set);
      }
    }
    return sets;
  }

  /** Let the generator begin as if it were new. @param {Random} prng */
  #reset(prng) {
    Object.assign(this.generator, this.pristine);
    this.generator.prng = prng;
  }

  /** @param {Seen} seen @returns {PokemonSet} */
  #generateSet(seen) {
    let best = null;
    let least = Infinity;
    for (let draw = 0; draw < MAX_DRAWS && least > 0; draw++) {
      const set = this.#randomSet(seen.species);
      if (!set) break;
      const misses = misfit(set, seen);
      if (misses < least) [best, least] = [set, misses];
    }
    return best ?? this.#plainSet(seen);
  }

  /** @param {string} species @returns {PokemonSet | null} null if the generator has no set for it */
  #randomSet(species) {
    for (const name of [species, this.#base(species)]) {
      try {
        const set = this.generator.randomSet(this.dex.species.get(name), {}, false, false);
        if (set?.moves?.length) return set;
      } catch {
        // A forme that only battles have: its base may have sets.
      }
    }
    return null;
  }

  /** @param {Seen[]} seen @param {number} size @param {Random} prng @returns {PokemonSet[]} */
  #choose(seen, size, prng) {
    const bases = seen.map(({ species }) => this.#base(species));
    /** @type {{sets: (PokemonSet | undefined)[], team: PokemonSet[]}[]} */
    let best = [];
    let least = Infinity;
    for (const team of this.teams) {
      const sets = bases.map((base) => team.find((set) => this.#base(set.species || set.name) === base));
      const misses = sets.reduce((sum, set, at) => sum + (set ? misfit(set, seen[at]) : 100), 0);
      if (misses < least) [best, least] = [[], misses];
      if (misses === least) best.push({ sets, team });
    }
    const { sets, team } = best[prng.random(best.length)];
    const chosen = sets.map((set, at) => fitted(set ?? this.#setOf(bases[at], seen[at], prng), seen[at], this.dex));
    const taken = new Set(bases);
    const others = team.filter((set) => !taken.has(this.#base(set.species || set.name)));
    const spares = others.length < size - chosen.length ? this.teams[prng.random(this.teams.length)] : [];
    for (const set of [...others, ...spares]) {
      const base = this.#base(set.species || set.name);
      if (chosen.length >= size || taken.has(base)) continue;
      taken.add(base);
      chosen.push(set);
    }
    return chosen;
  }

  /** @param {string} base @param {Seen} seen @param {Random} prng @returns {PokemonSet} of any team, the best fit */
  #setOf(base, seen, prng) {
    const sets = this.teams.flat().filter((set) => this.#base(set.species || set.name) === base);
    if (sets.length === 0) return this.#plainSet(seen);
    const misses = sets.map((set) => misfit(set, seen));
    const least = Math.min(...misses);
    const fits = sets.filter((_, at) => misses[at] === least);
    return fits[prng.random(fits.length)];
  }

  /** A set for a Pokémon that nobody is known to bring: the strongest moves of its own types. @param {Seen} seen @returns {PokemonSet} */
  #plainSet(seen) {
    const species = this.dex.species.get(seen.species);
    const pool = [...(this.dex.species.getMovePool?.(species.id) ?? [])].map((id) => this.dex.moves.get(id));
    const strength = (/** @type {any} */ move) => move.basePower * (species.types.includes(move.type) ? 1.5 : 1) * (move.accuracy === true ? 1 : move.accuracy / 100);
    const strongest = pool.filter((move) => move.basePower > 0 && !move.selfdestruct && !move.flags.charge && !move.flags.recharge);
    strongest.sort((one, other) => strength(other) - strength(one));
    const moves = strongest.slice(0, 4).map(({ id }) => id);
    return /** @type {any} */ ({
      name: species.baseSpecies, species: species.name, moves: moves.length > 0 ? moves : ["tackle"], level: seen.level,
      ability: species.abilities["0"] ?? "No Ability", item: "", gender: "", ...evenSpread(this.dex),
    });
  }

  /** @param {string} name @returns {string} id of the species that this is a forme of */
  #base(name) {
    const species = this.dex.species.get(name);
    return toID(species.baseSpecies || species.name);
  }
}
