/** Classes of mistakes by loss of win probability, and a battle's summary in words. */
import { nameOf } from "./choices.js";
import { percent } from "./dom.js";

/** Least loss of win probability of each class, largest first. */
export const CLASSES = /** @type {const} */ ([["blunder", 0.2], ["mistake", 0.1], ["inaccuracy", 0.05]]);

/** Forks of each tried choice. */
export const FORKS = 4;

/** The same while a person is taught: the opponent's choice differs between them too. */
export const TEACHING_FORKS = 8;

/** @param {number | null} loss @returns {string | null} */
export function classOf(loss) {
  return loss === null ? null : (CLASSES.find(([, least]) => loss >= least)?.[0] ?? null);
}

/** Mark each step with its worst mistake. @param {any} review changed */
export function markMistakes(review) {
  for (const step of review.steps) {
    step.worst = classOf(Math.max(0, ...step.decisions.map((/** @type {any} */ { loss }) => loss ?? 0)));
  }
}

/**
 * @param {any} review
 * @param {number} seat
 * @returns {{counts: Record<string, number>, accuracy: number | null, key: {step: number, loss: number} | null}} accuracy: one minus
 *   the mean loss of the decisions that were tried, at most 1
 */
export function summaryOf(review, seat) {
  const counts = /** @type {Record<string, number>} */ (Object.fromEntries(CLASSES.map(([name]) => [name, 0])));
  /** @type {{step: number, loss: number}[]} */
  const losses = review.steps.flatMap((/** @type {any} */ step, /** @type {number} */ i) =>
    step.decisions.filter((/** @type {any} */ d) => d.seat === seat && d.loss !== null).map((/** @type {any} */ { loss }) => ({ step: i, loss })));
  for (const { loss } of losses) {
    const name = classOf(loss);
    if (name) counts[name]++;
  }
  const worst = losses.reduce((a, b) => (b.loss > (a?.loss ?? 0) ? b : a), /** @type {{step: number, loss: number} | null} */ (null));
  return { counts, accuracy: losses.length ? Math.min(1, 1 - losses.reduce((sum, { loss }) => sum + loss, 0) / losses.length) : null, key: worst && classOf(worst.loss) ? worst : null };
}

/** @param {any} review @param {[string, string]} names @returns {string[]} sentences */
export function inSentences(review, names) {
  const sentences = [];
  sentences.push(review.winner === null ? "The battle has no winner." : `${names[review.winner]} won.`);
  const turning = largestChange(review);
  if (turning) sentences.push(`The largest change: in turn ${turning.turn}, ${names[0] === "You" ? "your chance" : `the chance of ${names[0]}`} went from ${percent(turning.before)} to ${percent(turning.after)}.`);
  for (const seat of [0, 1]) {
    const { counts, accuracy, key } = summaryOf(review, seat);
    if (accuracy === null) continue;
    const kinds = CLASSES.map(([name]) => `${counts[name]} ${counts[name] === 1 ? name : name.replace(/y$/, "ie") + "s"}`).join(", ");
    sentences.push(`${names[seat]}: accuracy ${percent(accuracy)}, ${kinds}.`);
    if (key) {
      const step = review.steps[key.step];
      const decision = step.decisions.find((/** @type {any} */ d) => d.seat === seat);
      const played = decision.choices.find((/** @type {any} */ c) => c.action === decision.played);
      const best = bestOf(decision);
      sentences.push(`${names[seat] === "You" ? "Your costliest choice" : `The costliest choice of ${names[seat]}`} was ${played.parts.map(nameOf).join(" and ")} in turn ${step.turn}: ${percent(key.loss)} of win probability less than ${best.parts.map(nameOf).join(" and ")}.`);
    }
  }
  return sentences;
}

/** @param {any} review @returns {{turn: number, before: number, after: number} | null} the turn that changed most; null without a critic */
function largestChange({ steps, end }) {
  const wins = [...steps.map((/** @type {any} */ step) => step.win), end.win];
  const changes = steps.map((/** @type {any} */ { turn }, /** @type {number} */ i) => ({ turn, before: wins[i], after: wins[i + 1] }));
  const known = changes.filter((/** @type {any} */ { before, after }) => before !== null && after !== null);
  return known.reduce((/** @type {any} */ a, /** @type {any} */ b) => (a && Math.abs(a.after - a.before) >= Math.abs(b.after - b.before) ? a : b), null);
}

/** @param {any} decision @returns {any} the tried choice with the highest probability to win */
export function bestOf(decision) {
  return decision.choices.filter((/** @type {any} */ c) => c.win).reduce((/** @type {any} */ a, /** @type {any} */ b) => (b.win.mean > a.win.mean ? b : a));
}

/** @param {any} decision a person's, judged before it is played @param {string} opponent @returns {string} why it is taken back; empty if it is no clear mistake */
export function taughtBy(decision, opponent) {
  const name = classOf(decision?.loss ?? null);
  if (name !== "blunder" && name !== "mistake") return "";
  const played = decision.choices.find((/** @type {any} */ choice) => choice.action === decision.played);
  const best = bestOf(decision);
  const [bad, good] = [played, best].map(({ parts }) => parts.map(nameOf).join(" and "));
  return `Taken back: ${bad} is a ${name}. It costs ${percent(decision.loss)} of win probability: against what is expected of ${opponent} you win ${percent(played.win.mean)} after it, and ${percent(best.win.mean)} after ${good}. Choose again; the same choice is then played.`;
}
