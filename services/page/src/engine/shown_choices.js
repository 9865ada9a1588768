/** What each player chose in a turn of a log, where the log shows it. */
import { toId } from "./log.js";
import { isChosen, partsOf } from "./shown_team.js";

/** @typedef {{kind: "move" | "switch", name: string, target: string, gimmick: string}} Shown */

/** Lines that say how a move is used, before the move itself. */
const GIMMICKS = /** @type {Record<string, string>} */ ({ "-terastallize": "terastallize", "-mega": "mega", "-zpower": "zmove" });

/**
 * @param {string[]} lines of one turn
 * @param {string} position such as `p1a`
 * @returns {Shown | null} null where the log does not show it: the Pokémon fainted, slept or flinched first
 */
function shownAt(lines, position) {
  let gimmick = "";
  for (const line of lines) {
    const [, kind, who = "", what = "", target = "", ...tags] = line.split("|");
    if (!who.startsWith(`${position}:`)) continue;
    if (GIMMICKS[kind]) gimmick = GIMMICKS[kind];
    if (kind === "-start" && what === "Dynamax") gimmick = "dynamax";
    if (kind === "faint" || kind === "drag") return null;
    if (kind === "cant") return target ? { kind: "move", name: target, target: "", gimmick } : null;
    if (kind === "switch") return tags.some((tag) => tag.startsWith("[from]")) ? null : { kind, name: partsOf(who)[1], target: "", gimmick };
    if (kind === "move" && isChosen(tags)) return { kind, name: what, target: target.includes(": ") ? partsOf(target)[1] : "", gimmick };
  }
  return null;
}

/**
 * @param {string[]} lines of one turn
 * @param {number} seat
 * @param {{action: number, parts: import("./describe.js").Part[]}[]} choices that were legal
 * @returns {number | null} the action; null where the log does not tell it from others
 */
export function shownAction(lines, seat, choices) {
  const numSlots = choices[0]?.parts.length ?? 0;
  const shown = Array.from({ length: numSlots }, (_, slot) => shownAt(lines, `p${seat + 1}${"ab"[slot]}`));
  const fitting = choices.filter(({ parts }) => parts.every((part, slot) => fits(part, shown[slot])));
  return fitting.length === 1 ? fitting[0].action : null;
}

/** @param {import("./describe.js").Part} part @param {Shown | null} shown */
function fits(part, shown) {
  if (part.kind === "pass") return shown === null;
  return shown !== null && part.kind === shown.kind && toId(part.name) === toId(shown.name) && toId(part.gimmick ?? "") === shown.gimmick && (!part.target || part.target === shown.target);
}
