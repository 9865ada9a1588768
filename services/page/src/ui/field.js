/** Both teams as one seat knows them: names, types, HP bars, status, boosts, conditions. */
import { h, meter, percent } from "./dom.js";

const STATUS = /** @type {Record<string, string>} */ ({ brn: "burned", par: "paralysed", slp: "asleep", frz: "frozen", psn: "poisoned", tox: "badly poisoned" });

/**
 * @param {any} knowledge of a seat
 * @param {[string, string]} names own, opponent's
 * @returns {HTMLElement}
 */
export function field(knowledge, [own, opponent]) {
  return h("section.field", { "aria-label": "Field" },
    side(knowledge.opponent, opponent, "foe"),
    knowledge.names.length ? h("p.conditions", {}, `On the field: ${knowledge.names.join(", ")}`) : null,
    side(knowledge.own, own, "own"));
}

/** @param {any} known @param {string} name @param {string} whose */
function side(known, name, whose) {
  const active = known.pokemon.filter((/** @type {any} */ mon) => mon.active && !mon.fainted);
  const hidden = Math.max(0, known.team_size - known.pokemon.length);
  const bench = known.pokemon.filter((/** @type {any} */ mon) => !active.includes(mon));
  return h(`div.side.${whose}`, {},
    h("h3", {}, name),
    h("div.actives", {}, ...(active.length ? active.map(card) : [h("p.none", {}, "No Pokémon in battle")])),
    known.names.length ? h("p.conditions", {}, known.names.join(", ")) : null,
    h("ul.bench", { "aria-label": `Bench of ${name}` }, ...bench.map(chip), ...Array.from({ length: hidden }, () => h("li.chip.unknown", {}, "not seen yet"))));
}

/** @param {any} mon @returns {HTMLElement} */
function card(mon) {
  const boosts = Object.entries(mon.boosts).filter(([, stages]) => stages !== 0).map(([stat, stages]) => `${stat} ${stages > 0 ? "+" : "−"}${Math.abs(Number(stages))}`);
  const marks = [...boosts, ...mon.names];
  return h("article.card", {},
    h("div.head", {}, h("strong", {}, mon.name), h("span.level", {}, ` L${mon.level}`), ...mon.types.map(typeTag), status(mon)),
    bar(mon),
    marks.length ? h("p.marks", {}, marks.join(" · ")) : null,
    h("p.facts", {}, mon.facts));
}

/** @param {any} mon */
function chip(mon) {
  return h(`li.chip${mon.fainted ? ".fainted" : ""}`, {}, h("span", {}, mon.name), mon.fainted ? h("small", {}, " fainted") : h("small", {}, ` ${percent(mon.hp / mon.max_hp)}`), status(mon));
}

/** @param {any} mon @returns {HTMLElement | null} */
function status(mon) {
  return mon.status ? h(`span.status.${mon.status}`, {}, STATUS[mon.status] ?? mon.status) : null;
}

/** @param {any} mon */
export function bar(mon) {
  const share = mon.fainted ? 0 : mon.hp / mon.max_hp;
  const level = share > 0.5 ? "high" : share > 0.2 ? "middle" : "low";
  const exact = mon.max_hp === 100 ? percent(share) : `${mon.hp}/${mon.max_hp}`;
  return h("div.hp", { role: "meter", "aria-label": `HP of ${mon.name}`, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(100 * share) },
    meter(share, `bar ${level}`), h("span.number", {}, exact));
}

/** @param {string} type @returns {HTMLElement} */
export function typeTag(type) {
  return h(`span.type.t-${type.toLowerCase()}`, {}, type);
}
