/** Battles as files: nashdex's own record, and Showdown's log and replay file. */
import { MOST_BYTES, parseLog } from "../engine/log.js";
import { linesOf, onlyLine, recordOf } from "./lines.js";

const KIND = "nashdex battle";
const SEED = /^[0-9a-f]{16}$/;
const MOST_STEPS = 4000;
const MOST_VARIATIONS = 100;

/** Offer a battle for download. @param {import("./lines.js").Line[]} lines whose records have setup and answers */
export function saveLines(lines) {
  const record = recordOf(lines);
  download(`battle-${record.format}-${record.setup.seed}.json`, JSON.stringify({ kind: KIND, version: 1, ...record }, null, 1), "application/json");
}

/** Offer a battle as a file in the layout of Showdown's own download, whose player needs a network. @param {any} record with a log */
export function saveReplay({ format, players, log }) {
  const named = log.replace(/Player ([12])/g, (/** @type {string} */ _, /** @type {number} */ number) => oneWord(players[number - 1]));
  const data = named.replaceAll("/", "\\/").replaceAll("<!--", "<\\!--");
  const title = players.map(oneWord).join(" against ");
  const page = document.implementation.createHTMLDocument(`${format} replay: ${title}`);
  const script = page.createElement("script");
  Object.assign(script, { type: "text/plain", className: "battle-log-data", textContent: data });
  const player = page.createElement("script");
  player.src = "https://play.pokemonshowdown.com/js/replay-embed.js";
  page.body.append(script, player);
  download(`battle-${format}.html`, `<!doctype html>\n${page.documentElement.outerHTML}`, "text/html");
}

/** @param {string} name @returns {string} without what separates the parts of a line */
const oneWord = (name) => name.replace(/[|\n]/g, " ");

/** @param {string} name @param {string} text @param {string} type */
function download(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * @param {string} text of a file: a battle that this page saved, or a Showdown log or replay
 * @param {string} format of the page
 * @returns {import("./lines.js").Line[]} a saved battle with its variations, or a logged battle
 * @throws {Error} says what is wrong with it
 */
export function readBattle(text, format) {
  if (text.length > MOST_BYTES) throw new Error(`The file has ${text.length} characters; expected a battle of at most ${MOST_BYTES}.`);
  return isSaved(text) ? readLines(JSON.parse(text), format) : onlyLine(inFormat(parseLog(text), format));
}

/** @param {string} text @returns {boolean} whether this page saved it */
function isSaved(text) {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    return JSON.parse(text).kind === KIND;
  } catch {
    return false;
  }
}

/** @template {{format: string}} T @param {T} battle @param {string} format @returns {T} */
function inFormat(battle, format) {
  if (battle.format !== format) throw new Error(`The battle is of ${String(battle.format).slice(0, 40)}; this page plays ${format}.`);
  return battle;
}

/** @param {any} battle @param {string} format of the page @returns {import("./lines.js").Line[]} */
function readLines(battle, format) {
  const { variations = [] } = battle;
  const record = readRecord(battle, format);
  const isTree = Array.isArray(variations) && variations.length <= MOST_VARIATIONS && variations.every((each, i) =>
    isBelow(each?.parent, i + 1) && isBelow(each.at, MOST_STEPS) && isBelow(each.turn, MOST_STEPS) && Array.isArray(each.steps));
  if (!isTree) throw new Error("The variations of the saved battle are not whole: save it again.");
  return linesOf({ ...record, variations }, (line) => readRecord({ ...line, version: 1 }, format));
}

/** @param {unknown} value @param {number} most @returns {boolean} whether it is a whole number from 0 to below that */
const isBelow = (value, most) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < most;

/** @param {any} record @param {string} format of the page @returns {any} what is known of it */
function readRecord(record, format) {
  if (record.version !== 1) throw new Error(`The battle was saved in version ${String(record.version).slice(0, 20)}; expected 1.`);
  inFormat(record, format);
  const { setup, steps, players } = record;
  const isWhole =
    SEED.test(setup?.seed) && isPair(setup.teamSeeds, (seed) => SEED.test(seed)) &&
    isPair(setup.teams, (team) => team === null || typeof team === "string") && isPair(players, (name) => typeof name === "string") &&
    Array.isArray(steps) && steps.length <= MOST_STEPS && steps.every((answers) => Array.isArray(answers) && answers.length <= 2 && answers.every((answer) => isPair(answer, Number.isInteger)));
  if (!isWhole) throw new Error("The saved battle is not whole: save it again.");
  return { format, setup, steps, players: players.map((/** @type {string} */ name) => name.slice(0, 60)), resigned: record.resigned === 0 || record.resigned === 1 ? record.resigned : null, helped: record.helped === true, log: typeof record.log === "string" ? record.log : "" };
}

/** @param {unknown} value @param {(part: any) => boolean} fits @returns {boolean} */
const isPair = (value, fits) => Array.isArray(value) && value.length === 2 && value.every(fits);
