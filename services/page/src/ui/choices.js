/** A button for every legal choice. In doubles, one slot chooses after the other. */
import { h, percent } from "./dom.js";
import { typeTag } from "./field.js";

/** Keys of the buttons in order; letters that mean something else are left out. */
const KEYS = [..."1234567890qwertyopasdfgjklzxcvbnm"];

/**
 * @param {{action: number, parts: any[]}[]} choices
 * @param {(action: number) => void} onChoose
 * @returns {HTMLElement}
 */
export function choiceButtons(choices, onChoose) {
  const box = h("section.choices", { "aria-label": "Your choices" });
  /** @param {any[]} chosen parts of the slots before */
  const show = (chosen) => {
    const slot = chosen.length;
    const fitting = choices.filter(({ parts }) => chosen.every((part, i) => parts[i].key === part.key));
    const parts = [...new Map(fitting.map((choice) => [choice.parts[slot].key, choice.parts[slot]])).values()];
    /** @param {any} part */
    const pick = (part) => {
      const next = [...chosen, part];
      const done = fitting.filter(({ parts: all }) => all[slot].key === part.key);
      if (next.length === choices[0].parts.length) onChoose(done[0].action);
      else show(next);
    };
    const groups = [["Moves", "move"], ["Switches", "switch"], ["", "pass"]];
    let number = 0;
    const title = choices[0].parts.length > 1 ? [h("p.slot", { tabindex: -1 }, slot === 0 ? "First Pokémon" : `Second Pokémon (first: ${nameOf(chosen[0])})`)] : [];
    box.replaceChildren(...title, ...groups.flatMap(([label, kind]) => {
      const some = parts.filter((part) => part.kind === kind);
      if (!some.length) return [];
      return [h("div.group", { role: "group", "aria-label": label || "Other" }, ...some.map((part) => button(part, KEYS[number++], pick)))];
    }), ...(slot ? [action("Choose the first again", "Backspace", () => show([]))] : []));
    // The button that had the focus is gone.
    if (box.isConnected) /** @type {HTMLElement | null} */ (box.querySelector(".slot"))?.focus({ preventScroll: true });
  };
  show([]);
  return box;
}

/** @param {any} part @param {string | undefined} key @param {(part: any) => void} pick */
function button(part, key, pick) {
  return h(`button.choice.${part.kind}`, { type: "button", "data-key": key, title: part.text || null, onclick: () => pick(part) },
    h("span.name", {}, nameOf(part)), key ? h("kbd", { "aria-hidden": "true" }, key) : null,
    part.kind === "switch" && part.hp !== undefined ? h("span.facts", {}, `${percent(part.hp)} HP${part.status ? ` · ${part.status}` : ""}`) : null,
    part.kind === "move" && part.type ? h("span.facts", {}, typeTag(part.type), ` ${factsOf(part)}`) : null,
    part.kind === "move" && part.text ? h("span.text", {}, part.text) : null);
}

/** @param {string} label @param {string} key that presses it; empty: none @param {() => void} onclick */
export function action(label, key, onclick) {
  return h("button.quiet", { type: "button", "data-key": key || null, onclick }, label, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
}

/** @param {any} part @returns {string} */
export function nameOf(part) {
  const name = part.kind === "switch" ? `Switch to ${part.name}` : part.name;
  return `${name}${part.gimmick ? ` (${part.gimmick})` : ""}${part.target ? ` → ${part.target}` : ""}`;
}

/** @param {any} part of a move @returns {string} */
function factsOf(part) {
  const facts = [part.category === "Status" ? "status" : `power ${part.power > 1 ? part.power : "varies"}`];
  facts.push(part.accuracy === null ? "never misses" : `${part.accuracy} %`);
  if (part.pp !== undefined) facts.push(`PP ${part.pp}/${part.maxPp}`);
  if (part.effect !== null && part.effect !== 1) facts.push(part.effect === 0 ? "no effect" : `×${part.effect}`);
  // Each fact stays on one line.
  return facts.map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · ");
}

/** Let the keys of the visible buttons press them. @param {KeyboardEvent} event */
export function pressByKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).closest("input, textarea, select")) return;
  const button = /** @type {HTMLButtonElement | null} */ (document.querySelector(`main button[data-key="${CSS.escape(event.key)}"]`));
  if (!button || button.disabled) return;
  event.preventDefault();
  button.click();
}
