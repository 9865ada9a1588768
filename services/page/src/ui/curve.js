/** The win probability over a battle's steps, as a picture that is also a control. */
import { svg } from "./dom.js";

const [MOST_WIDTH, HEIGHT, LEFT, BOTTOM] = [720, 170, 44, 22];
const MARGINS = 32;

/**
 * @param {any} review
 * @param {number} at step that is shown
 * @param {(step: number) => void} onStep
 * @returns {SVGElement}
 */
export function curve(review, at, onStep) {
  // One unit is one pixel on a narrow screen, so that the numbers stay legible.
  const width = Math.min(MOST_WIDTH, Math.max(240, globalThis.innerWidth - MARGINS));
  const wins = [...review.steps.map((/** @type {any} */ step) => step.win), review.end.win];
  const x = (/** @type {number} */ i) => LEFT + (i / Math.max(1, wins.length - 1)) * (width - LEFT - 8);
  const y = (/** @type {number} */ win) => 8 + (1 - win) * (HEIGHT - BOTTOM - 8);
  const points = wins.flatMap((win, i) => (win === null ? [] : [`${x(i).toFixed(1)},${y(win).toFixed(1)}`]));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": "Probability that side 1 wins, by turn", class: "curve" },
    ...[0, 0.5, 1].flatMap((level) => [
      svg("line", { x1: LEFT, x2: width - 8, y1: y(level), y2: y(level), class: "rule" }),
      svg("text", { x: LEFT - 6, y: y(level) + 4, class: "tick", "text-anchor": "end" }, `${100 * level} %`),
    ]),
    ...ticks(review).map(([i, turn]) => svg("text", { x: x(i), y: HEIGHT - 5, class: "tick", "text-anchor": "middle" }, String(turn))),
    svg("polyline", { points: points.join(" "), class: "line" }),
    ...review.steps.flatMap((/** @type {any} */ step, /** @type {number} */ i) => (step.worst && step.win !== null ? [svg("circle", { cx: x(i), cy: y(step.win), r: 5, class: `mark ${step.worst}` })] : [])),
    svg("line", { x1: x(at), x2: x(at), y1: 4, y2: HEIGHT - BOTTOM + 2, class: "cursor" }));
  picture.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * width;
    const step = Math.round(((share - LEFT) / (width - LEFT - 8)) * (wins.length - 1));
    onStep(Math.min(wins.length - 1, Math.max(0, step)));
  });
  return picture;
}

/** @param {any} review @returns {[number, number][]} steps that get a turn's number below them */
function ticks(review) {
  const firsts = review.steps.flatMap((/** @type {any} */ step, /** @type {number} */ i) => (i === 0 || step.turn !== review.steps[i - 1].turn ? [[i, step.turn]] : []));
  const every = Math.max(1, Math.ceil(firsts.length / 12));
  return firsts.filter((/** @type {any} */ _, /** @type {number} */ k) => k % every === 0);
}
