/** Logs of other places: what they show is read, and nothing else. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Table } from "../../showdown/src/gateway/table.js";
import { parseLog, seenBy } from "../src/engine/log.js";
import { LogReview } from "../src/engine/log_review.js";
import { readBattle } from "../src/ui/record.js";

const DATA = new URL("../../../tests/data/", import.meta.url);
const SAMPLE = new URL("../../../configs/replays/gen1ou-sample.jsonl.gz", import.meta.url);
const human = readdirSync(new URL("metamon/logs", DATA)).map((name) => readFileSync(new URL(`metamon/logs/${name}`, DATA), "utf8"));
const played = gunzipSync(readFileSync(SAMPLE)).toString().trim().split("\n").slice(0, 12);
const doubles = gunzipSync(readFileSync(new URL("vgc/real-gen9vgc2023regc.jsonl.gz", DATA))).toString().trim().split("\n").slice(0, 5);

/** Every choice alike; sure of nothing. */
const policy = { id: "even", temperature: 1, reward: "win-loss", begin: () => [], consider: async (/** @type {any} */ { legal }) => ({ logits: new Float64Array(legal.length), value: 0, memory: [] }) };
/** @type {Map<string, Table>} */
const tables = new Map();

/** @param {NodeJS.CpuUsage} before @returns {number} CPU time since then, which other processes do not lengthen */
function cpuMilliseconds(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** @param {string} text */
async function reviewed(text) {
  const battle = parseLog(text);
  const table = tables.get(battle.format) ?? new Table(battle.format);
  tables.set(battle.format, table);
  return { battle, review: await new LogReview(table, policy).of(battle, { isWanted: () => true, onProgress: () => {} }) };
}

for (const [i, text] of [...human, ...played, ...doubles].entries()) {
  test(`log ${i + 1} is read turn by turn from both seats`, async () => {
    const { battle, review } = await reviewed(text);
    assert.equal(review.steps.length, battle.lines.filter((line) => line.startsWith("|turn|")).length);
    const decisions = review.steps.flatMap((step) => step.decisions);
    const known = decisions.filter(({ played: action }) => action !== null);
    assert.ok(decisions.length > review.steps.length && known.length > 0.25 * decisions.length, `${known.length} of ${decisions.length} choices are known`);
    for (const { choices, played: action } of known) assert.ok(choices.some((/** @type {any} */ choice) => choice.action === action));
    assert.deepEqual(review.steps.map(({ win }) => win), review.steps.map(() => 0.5));
  });
}

test("the choices of a turn are those that its lines show", async () => {
  const { review } = await reviewed(human.find((text) => text.includes("2333334844")) ?? "");
  const names = (/** @type {number} */ turn) => review.steps[turn - 1].decisions.map((/** @type {any} */ { choices, played: action }) =>
    choices.find((/** @type {any} */ choice) => choice.action === action)?.parts[0].name ?? null);
  assert.deepEqual(names(1), ["Psychic", "Exeggutor"]);
  assert.deepEqual(names(2), ["Starmie", "Sleep Powder"]);
});

test("the field names what a seat knows as the game does", async () => {
  const { review } = await reviewed(human.find((text) => text.includes("2333334844")) ?? "");
  const [{ own, opponent }] = review.steps[9].knowledge;
  assert.equal(own.pokemon.find((/** @type {any} */ mon) => mon.active).facts, "Sleep Powder, Stun Spore, Psychic");
  assert.match(opponent.pokemon.find((/** @type {any} */ mon) => mon.active).facts, /^Sleep Powder, Double-Edge$/);
});

const [whole] = human.map((text) => JSON.parse(text).log);

test("the opponent's HP is seen in percent, and full HP only at full HP", () => {
  assert.equal(seenBy("|switch|p2a: Mew|Mew, L74|239/240", 0), "|switch|p2a: Mew|Mew, L74|99/100");
  assert.equal(seenBy("|switch|p2a: Mew|Mew, L74|239/240", 1), "|switch|p2a: Mew|Mew, L74|239/240");
});

test("a log that was cut has no winner and is read as far as it goes", async () => {
  const { battle, review } = await reviewed(whole.slice(0, whole.indexOf("|turn|6") + 8));
  assert.equal(battle.isWhole, false);
  assert.deepEqual([review.steps.length, review.winner], [6, null]);
});

test("a tie ends a log as a win does", () => {
  const cut = whole.slice(0, whole.lastIndexOf("\n|win|"));
  for (const [end, isWhole] of /** @type {const} */ ([["\n|tie", true], ["\n|tie|", true], ["\n|tied", false]])) {
    const { isWhole: found, winner } = parseLog(cut + end);
    assert.deepEqual([found, winner], [isWhole, null]);
  }
});

test("a replay file and its JSON are read as the log in them", () => {
  const file = `<!DOCTYPE html><script type="text/plain" class="battle-log-data">${whole.replaceAll("/", "\\/")}</script><p>`;
  const { lines } = parseLog(whole);
  assert.deepEqual(parseLog(file).lines, lines);
  assert.deepEqual(parseLog(JSON.stringify({ log: whole.split("\n") })).lines, lines);
});

test("a file that only looks like a replay file is read at once", () => {
  const began = process.cpuUsage();
  assert.throws(() => parseLog("<script class=\"battle-log-data\"".repeat(30_000)), /no battle/);
  assert.throws(() => parseLog("<script class=\"battle-log-data\">".repeat(30_000)), /no battle/);
  assert.ok(cpuMilliseconds(began) < 1000);
  const { lines } = parseLog(whole);
  assert.deepEqual(parseLog(`|c|x|class="battle-log-data"></script>\n${whole}`).lines, lines);
});

test("chat is left out, and names stay text", async () => {
  const { battle, review } = await reviewed(`|c|x|<img src=x onerror=alert(1)>\n|raw|<script>alert(1)</script>\n${whole.replaceAll("Alakazam|Alakazam", "<b>A|Alakazam")}`);
  assert.ok(battle.lines.every((line) => !line.includes("onerror") && !line.includes("<script>")));
  assert.ok(review.steps.length > 0);
});

for (const [name, text, message] of /** @type {const} */ ([
  ["no battle", "not a log", /no battle/],
  ["broken JSON", "{", /is none/],
  ["another format", whole, /is of gen1ou; this page plays gen1randombattle/],
  ["too large", "x".repeat(2 ** 20 + 1), /at most/],
  ["no format", "|turn|1", /name its format/],
  ["a long line", `|tier|[Gen 1] OU\n|turn|1\n|move|${"x".repeat(5000)}`, /has 5006 characters/],
  ["another version", "{\"kind\": \"nashdex battle\", \"version\": 2}", /version 2; expected 1/],
  ["another page's battle", "{\"kind\": \"nashdex battle\", \"version\": 1, \"format\": \"gen9ou\"}", /this page plays gen1randombattle/],
  ["half a battle", "{\"kind\": \"nashdex battle\", \"version\": 1, \"format\": \"gen1randombattle\", \"steps\": [[[0]]]}", /not whole/],
])) test(`a wrong file gets one message: ${name}`, () => assert.throws(() => readBattle(text, "gen1randombattle"), message));

test("seven Pokémon of one player get one message", async () => {
  const many = ["|tier|[Gen 1] OU", ...Array.from({ length: 7 }, (_, i) => `|switch|p1a: M${i}|Mew|100/100`), "|turn|1"].join("\n");
  await assert.rejects(reviewed(many), /shows 7 Pokémon/);
});

for (const [name, text] of /** @type {const} */ ([
  ["cut within a line", "|tier|[Gen 1] OU\n|turn|1\n|switch|p1a: M"],
  ["without Pokémon", "|tier|[Gen 1] OU\n|turn|1\n|turn|2"],
])) test(`a log that no simulator writes gets one message: ${name}`, () => assert.rejects(reviewed(text), /cannot be read at \|.*as Showdown writes it/));

test("a megabyte of lines is read in less than a second a step", async () => {
  const line = "|-damage|p1a: Alakazam|50/100\n";
  const text = `${whole.slice(0, whole.indexOf("|turn|2"))}${line.repeat(30_000)}${whole.slice(whole.indexOf("|turn|2"))}`;
  const began = process.cpuUsage();
  await reviewed(text.slice(0, 2 ** 20));
  assert.ok(cpuMilliseconds(began) < 5000);
});
