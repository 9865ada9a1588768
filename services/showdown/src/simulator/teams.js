/** Teams of one format: generated from a seed, validated in the simulator's own words, packed. */
import { PRNG, TeamValidator, Teams, simulatorSeed, singlesFormat } from "./package.js";

/** @typedef {import("./package.js").Format} Format */
/** @typedef {import("./package.js").PokemonSet} PokemonSet */

/** How many verdicts on packed teams are remembered: a league plays the same few hundred teams again and again. */
const MAX_VERDICTS = 4096;
/** How many teams `generate` tries for each that it is asked for. */
const MAX_ATTEMPTS_PER_TEAM = 50;

const UNREADABLE = "The team could not be read: expected packed or export text.";

/**
 * @typedef {object} Verdict what the validator says of a team
 * @property {string[] | null} problems in its own words; null if the team is legal
 * @property {string | null} packed the team as it accepts it; null if it does not
 */

/** A team that the format's validator refuses, with its own words. */
export class IllegalTeam extends Error {
  /** @param {string[]} problems */
  constructor(problems) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** A wish that a format cannot fulfil, such as a random team in a format without a generator. */
export class NoGenerator extends Error {}

/**
 * A format's own generator as a pure function of the seed. A generator is dear to make and remembers what it gave to
 * the first player (gen 1: only one Ditto a battle), so one is kept and put back to its first state for every team.
 */
class Generator {
  /** @param {Format} format */
  constructor(format) {
    this.generator = /** @type {any} */ (Teams.getGenerator(format, simulatorSeed("0".repeat(16))));
    this.pristine = { ...this.generator };
  }

  /** @param {string} seed 16 hex digits @returns {PokemonSet[]} */
  team(seed) {
    Object.assign(this.generator, this.pristine);
    this.generator.setSeed(simulatorSeed(seed));
    return this.generator.getTeam();
  }
}

/** Everything about teams in one format. */
export class TeamSource {
  /** @param {Format} format */
  constructor(format) {
    this.format = format;
    this.validator = new TeamValidator(format);
    /** @type {Map<string, Generator>} generators in use, by format id */
    this.generators = new Map();
    /** @type {Map<string, Verdict>} by the team as it was given */
    this.verdicts = new Map();
  }

  /** Whether players of this format get a team instead of bringing one. */
  get isRandom() {
    return Boolean(this.format.team);
  }

  /**
   * @param {string} seed 16 hex digits
   * @returns {PokemonSet[]} a team of the format's generator
   * @throws {NoGenerator}
   */
  random(seed) {
    return this.#generator(this.format).team(seed);
  }

  /**
   * @param {string} packed
   * @returns {PokemonSet[]} a fresh copy, which a battle may alter
   * @throws {IllegalTeam}
   */
  legal(packed) {
    let verdict = this.verdicts.get(packed);
    if (!verdict) {
      verdict = this.validate(packed);
      if (this.verdicts.size >= MAX_VERDICTS) this.verdicts.clear();
      this.verdicts.set(packed, verdict);
    }
    const team = verdict.packed === null ? null : Teams.unpack(verdict.packed);
    if (!team) throw new IllegalTeam(verdict.problems ?? [UNREADABLE]);
    return team;
  }

  /**
   * @param {string} text packed or export text
   * @returns {Verdict}
   */
  validate(text) {
    try {
      const team = Teams.import(text);
      if (!team?.length) return { problems: [UNREADABLE], packed: null };
      // The validator fills in and corrects what a set leaves open: pack what it accepted, not what it was given.
      const problems = this.validator.validateTeam(team);
      return problems ? { problems, packed: null } : { problems: null, packed: Teams.pack(team) };
    } catch (error) {
      // Text from outside can make the importer or the validator trip; that is a fault of the text.
      return { problems: [`${UNREADABLE} (${error instanceof Error ? error.message : error})`], packed: null };
    }
  }

  /**
   * Teams from a generator. Those of another format's generator are fitted to this one (level, gen 1 and 2 stat
   * experience) and only legal ones are kept.
   * @param {number} count
   * @param {string} seed 16 hex digits
   * @param {string} [source] id of a random format; this one if absent
   * @returns {string[]} packed teams; fewer than `count` where too few attempts gave a legal team
   * @throws {NoGenerator}
   */
  generate(count, seed, source) {
    const generator = this.#generator(source === undefined ? this.format : singlesFormat(source));
    const isForeign = source !== undefined && source !== this.format.id;
    const prng = new PRNG(simulatorSeed(seed));
    const teams = [];
    for (let attempt = 0; teams.length < count && attempt < count * MAX_ATTEMPTS_PER_TEAM; attempt++) {
      const team = generator.team(seedFrom(prng));
      if (isForeign) {
        this.#fit(team);
        if (this.validator.validateTeam(team)) continue;
      }
      teams.push(Teams.pack(team));
    }
    return teams;
  }

  /** @param {PokemonSet[]} team a generated team, altered in place to what this format expects of a set */
  #fit(team) {
    const { adjustLevel, defaultLevel } = this.validator.ruleTable;
    const gen = this.validator.gen;
    for (const set of team) {
      set.level = adjustLevel ?? defaultLevel;
      if (gen <= 2) {
        // Stat experience has no total, and a DV of 15 is written as an IV of 30.
        set.evs = { hp: 252, atk: 252, def: 252, spa: 252, spd: 252, spe: 252 };
        set.ivs = { hp: 30, atk: 30, def: 30, spa: 30, spd: 30, spe: 30 };
      }
    }
  }

  /** @param {Format} format */
  #generator(format) {
    if (!format.team) throw new NoGenerator(`format ${format.id} has no team generator: give a team, or name a random format`);
    let generator = this.generators.get(format.id);
    if (!generator) this.generators.set(format.id, (generator = new Generator(format)));
    return generator;
  }
}

/** @param {InstanceType<typeof PRNG>} prng @returns {string} the seed that it draws next, 16 hex digits */
export function seedFrom(prng) {
  let seed = "";
  for (let i = 0; i < 4; i++) seed += prng.random(0x10000).toString(16).padStart(4, "0");
  return seed;
}
