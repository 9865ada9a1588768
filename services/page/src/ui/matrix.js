/** A turn as a matrix game, as the board shows it. */
import { nameOf } from "./choices.js";
import { h, meter, percent } from "./dom.js";

/** Forks of each pair of choices. */
export const MATRIX_FORKS = 12;
/** Least share of a mixture that is said. */
const LEAST_SHARE = 0.01;

/**
 * @param {import("../engine/matrix.js").MatrixGame | null} game
 * @param {[string, string]} names
 * @returns {HTMLElement[]}
 */
export function matrixGame(game, names) {
  if (!game) return [h("p.note", {}, "There is no game to solve here: the sides do not choose at the same time, or nothing values the outcome.")];
  const [rows, columns] = game.choices;
  const { value, low, high } = game.value;
  const corner = h("th", { scope: "col" }, `${names[0]} ↓, ${names[1]} →`);
  const head = h("tr", {}, corner, ...columns.map((choice) => h("th.number", { scope: "col" }, ...label(choice))), h("th.number", { scope: "col" }, "Mixture"));
  const body = rows.map((choice, a) => h(`tr${choice.isPlayed ? ".played" : ""}`, {},
    h("th", { scope: "row" }, ...label(choice)),
    ...game.wins[a].map(({ mean, error }, b) => h(`td.number${choice.isPlayed && columns[b].isPlayed ? ".both" : ""}`, {}, percent(mean), h("small", {}, ` ± ${(196 * error).toFixed(0)}`), meter(mean, "win"))),
    h("td.number", {}, share(choice))));
  const foot = h("tr", {}, h("th", { scope: "row" }, "Mixture"), ...columns.map((choice) => h("td.number", {}, share(choice))), h("td.number", {}, percent(value)));
  return [
    h("h4", {}, "This turn as a matrix game"),
    h("p", {}, `If both mix as the game's equilibrium does, ${names[0] === "You" ? "you win" : `${names[0]} wins`} ${percent(value)} (${percent(low)} to ${percent(high)} by the dice). ${[0, 1].map((seat) => mixtureInWords(names[seat], game.choices[seat])).join(" ")}`),
    h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Win probability by both sides' choices" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...body, foot))),
    h("p.note", {}, `Cells: ${names[0] === "You" ? "your win probability" : `the win probability of ${names[0]}`}, the critic's mean over ${game.forks} repetitions of the turn with the same dice in every cell; ± is a 95 % interval of that mean alone. Below each mixture: the middle 95 % of mixtures if the dice are drawn again. Both teams are known here, which no player was. Left out are choices with ${percent(game.left[0])} and ${percent(game.left[1])} under the policy.`),
  ];
}

/** @param {import("../engine/matrix.js").MatrixChoice} choice */
const label = (choice) => [choice.parts.map(nameOf).join(" and "), choice.isPlayed ? h("span.tag", {}, "played") : ""];

/** @param {import("../engine/matrix.js").MatrixChoice} choice */
const share = ({ share: mixed, low, high }) => h("span", {}, percent(mixed), h("small", {}, ` ${percent(low)} to ${percent(high)}`));

/** @param {string} name @param {import("../engine/matrix.js").MatrixChoice[]} choices */
function mixtureInWords(name, choices) {
  const mixed = choices.filter(({ share: mixedShare }) => mixedShare >= LEAST_SHARE).sort((a, b) => b.share - a.share);
  const said = mixed.map((choice) => `${choice.parts.map(nameOf).join(" and ")} ${percent(choice.share)}`).join(", ");
  return `${name === "You" ? "Your mixture" : `Mixture of ${name}`}: ${said}.`;
}
