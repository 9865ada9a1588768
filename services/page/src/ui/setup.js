/** The first screen: opponent, level, side, teams and seed. */
import { h, percent } from "./dom.js";

/**
 * @param {HTMLElement} main
 * @param {any} page its data
 * @param {any} space the engine's answer to `open`
 * @param {import("./engine.js").Engine} engine
 * @param {{start: (chosen: any) => void, watch: (chosen: any) => void, load: (text: string) => void}} go
 * @param {string} score in words; empty before the first battle
 */
export function showSetup(main, page, space, engine, go, score) {
  const opponent = h("select", { id: "opponent" }, ...page.policies.map((/** @type {any} */ policy) =>
    h("option", { value: policy.id }, offered(policy))));
  const side = h("select", { id: "side" }, h("option", { value: "0" }, "Side 1"), h("option", { value: "1" }, "Side 2"), h("option", { value: "watch" }, "Watch two policies"));
  const other = h("select", { id: "other" }, ...page.policies.map((/** @type {any} */ policy) => h("option", { value: policy.id }, offered(policy))));
  const otherRow = row("Against", other);
  otherRow.hidden = true;
  side.addEventListener("change", () => (otherRow.hidden = side.value !== "watch"));
  const seed = h("input", { id: "seed", inputmode: "numeric", pattern: "[0-9]*", value: String(randomSeed()) });
  const teach = h("input", { id: "teach", type: "checkbox" });
  const hasCritic = page.policies.some((/** @type {any} */ policy) => policy.kind === "network" || policy.kind === "ensemble");
  const team = h("textarea", { id: "team", rows: 6, spellcheck: "false", placeholder: space.isRandom ? "" : "Empty: a team of the page" });
  const problem = h("p.problem", { role: "alert" });
  const begin = async (/** @type {Event} */ event) => {
    event.preventDefault();
    problem.textContent = "";
    const packed = team.value.trim() ? await legalTeam(engine, team.value) : { packed: null, problem: "" };
    if (packed.problem) return void (problem.textContent = packed.problem);
    if (!/^\d{1,19}$/.test(seed.value)) return void (problem.textContent = `The seed is ${JSON.stringify(seed.value)}; expected a whole number of at most 19 digits.`);
    if (side.value === "watch") return void go.watch({ seats: [opponent.value, other.value], root: seed.value });
    go.start({ opponent: opponent.value, seat: Number(side.value), root: seed.value, team: packed.packed, isTaught: teach.checked });
  };
  const file = h("input", { id: "file", type: "file", accept: ".json,.html,.log,.txt", onchange: async () => file.files?.[0] && go.load(await file.files[0].text()) });
  const pasted = h("textarea", { id: "log", rows: 4, spellcheck: "false", placeholder: "|player|p1|…" });
  main.replaceChildren(
    h("form.setup", { onsubmit: begin },
      h("h2", {}, `Play ${space.name}`),
      score ? h("p.note", {}, score) : null,
      row("Opponent", opponent), row("Your side", side), otherRow, row("Seed", seed),
      hasCritic ? h("label.check", {}, teach, " Take back clear mistakes, and say why (with this help a battle does not count)") : null,
      space.isRandom ? h("p.note", {}, "The simulator draws both teams from the seed.") : row("Your team", team),
      problem,
      h("button.main", { type: "submit" }, "Start")),
    h("section.setup", {}, h("h2", {}, "Look at a battle"),
      h("p.note", {}, "Open or paste a battle that this page saved, a Showdown log or a downloaded replay file: it leads to the analysis board."), row("File", file), row("Log", pasted),
      h("button.quiet", { type: "button", onclick: () => pasted.value.trim() && go.load(pasted.value) }, "Analyse the log")));
  if (page.policies.length === 1) opponent.disabled = true;
}

/** @param {any} policy @returns {string} its name, with its rating or its level's measured score */
export const offered = ({ name, rating }) => (rating ? `${name} (${rating})` : name);

/** @param {string} label @param {any} control */
function row(label, control) {
  return h("div.row", {}, h("label", { for: control.id }, label), control);
}

/** @param {import("./engine.js").Engine} engine @param {string} text @returns {Promise<{packed: string | null, problem: string}>} */
async function legalTeam(engine, text) {
  const { problems, packed } = await engine.call("validate", { text });
  return { packed, problem: problems ? `This team is not legal: ${problems.join(" ")}` : "" };
}

function randomSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

/** @param {{wins: number, losses: number, draws: number}} played @returns {string} the session's score with its Wilson interval */
export function scoreInWords({ wins, losses, draws }) {
  const num = wins + losses + draws;
  if (num === 0) return "";
  const [z, share] = [1.96, (wins + draws / 2) / num];
  const centre = (share + z ** 2 / (2 * num)) / (1 + z ** 2 / num);
  const half = (z / (1 + z ** 2 / num)) * Math.sqrt((share * (1 - share)) / num + z ** 2 / (4 * num ** 2));
  return `Your score without help: ${percent(share)} of ${num} ${num === 1 ? "battle" : "battles"} (95 % interval ${percent(centre - half)} to ${percent(centre + half)}).`;
}
