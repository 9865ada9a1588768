/**
 * Volatiles: conditions of an active Pokémon that end when it leaves the field, as the protocol shows them.
 * A tracked volatile is one byte: 0 if absent, otherwise 1 plus the turns or uses that it has lasted, if it counts them.
 */
import { effectId } from "./field.js";

/**
 * @typedef {object} Volatile
 * @property {string} id
 * @property {[number, number]} generations first and last that have it
 * @property {string[]} effects ids of the protocol's effects that start and end it; empty: the tracker infers it
 * @property {boolean} counts whether its byte grows by 1 at the end of every turn
 * @property {number} longest the byte that the encoder scales to 1
 * @property {string} condition id of the simulator's condition; its `noCopy` says whether Baton Pass passes it on
 * @property {string} description
 */

/** @type {Volatile[]} */
const ALL = [];

/**
 * @param {string} id
 * @param {[number, number]} generations
 * @param {string} description
 * @param {Partial<Volatile>} [more]
 */
function volatile(id, generations, description, more = {}) {
  ALL.push({ id, generations, description, effects: [id], counts: false, longest: 1, condition: id, ...more });
}

const INFERRED = /** @type {string[]} */ ([]);

volatile("substitute", [1, 9], "behind a substitute");
volatile("confusion", [1, 9], "confused; counts turns", { counts: true, longest: 5 });
volatile("leechseed", [1, 9], "seeded");
volatile("focusenergy", [1, 9], "critical hits are likelier");
volatile("disable", [1, 9], "a move is disabled; counts turns", { counts: true, longest: 8 });
volatile("bide", [1, 7], "biding; counts turns", { counts: true, longest: 4 });
volatile("rage", [1, 7], "raging");
volatile("minimize", [2, 9], "minimized", { effects: INFERRED });
volatile("transformed", [1, 9], "transformed into the opposing Pokémon", { effects: INFERRED, condition: "transform" });
volatile("recharge", [1, 9], "must recharge", { effects: INFERRED, condition: "mustrecharge" });
volatile("charging", [1, 9], "prepares a two-turn move", { effects: INFERRED, condition: "twoturnmove" });
volatile("hidden", [1, 9], "underground, in the air or otherwise out of reach", {
  effects: INFERRED,
  condition: "twoturnmove",
});
volatile("thrashing", [1, 9], "consecutive turns of Thrash, Outrage and similar moves", {
  effects: INFERRED,
  condition: "lockedmove",
  longest: 3,
});
volatile("binding", [1, 9], "consecutive uses of Wrap and similar moves", {
  effects: INFERRED,
  condition: "partialtrappinglock",
  longest: 5,
});
volatile("bound", [1, 9], "bound by Wrap and similar moves; counts turns", {
  effects: ["bind", "clamp", "firespin", "infestation", "magmastorm", "sandtomb", "snaptrap", "thundercage", "whirlpool",
    "wrap", "gmaxcentiferno", "gmaxsandblast"],
  condition: "partiallytrapped",
  counts: true,
  longest: 8,
});
volatile("reflect", [1, 1], "behind Reflect, which belongs to the Pokémon in this generation");
volatile("lightscreen", [1, 1], "behind Light Screen, which belongs to the Pokémon in this generation");
volatile("mist", [1, 2], "behind Mist, which belongs to the Pokémon in this generation");
volatile("attract", [2, 9], "infatuated");
volatile("curse", [2, 9], "cursed by a Ghost");
volatile("encore", [2, 9], "must repeat its last move; counts turns", { counts: true, longest: 4 });
volatile("foresight", [2, 7], "identified: Ghost immunities and evasion are void", {
  effects: ["foresight", "odorsleuth"],
});
volatile("nightmare", [2, 7], "has a nightmare");
volatile("perish", [2, 9], "turns of Perish Song heard, 4 when it faints", {
  effects: INFERRED,
  condition: "perishsong",
  longest: 4,
});
volatile("destinybond", [2, 9], "its attacker faints with it, until its next move");
volatile("trapped", [2, 9], "cannot switch, by a move such as Mean Look");
volatile("lockon", [2, 9], "its next move cannot miss", { effects: ["lockon", "mindreader"], counts: true, longest: 2 });
volatile("defensecurl", [2, 9], "curled up", { effects: INFERRED });
volatile("charge", [3, 9], "its next Electric move is stronger");
volatile("flashfire", [3, 9], "Flash Fire strengthens its Fire moves");
volatile("imprison", [3, 9], "the opponent cannot use moves that it knows");
volatile("ingrain", [3, 9], "rooted");
volatile("stockpile", [3, 9], "number of Stockpiles", { longest: 3 });
volatile("taunt", [3, 9], "taunted: no status moves; counts turns", { counts: true, longest: 4 });
volatile("torment", [3, 9], "tormented: no move twice in a row");
volatile("uproar", [3, 9], "in an uproar; counts turns", { counts: true, longest: 5 });
volatile("yawn", [3, 9], "drowsy; counts turns", { counts: true, longest: 2 });
volatile("grudge", [3, 7], "bears a grudge until its next move");
volatile("aquaring", [4, 9], "healed by Aqua Ring");
volatile("embargo", [4, 8], "cannot use its item; counts turns", { counts: true, longest: 5 });
volatile("gastroacid", [4, 9], "its ability is suppressed", { effects: INFERRED });
volatile("healblock", [4, 9], "cannot heal; counts turns", { counts: true, longest: 5 });
volatile("magnetrise", [4, 9], "levitates; counts turns", { counts: true, longest: 5 });
volatile("miracleeye", [4, 8], "identified: Dark immunities and evasion are void");
volatile("powertrick", [4, 9], "Attack and Defense are swapped");
volatile("slowstart", [4, 9], "slowed by Slow Start; counts turns", { counts: true, longest: 5 });
volatile("smackdown", [5, 9], "grounded");
volatile("telekinesis", [5, 8], "lifted by Telekinesis; counts turns", { counts: true, longest: 3 });
volatile("laserfocus", [7, 9], "its next hit is critical; counts turns", { counts: true, longest: 2 });
volatile("throatchop", [7, 9], "no sound moves; counts turns", { counts: true, longest: 3 });
volatile("dynamax", [8, 8], "dynamaxed; counts turns", { counts: true, longest: 3 });
volatile("noretreat", [8, 9], "cannot switch by No Retreat");
volatile("octolock", [8, 9], "bound by Octolock");
volatile("tarshot", [8, 9], "weak to Fire by Tar Shot");
volatile("saltcure", [9, 9], "salt cured");
volatile("syrupbomb", [9, 9], "covered in syrup; counts turns", { counts: true, longest: 4 });
volatile("glaiverush", [9, 9], "takes double damage until its next move");
volatile("dragoncheer", [9, 9], "Dragon Cheer makes critical hits likelier");
volatile("fallen", [9, 9], "fallen allies counted by Supreme Overlord", { longest: 5 });
for (const stat of ["atk", "def", "spa", "spd", "spe"]) {
  volatile(`paradox${stat}`, [9, 9], `Protosynthesis or Quark Drive raises its ${stat}`, {
    effects: [`protosynthesis${stat}`, `quarkdrive${stat}`],
    condition: "protosynthesis",
  });
}

/** What one effect of the protocol does: its start sets `from` to `value`; its end clears `from` to `to`. */
/** @typedef {{from: number, to: number, value: number}} Effect */

/** The volatiles of a generation, numbered from 0. */
export class Volatiles {
  /** @param {import("../simulator/dex.js").DexInfo} dexInfo */
  constructor({ generation, dex }) {
    this.all = ALL.filter(({ generations: [first, last] }) => first <= generation && generation <= last);
    this.size = this.all.length;
    /** @type {Map<string, number>} */
    this.numbers = new Map(this.all.map(({ id }, number) => [id, number]));
    /** Numbers of the volatiles that count turns. */
    this.counting = Uint8Array.from(this.all.flatMap(({ counts }, number) => (counts ? [number] : [])));
    /** By number: whether Baton Pass passes it on. */
    this.passes = Uint8Array.from(this.all, ({ id, condition }) =>
      Number(id !== "transformed" && !(/** @type {{noCopy?: boolean}} */ (dex.conditions.get(condition)).noCopy)),
    );
    for (const [number, { effects }] of this.all.entries()) {
      for (const effect of effects) this.#effects.set(effect, { from: number, to: number, value: 1 });
    }
    this.#addNumbered("stockpile", [1, 2, 3]);
    this.#addNumbered("fallen", [1, 2, 3, 4, 5]);
    // The countdown runs from 3 to 0; its byte grows from 1 to 4.
    const perish = this.numbers.get("perish");
    if (perish !== undefined) {
      for (const left of [0, 1, 2, 3]) this.#effects.set(`perish${left}`, { from: perish, to: perish, value: 4 - left });
    }
    const paradox = this.numbers.get("paradoxatk");
    if (paradox !== undefined) {
      // The line that ends one does not name the stat.
      for (const ability of ["protosynthesis", "quarkdrive"]) {
        this.#effects.set(ability, { from: paradox, to: paradox + 4, value: 0 });
      }
    }
  }

  /** @type {Map<string, Effect | null>} */
  #effects = new Map();

  /** @param {string} id @param {number[]} values */
  #addNumbered(id, values) {
    const number = this.numbers.get(id);
    if (number === undefined) return;
    for (const value of values) this.#effects.set(`${id}${value}`, { from: number, to: number, value });
  }

  /**
   * @param {string} text an effect as the protocol writes it: "Substitute", "move: Taunt", "ability: Flash Fire"
   * @returns {Effect | null} null for an untracked effect
   */
  effect(text) {
    let effect = this.#effects.get(text);
    if (effect !== undefined) return effect;
    effect = this.#effects.get(effectId(text)) ?? null;
    if (this.#effects.size < 5000) this.#effects.set(text, effect);
    return effect;
  }

  /** @param {string} id @returns {number} its number, or one past the end, where writing is harmless */
  number(id) {
    return this.numbers.get(id) ?? this.size;
  }
}
