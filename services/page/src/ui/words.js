/** Protocol lines in words, by Showdown's own texts. */
import { Protocol } from "@pkmn/protocol";
import { LogFormatter } from "@pkmn/view";

/** Follows as much of a battle as the texts need: how much HP each Pokémon had. */
class Follower {
  constructor() {
    /** @type {Map<string, number>} share of HP by identity, such as `p1: Pikachu` */
    this.hp = new Map();
  }

  pokemonAt() {
    return undefined;
  }

  currentWeather() {
    return undefined;
  }

  getSwitchedOutPokemon() {
    return undefined;
  }

  getPokemonTypeList() {
    return undefined;
  }

  getPokemonSpeciesForme() {
    return undefined;
  }

  /** @param {string} identity @param {string} health @returns {string | undefined} */
  damagePercentage(identity, health) {
    const before = this.hp.get(named(identity));
    const after = shareOf(health);
    return before === undefined || after === undefined ? undefined : `${Math.round(100 * Math.abs(before - after))}%`;
  }

  /** @param {readonly any[]} args */
  read(args) {
    const health = ["switch", "drag", "replace"].includes(args[0]) ? args[3] : ["-damage", "-heal", "-sethp"].includes(args[0]) ? args[2] : undefined;
    const share = health === undefined ? undefined : shareOf(health);
    if (share !== undefined) this.hp.set(named(args[1]), share);
  }
}

/** @param {string} identity such as `p1a: Pikachu` @returns {string} */
const named = (identity) => `${identity.slice(0, 2)}${identity.slice(identity.indexOf(":"))}`;

/** @param {string} health such as `50/100 slp` @returns {number | undefined} */
function shareOf(health) {
  if (health.startsWith("0")) return 0;
  const [left, most] = health.split(" ")[0].split("/").map(Number);
  return most ? left / most : undefined;
}

/** @typedef {{kind: "turn" | "text", text: string}} Entry */

/**
 * @param {string[]} lines that one seat has seen
 * @param {number} seat whose words they are
 * @param {[string, string]} names of the players
 * @returns {Entry[]}
 */
export function inWords(lines, seat, names) {
  const follower = new Follower();
  const formatter = new LogFormatter(/** @type {any} */ (seat === 0 ? "p1" : "p2"), /** @type {any} */ (follower));
  /** @type {Entry[]} */
  const entries = [];
  for (const line of lines) {
    try {
      const { args, kwArgs } = Protocol.parseBattleLine(line);
      const text = formatter.formatText(args, kwArgs).replaceAll("**", "").trim().replace(/Player ([12])/g, (_, number) => names[number - 1]);
      follower.read(args);
      if (args[0] === "turn") entries.push({ kind: "turn", text: `Turn ${args[1]}` });
      else if (text && !text.startsWith("==")) entries.push(...text.split("\n").map((each) => ({ kind: /** @type {const} */ ("text"), text: each.trim() })));
    } catch {
      // A line that the texts do not know changes no other line.
    }
  }
  return entries;
}

/** @param {number} turn @returns {string} */
export const turnInWords = (turn) => (turn === 0 ? "Team Preview" : `Turn ${turn}`);
