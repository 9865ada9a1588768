/** The analysis board: a battle step by step, with the curve of win probability and what each decision could have been. */
import { nameOf } from "./choices.js";
import { curve } from "./curve.js";
import { h, meter, percent } from "./dom.js";
import { field } from "./field.js";
import { CLASSES, FORKS, bestOf, classOf, inSentences, markMistakes } from "./mistakes.js";
import { log } from "./battle.js";
import { inWordsOf } from "./lines.js";
import { MATRIX_FORKS, matrixGame } from "./matrix.js";
import { saveReplay } from "./record.js";
import { offered } from "./setup.js";
import { turnInWords } from "./words.js";

/**
 * @param {import("./engine.js").Engine} engine
 * @param {HTMLElement} main
 * @param {any} page
 * @param {import("./lines.js").Line[]} lines
 * @param {number} shown line
 * @param {{playOn: (chosen: {numSteps: number, seat: number, opponent: string}, from: {lines: import("./lines.js").Line[], parent: number, turns: number[]}) => void,
 *   save: (lines: import("./lines.js").Line[]) => void, leave: () => void}} go
 * @param {string} [judge] id of the policy that judges; by default the first with a critic
 */
export async function showBoard(engine, main, page, lines, shown, go, judge) {
  const { record, at } = lines[shown];
  const judges = judgesOf(page);
  const policy = judge ?? judges[0]?.id ?? page.policies[0].id;
  const progress = h("progress", { max: 1, value: 0, "aria-label": "Decisions analysed" });
  main.replaceChildren(h("section.board", {}, h("h2", { tabindex: -1 }, "Analysing the battle"), progress));
  const report = (/** @type {{done: number, total: number}} */ { done, total }) => (progress.value = done / total);
  let review = await engine.call("review", { record, policy, forks: 0 }, report);
  const names = /** @type {[string, string]} */ (record.players);
  const state = { at, perspective: 2, isDeep: judges.length === 0 || !record.setup, isMoved: shown > 0 };

  const last = review.steps.length;
  const goTo = (/** @type {number} */ step) => {
    state.at = Math.min(last, Math.max(0, step));
    state.isMoved = true;
    draw();
  };
  const nextMistake = () => {
    const later = review.steps.findIndex((/** @type {any} */ step, /** @type {number} */ i) => i > state.at && step.worst);
    const next = later >= 0 ? later : review.steps.findIndex((/** @type {any} */ step) => step.worst);
    if (next >= 0) goTo(next);
  };
  const keys = /** @type {Record<string, () => void>} */ ({ ArrowLeft: () => goTo(state.at - 1), ArrowRight: () => goTo(state.at + 1), Home: () => goTo(0), End: () => goTo(last), n: nextMistake });

  function draw() {
    const step = state.at < last ? review.steps[state.at] : { ...review.end, decisions: [], change: null };
    const hasMistakes = review.steps.some((/** @type {any} */ each) => each.worst);
    main.replaceChildren(
      h("section.board", { onkeydown: (/** @type {KeyboardEvent} */ event) => press(event, keys) },
        h("h2", { tabindex: -1 }, `${names[0]} against ${names[1]}`),
        state.isDeep ? null : h("p.note", {}, "Every likely choice is being tried with the same dice: ", progress),
        h("div.summary", {}, ...inSentences(review, names).map((sentence) => h("p", {}, sentence))),
        review.end.win === null || !judges.length ? null : h("figure", {}, curve(review, state.at, goTo), h("figcaption", {}, `Probability that side 1, ${names[0]}, wins. ${record.setup ? "Circles are mistakes. " : ""}Click to go to a turn.`)),
        h("div.actions", { role: "group", "aria-label": "Go to" },
          nav("First", "Home", () => goTo(0)), nav("Back", "←", () => goTo(state.at - 1)), nav("On", "→", () => goTo(state.at + 1)), nav("Last", "End", () => goTo(last)),
          hasMistakes ? nav("Next mistake", "n", nextMistake) : null,
          chooser("Seen by", ["Side 1", "Side 2", "Both"], state.perspective, (value) => { state.perspective = value; draw(); }),
          judges.length > 1 ? chooser("Judged by", judges.map((/** @type {any} */ each) => each.name), judges.findIndex((/** @type {any} */ each) => each.id === policy), (value) => showBoard(engine, main, page, lines, shown, go, judges[value].id)) : null,
          lines.length > 1 ? chooser("Line", inWordsOf(lines), shown, (value) => showBoard(engine, main, page, lines, value, go, judge)) : null),
        h("div.columns", {},
          h("div.left", {},
            h("h3", {}, state.at < last ? turnInWords(step.turn) : "The end"),
            step.win === null ? null : h("p.win", {}, `${names[0]}: ${percent(step.win)} to win.`, changeOf(step)),
            ...step.decisions.map((/** @type {any} */ decision) => decisionTable(decision, names, Boolean(record.setup))),
            record.setup && judges.length && step.decisions.length === 2 ? matrixPanel(state.at) : null,
            state.at < last && record.setup ? playOn(page, state.at, (chosen) => go.playOn(chosen, { lines, parent: shown, turns: review.steps.map((/** @type {any} */ each) => each.turn) })) : null),
          h("div.right", {}, field(seen(step, state.perspective), state.perspective === 1 ? [names[1], names[0]] : [names[0], names[1]]),
            log({ lines: linesUpTo(review, state.at, Number(state.perspective === 1)) }, Number(state.perspective === 1), names))),
        h("p.note", {}, explanation(judges.find((/** @type {any} */ each) => each.id === policy), Boolean(record.setup), names)),
        h("div.actions", {}, record.setup ? h("button.quiet", { type: "button", onclick: () => go.save(lines) }, "Save the battle") : null,
          record.log ? h("button.quiet", { type: "button", onclick: () => saveReplay(record) }, "Save as a Showdown replay") : null, h("button.quiet", { type: "button", onclick: go.leave }, "New battle"))));
    const list = main.querySelector(".log .lines");
    if (list) list.scrollTop = list.scrollHeight;
    /** @type {HTMLElement | null} */ (main.querySelector("h2"))?.focus({ preventScroll: true });
  }

  /** Try the choices while the board is open, then go to the first mistake unless the reader is elsewhere. */
  async function deepen() {
    const deep = await engine.call("review", { record, policy, forks: FORKS }, report).catch((/** @type {Error} */ error) => {
      progress.parentElement?.replaceChildren(`The choices could not be tried: ${error.message}`);
      return null;
    });
    if (!deep || !progress.isConnected) return;
    review = deep;
    state.isDeep = true;
    markMistakes(review);
    if (!state.isMoved) state.at = Math.max(0, review.steps.findIndex((/** @type {any} */ step) => step.worst));
    draw();
  }

  /** Games that were solved, by step. @type {Map<number, HTMLElement>} */
  const games = new Map();

  /** @param {number} at step @returns {HTMLElement} the matrix, or the button that asks for it */
  function matrixPanel(at) {
    const known = games.get(at);
    if (known) return known;
    const place = h("div.matrix", { tabindex: -1 }, h("button.quiet", { type: "button", disabled: !state.isDeep, onclick: solve }, "Solve this turn as a matrix game"));
    async function solve() {
      const tried = h("progress", { max: 1, value: 0, "aria-label": "Pairs of choices tried" });
      place.replaceChildren(h("p.note", {}, "Every pair of likely choices is being tried with the same dice: ", tried));
      // The button that had the focus is gone: keys still move through the battle.
      place.focus({ preventScroll: true });
      try {
        const game = await engine.call("matrix", { record, policy, step: at, forks: MATRIX_FORKS }, ({ done, total }) => (tried.value = done / total));
        place.replaceChildren(...matrixGame(game, names));
        games.set(at, place);
      } catch (error) {
        place.replaceChildren(h("p.note", {}, `The turn could not be solved: ${error instanceof Error ? error.message : error}`));
      }
    }
    return place;
  }

  draw();
  if (!state.isDeep) deepen();
}

/** @param {any} page @returns {any[]} its policies with a critic; the first judges */
export const judgesOf = (page) => page.policies.filter((/** @type {any} */ policy) => (policy.kind === "network" || policy.kind === "ensemble") && !policy.level);

/** @param {KeyboardEvent} event @param {Record<string, () => void>} keys */
function press(event, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).closest("select, input")) return;
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

/** @param {string} label @param {string} key @param {() => void} onclick */
const nav = (label, key, onclick) => h("button.quiet", { type: "button", onclick }, label, h("kbd", { "aria-hidden": "true" }, key));

/** @param {string} label @param {string[]} options @param {number} value @param {(value: number) => void} onChange */
function chooser(label, options, value, onChange) {
  const select = h("select", {}, ...options.map((option, i) => h("option", { value: i, selected: i === value }, option)));
  select.addEventListener("change", () => onChange(Number(select.value)));
  return h("label.chooser", {}, `${label} `, select);
}

/** @param {any} step @param {number} perspective a seat, or 2 for what both know together */
function seen(step, perspective) {
  if (perspective < 2) return step.knowledge[perspective];
  return { ...step.knowledge[0], opponent: step.knowledge[1].own };
}

/** @param {any} review @param {number} at @param {number} seat */
function linesUpTo(review, at, seat) {
  return at < review.steps.length ? review.lines[seat].slice(0, review.steps[at].numLines[seat]) : review.lines[seat];
}

/** @param {any} step @returns {string} */
function changeOf({ change }) {
  if (!change) return "";
  const signed = (/** @type {number} */ value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(0)}`;
  return ` This turn changes it by ${signed(change.choice + change.chance)} points: ${signed(change.choice)} by what was chosen, ${signed(change.chance)} by chance (± ${(196 * change.error).toFixed(0)}).`;
}

/** @param {any} decision @param {[string, string]} names @param {boolean} isWhole whether choices are tried, which a log does not allow */
function decisionTable(decision, names, isWhole) {
  const name = classOf(decision.loss);
  const best = decision.loss === null ? null : bestOf(decision);
  const rows = decision.choices.map((/** @type {any} */ choice) => {
    const isPlayed = choice.action === decision.played;
    return h(`tr${isPlayed ? ".played" : ""}${choice.win && choice.win.samples < 8 ? ".few" : ""}`, {},
      h("th", { scope: "row" }, choice.parts.map(nameOf).join(" and "), isPlayed ? h("span.tag", {}, "played") : null, choice === best && !isPlayed ? h("span.tag.best", {}, "best") : null),
      h("td.number", {}, percent(choice.probability), meter(choice.probability, "share")),
      isWhole ? h("td.number", {}, choice.win ? `${percent(choice.win.mean)} ± ${(196 * choice.win.error).toFixed(0)}` : "–") : null);
  });
  return h("div.decision", {},
    h("h4", {}, names[decision.seat], name ? h(`span.class.${name}`, {}, `${name}: −${percent(decision.loss)}`) : null),
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": `Choices of ${names[decision.seat]}` }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Choice"), h("th.number", { scope: "col" }, "Policy"), isWhole ? h("th.number", { scope: "col" }, "Wins after it") : null)), h("tbody", {}, ...rows))),
    decision.opponent ? h("p.note", {}, `Expected of ${names[1 - decision.seat]}: ${expectedInWords(decision.opponent)}.`) : null);
}

/** Least probability that is said. */
const LEAST_EXPECTED = 0.005;

/** @param {import("../engine/opponent.js").Expected[]} opponent @returns {string} */
function expectedInWords(opponent) {
  const said = opponent.filter(({ probability }) => probability >= LEAST_EXPECTED);
  return said.map(({ kind, name, probability }) => `${kind === "unseen" ? "what it has not shown" : nameOf({ kind, name })} ${percent(probability)}`).join(", ");
}

/** @param {any} page @param {number} at @param {(chosen: {numSteps: number, seat: number, opponent: string}) => void} onChoose */
function playOn(page, at, onChoose) {
  const opponent = h("select", { "aria-label": "Opponent" }, ...page.policies.map((/** @type {any} */ policy) => h("option", { value: policy.id }, offered(policy))));
  return h("div.playon", {}, h("span", {}, "Play on from here against "), opponent,
    ...[0, 1].map((seat) => h("button.quiet", { type: "button", onclick: () => onChoose({ numSteps: at, seat, opponent: opponent.value }) }, `as side ${seat + 1}`)));
}

/** @param {any} policy @param {boolean} isWhole whether the battle can be played again @param {[string, string]} names @returns {string} */
function explanation(policy, isWhole, names) {
  if (!policy) return "No policy of this page has a critic: there is no win probability.";
  const opponent = names[1 - names.indexOf(policy.name)];
  const isMeasured = isWhole && names.includes(policy.name) && policy.chances.some((/** @type {any} */ { against }) => against === opponent);
  const between = isMeasured ? `with ${policy.name} against ${opponent}` : `between equals, as if ${policy.name} chose for both sides from there`;
  const judge = `Judged by ${policy.name}: its distribution over the legal choices, and its critic's win probability, which is that of a battle ${between}.${policy.calibration ? ` ${policy.calibration}` : ""}`;
  if (!isWhole) return `${judge} A log shows neither the dice nor what no line reveals: each side's team is what the log shows of it, stats are usual ones, turns are judged at their start, and no choice is tried.`;
  const classes = CLASSES.map(([name, least]) => `${name} from ${percent(least)}`).join(", ");
  return `${judge} “Wins after it” is the mean over ${FORKS} repetitions of the turn with other dice, against the choice that the other side made; ± is a 95 % interval of that mean alone, not of the critic. Mistakes by loss against the best choice tried, which one half of the repetitions chooses and the other half measures: ${classes}. Choices are judged with both teams known, which no player was.`;
}
