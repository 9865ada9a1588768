/** Teams of one format: generates them from a seed, validates them with the simulator's validator, packs them. */
import { PRNG, TeamValidator, Teams, simulatorSeed, playableFormat } from "./package.js";

/** @typedef {import("./package.js").Format} Format */
/** @typedef {import("./package.js").PokemonSet} PokemonSet */

/** Most verdicts on packed teams that are remembered: a league plays the same few hundred teams repeatedly. */
const MAX_VERDICTS = 4096;
/** How many attempts `generate` makes for each requested team. */
const MAX_ATTEMPTS_PER_TEAM = 50;

const UNREADABLE = "The team could not be read: expected packed or export text.";

/**
 * @typedef {object} Verdict the validator's verdict on a team
 * @property {string[] | null} problems in the validator's words; null if the team is legal
 * @property {string | null} packed the team as the validator accepts it; null if it is illegal
 */

/** A team that the format's validator refuses. */
export class IllegalTeam extends Error {
  /** @param {string[]} problems */
  constructor(problems) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** A random team was requested from a format without a generator. */
export class NoGenerator extends Error {}

/**
 * A format's generator as a pure function of the seed. A generator is expensive to make and remembers what it gave the
 * first player (gen 1: only one Ditto a battle), so one instance is kept and reset before every team.
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

/** Generates and validates the teams of one format. */
export class TeamSource {
  /** @param {Format} format */
  constructor(format) {
    this.format = format;
    this.validator = new TeamValidator(format);
    /** @type {Map<string, Generator>} generators in use, by format id */
    this.generators = new Map();
    /** @type {Map<string, Verdict>} by the text of the team */
    this.verdicts = new Map();
  }

  /** Whether this format generates its players' teams. */
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
   * @returns {PokemonSet[]} a fresh copy, which a battle may change
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
      // The validator completes and corrects sets: pack its result, not its input.
      const problems = this.validator.validateTeam(team);
      return problems ? { problems, packed: null } : { problems: null, packed: Teams.pack(team) };
    } catch (error) {
      // Malformed text can make the importer or the validator throw.
      return { problems: [`${UNREADABLE} (${error instanceof Error ? error.message : error})`], packed: null };
    }
  }

  /**
   * Teams from a generator. Teams from another format's generator get this format's level and, in gen 1 and 2, its stat
   * experience; illegal ones are left out.
   * @param {number} count
   * @param {string} seed 16 hex digits
   * @param {string} [source] id of a random format; this format if absent
   * @returns {string[]} packed teams; fewer than `count` if too few attempts gave a legal team
   * @throws {NoGenerator}
   */
  generate(count, seed, source) {
    const generator = this.#generator(source === undefined ? this.format : playableFormat(source));
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

  /** @param {PokemonSet[]} team a generated team, changed in place to this format's level and stat experience */
  #fit(team) {
    const { adjustLevel, defaultLevel } = this.validator.ruleTable;
    const gen = this.validator.gen;
    for (const set of team) {
      set.level = adjustLevel ?? defaultLevel;
      if (gen <= 2) {
        // Stat experience has no limit on its total, and a DV of 15 is written as an IV of 30.
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

/** @param {InstanceType<typeof PRNG>} prng @returns {string} its next seed, 16 hex digits */
export function seedFrom(prng) {
  let seed = "";
  for (let i = 0; i < 4; i++) seed += prng.random(0x10000).toString(16).padStart(4, "0");
  return seed;
}
