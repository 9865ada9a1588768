/** Battles as files: nashdex's own record, and Showdown's log and replay file. */
import { MOST_BYTES, parseLog } from "../engine/log.js";

const KIND = "nashdex battle";
const SEED = /^[0-9a-f]{16}$/;
const MOST_STEPS = 4000;

/** Offer a battle for download. @param {any} record with setup and answers */
export function saveRecord(record) {
  download(`battle-${record.format}-${record.setup.seed}.json`, JSON.stringify({ kind: KIND, version: 1, ...record }, null, 1), "application/json");
}

/** Offer a battle as a file in the layout of Showdown's own download, whose player needs a network. @param {any} record with a log */
export function saveReplay({ format, players, log }) {
  const named = players.reduce((/** @type {string} */ text, /** @type {string} */ name, /** @type {number} */ seat) =>
    text.replaceAll(`Player ${seat + 1}`, () => oneWord(name)), log);
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
 * @returns {any} a saved battle's record, or a logged battle
 * @throws {Error} says what is wrong with it
 */
export function readBattle(text, format) {
  if (text.length > MOST_BYTES) throw new Error(`The file has ${text.length} characters; expected a battle of at most ${MOST_BYTES}.`);
  if (isSaved(text)) return readRecord(JSON.parse(text), format);
  const battle = parseLog(text);
  return inFormat(battle, format);
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
