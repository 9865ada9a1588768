/**
 * What a log shows of a player's team, and the request that its owner had at the start of a turn: as far as the log shows it at any
 * time. Stats are those of a usual spread, and every move is offered: what the log never shows is missing.
 */
import { toId } from "./log.js";

/** @typedef {import("../../../showdown/src/simulator/dex.js").DexInfo} DexInfo */

/**
 * @typedef {object} Member
 * @property {string} name
 * @property {string} details such as `Mew, L74`
 * @property {boolean} hasEntered
 * @property {string[]} moves ids
 * @property {string | null} tera type
 */

const MOST_MEMBERS = 6;
const NUM_MOVES = 4;
const FIRST_WITH_TERA = 9;
const LAST_WITH_STAT_EXPERIENCE = 2;

/** @param {string[]} lines @param {number} seat @returns {Member[]} @throws {Error} there are too many */
export function shownTeam(lines, seat) {
  const side = `p${seat + 1}`;
  /** @type {Member[]} */
  const team = [];
  /** @type {Set<string>} positions whose Pokémon has copied moves */
  const transformed = new Set();
  for (const line of lines) {
    const [, kind, who = "", what = "", ...rest] = line.split("|");
    if (kind === "poke" && who === side) team.push({ name: what.split(",")[0], details: what, hasEntered: false, moves: [], tera: null });
    if (!who.startsWith(side) || !who.includes(": ")) continue;
    const [position, name] = partsOf(who);
    if (kind === "switch" || kind === "drag" || kind === "replace") {
      transformed.delete(position);
      enter(team, name, what);
    }
    const member = team.find((each) => each.hasEntered && each.name === name);
    if (!member) continue;
    if (kind === "-transform") transformed.add(position);
    else if (kind === "-terastallize") member.tera = what;
    else if (kind === "move" && isChosen(rest) && !transformed.has(position)) learn(member, toId(what));
  }
  if (team.length > MOST_MEMBERS) throw new Error(`The log shows ${team.length} Pokémon of one player; expected at most ${MOST_MEMBERS}.`);
  return team;
}

/** @param {string} identity such as `p1a: Mew` @returns {[string, string]} position, name */
export function partsOf(identity) {
  const at = identity.indexOf(": ");
  return [identity.slice(0, at), identity.slice(at + 2)];
}

/** @param {string[]} tags of a move @returns {boolean} whether its user chose it, and no other move or effect called it */
export const isChosen = (tags) => tags.every((tag) => !tag.startsWith("[from]") || toId(tag) === "fromlockedmove");

/** @param {Member[]} team @param {string} name @param {string} details */
function enter(team, name, details) {
  if (team.some((member) => member.hasEntered && member.name === name)) return;
  const species = toId(details.split(",")[0]);
  // Team Preview hides formes: `Urshifu-*`.
  const known = team.find((member) => !member.hasEntered && species.startsWith(toId(member.details.split(",")[0].replace(/-\*$/, ""))));
  if (known) Object.assign(known, { name, details, hasEntered: true });
  else team.push({ name, details, hasEntered: true, moves: [], tera: null });
}

/** @param {Member} member @param {string} move */
function learn(member, move) {
  if (move !== "struggle" && move !== "recharge" && member.moves.length < NUM_MOVES && !member.moves.includes(move)) member.moves.push(move);
}

/**
 * @param {Member[]} team
 * @param {number} seat
 * @param {(string | undefined)[]} active names by position
 * @param {boolean} hasTerastallized
 * @param {DexInfo} dexInfo
 * @returns {any} a request for moves
 */
export function shownRequest(team, seat, active, hasTerastallized, dexInfo) {
  const front = active.map((name) => team.find((member) => member.name === name)).filter((member) => member !== undefined);
  const pokemon = [...front, ...team.filter((member) => !front.includes(member))].map((member) => ({
    ident: `p${seat + 1}: ${member.name}`, details: member.details.replace(/-\*/, ""), active: front.includes(member), moves: member.moves,
    stats: usualStats(member.details, dexInfo), ...(member.tera ? { teraType: member.tera, terastallized: "" } : {}),
  }));
  return { side: { pokemon }, active: front.map((member) => offered(member, !hasTerastallized && dexInfo.generation >= FIRST_WITH_TERA, dexInfo)) };
}

/** @param {Member} member @param {boolean} mayTerastallize @param {DexInfo} dexInfo */
function offered(member, mayTerastallize, { dex }) {
  const moves = member.moves.map((id) => ({ id, pp: null, disabled: false, target: dex.moves.get(id).target }));
  return { moves: moves.length ? moves : [{ id: "unknown" }], ...(mayTerastallize && member.tera ? { canTerastallize: member.tera } : {}) };
}

/** @param {string} details @param {DexInfo} dexInfo @returns {Record<string, number>} all stat experience, or 85 effort values in each stat */
function usualStats(details, { dex, generation }) {
  const [species, ...rest] = details.split(", ");
  const level = Number(rest.find((part) => /^L\d+$/.test(part))?.slice(1) ?? 100);
  return Object.fromEntries(Object.entries(dex.species.get(species).baseStats).map(([stat, base]) => {
    const doubled = generation <= LAST_WITH_STAT_EXPERIENCE ? 2 * (base + 15) + 63 : 2 * base + 31 + 21;
    return [stat, Math.floor((doubled * level) / 100) + (stat === "hp" ? level + 10 : 5)];
  }));
}
