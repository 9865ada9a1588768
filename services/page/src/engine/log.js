/** A Showdown log as spectators or one player saw it: who played what, and the lines of the battle without chat and clocks. */

/**
 * @typedef {object} LoggedBattle
 * @property {string} format id
 * @property {[string, string]} players
 * @property {number | null} winner seat; null for a tie or a log that was cut
 * @property {boolean} isWhole whether the log has the battle's result
 * @property {string[]} lines
 */

export const MOST_BYTES = 2 ** 20;
/** A shown team, the longest line of a battle, has about 1,500 characters. */
const MOST_LINE_CHARACTERS = 4096;
const MOST_NAME_CHARACTERS = 60;
const MOST_TURNS = 1000;
const SIDES = ["p1", "p2"];
/** Major actions; minor ones begin with a hyphen. Everything else is chat, clocks and people who come and go. */
const KEPT = new Set([
  "player", "teamsize", "gametype", "gen", "tier", "rule", "clearpoke", "poke", "teampreview", "start", "turn", "upkeep", "move", "switch",
  "drag", "replace", "detailschange", "faint", "cant", "swap", "win", "tie",
]);
const LOG_CLASS = 'class="battle-log-data"';

/** @param {string} text @returns {string} lower case letters and digits, as Showdown's ids */
export const toId = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");

/**
 * @param {string} text a log, a downloaded replay file, or a replay's JSON
 * @returns {string} the log
 */
export function logIn(text) {
  const page = scriptIn(text);
  if (page !== null) return page.replaceAll("\\/", "/");
  if (!text.trimStart().startsWith("{")) return text;
  let log;
  try {
    ({ log } = JSON.parse(text));
  } catch {
    throw new Error("The file begins like JSON and is none; expected a Showdown log, a replay file, or a battle that this page saved.");
  }
  return Array.isArray(log) ? log.join("\n") : String(log ?? "");
}

/** @param {string} text @returns {string | null} the script of a downloaded replay file that holds its log */
function scriptIn(text) {
  const mark = text.indexOf(LOG_CLASS);
  if (mark < 0 || !text.startsWith("<script", text.lastIndexOf("<", mark))) return null;
  const begin = text.indexOf(">", mark) + 1;
  const end = text.indexOf("</script>", begin);
  return begin === 0 || end < 0 ? null : text.slice(begin, end);
}

/**
 * @param {string} text a log, a replay file or its JSON
 * @returns {LoggedBattle}
 * @throws {Error} says what is wrong with it
 */
export function parseLog(text) {
  const lines = logIn(text).split("\n").flatMap((line) => battleLine(line.replace(/\r$/, "")));
  const arguments_ = (/** @type {string} */ kind) => lines.filter((line) => line.startsWith(`|${kind}|`)).map((line) => line.split("|").slice(2));
  if (!lines.some((line) => line.startsWith("|turn|"))) throw new Error("This is no battle: expected a Showdown log with lines such as |turn|1.");
  const players = /** @type {[string, string]} */ (SIDES.map((side, seat) => {
    const name = arguments_("player").find(([which, called]) => which === side && called)?.[1];
    return (name ?? `Player ${seat + 1}`).slice(0, MOST_NAME_CHARACTERS);
  }));
  const [tier] = arguments_("tier");
  if (!tier) throw new Error("The log does not name its format: expected a line such as |tier|[Gen 1] OU.");
  const numTurns = arguments_("turn").length;
  if (numTurns > MOST_TURNS) throw new Error(`The log has ${numTurns} turns; expected at most ${MOST_TURNS}.`);
  const [won] = arguments_("win");
  const winner = won ? players.indexOf(won[0].slice(0, MOST_NAME_CHARACTERS)) : -1;
  // Ids of formats have the short word.
  return { format: toId(tier[0]).replace("regulation", "reg"), players, winner: winner < 0 ? null : winner, isWhole: winner >= 0 || lines.includes("|tie") || arguments_("tie").length > 0, lines };
}

/** @param {string} line @returns {string[]} the line if it is part of the battle */
function battleLine(line) {
  const kind = line.split("|", 2)[1] ?? "";
  if (line[0] !== "|" || !(KEPT.has(kind) || kind.startsWith("-") || line === "|tie")) return [];
  if (line.length > MOST_LINE_CHARACTERS) throw new Error(`A line has ${line.length} characters: ${line.slice(0, 60)}…; expected at most ${MOST_LINE_CHARACTERS}.`);
  return [line];
}

/** @param {string} line @param {number} seat @returns {string} the line as the seat sees it: the opponent's HP in percent */
export function seenBy(line, seat) {
  if (!line.includes(`|p${2 - seat}`)) return line;
  return line.replace(/(^|\|)(\d{1,9})\/([1-9]\d{0,8})(?= |\||$)/g, (_, bar, hp, most) => {
    const share = Math.ceil((100 * hp) / most);
    return `${bar}${share === 100 && Number(hp) < Number(most) ? 99 : share}/100`;
  });
}
