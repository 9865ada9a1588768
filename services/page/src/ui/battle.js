/** The battle's screen: field, log in words, choices, help, and what follows the end. */
import { action, choiceButtons, nameOf } from "./choices.js";
import { h, percent } from "./dom.js";
import { field } from "./field.js";
import { TEACHING_FORKS, taughtBy } from "./mistakes.js";
import { inWords, turnInWords } from "./words.js";

/**
 * @typedef {object} Table a battle that is on
 * @property {number} seat of the person
 * @property {[string, string]} names by seat
 * @property {string} opponent id of its policy
 * @property {string | null} [teacher] id of the policy that takes back clear mistakes; null: none does
 */

/**
 * @param {import("./engine.js").Engine} engine
 * @param {HTMLElement} main
 * @param {Table} table
 * @param {any} view of the seat
 * @param {{analyse: () => void, rematch: () => void, leave: () => void, save: () => void, ended: (view: any) => void}} go
 */
export function showBattle(engine, main, table, view, go) {
  const { seat, names, opponent, teacher } = table;
  const ordered = /** @type {[string, string]} */ ([names[seat], names[1 - seat]]);
  let isCounted = false;
  let busy = false;
  /** The choice that was taken back last. @type {number | null} */
  let takenBack = null;

  /** @param {any} next @param {string} [note] */
  const draw = (next, note = "") => {
    view = next;
    if (view.over && !isCounted) {
      isCounted = true;
      go.ended(view);
    }
    const isOpen = !view.over;
    main.replaceChildren(
      h("div.battle", {},
        h("div.left", {},
          h("h2", { tabindex: -1 }, view.over ? outcome(view, seat, names) : turnInWords(view.turn)),
          note ? h("p.notice", { role: "status", tabindex: -1 }, note) : null,
          view.helped ? h("p.note", {}, "You had help: this battle does not count in the score.") : null,
          isOpen && view.choices.length ? choiceButtons(view.choices, choose) : null,
          field(view.knowledge, ordered),
          h("div.actions", {},
            ...(isOpen
              ? [action("Hint", "h", hint), action("Undo", "u", undo), action("Resign", "", resign)]
              : [action("Analyse", "i", go.analyse), action("Rematch, sides swapped", "m", go.rematch), action("Save", "", go.save), action("Undo", "u", undo), action("New battle", "", go.leave)]))),
        log(view, seat, names)));
    const list = main.querySelector(".log .lines");
    if (list) list.scrollTop = list.scrollHeight;
    // The button that had the focus is gone: the keyboard goes on from here, and a screen reader says what is new.
    /** @type {HTMLElement | null} */ (main.querySelector(".notice") ?? main.querySelector("h2"))?.focus({ preventScroll: true });
  };

  /** @param {string} method @param {any} options @param {(result: any) => string} [noteOf] */
  const ask = async (method, options, noteOf = () => "") => {
    const result = await engine.call(method, { seat, ...options });
    takenBack = null;
    draw(result, noteOf(result));
  };

  /** One thing at a time: while it is done, nothing else is. @param {() => Promise<void>} act */
  const alone = async (act) => {
    if (busy) return;
    busy = true;
    main.setAttribute("aria-busy", "true");
    try {
      await act();
    } catch (error) {
      draw(view, `This did not work: ${/** @type {Error} */ (error).message}`);
    } finally {
      busy = false;
      main.removeAttribute("aria-busy");
    }
  };

  const choose = (/** @type {number} */ chosen) => alone(async () => {
    const why = teacher && chosen !== takenBack ? taughtBy(await engine.call("judge", { seat, action: chosen, policy: teacher, forks: TEACHING_FORKS }), names[1 - seat]) : "";
    if (why) {
      takenBack = chosen;
      return draw({ ...view, helped: true }, why);
    }
    await ask("choose", { action: chosen }, ({ rejected }) => (rejected.length ? "The simulator refused this choice, for a reason that you could not know: choose again." : ""));
  });
  const undo = () => alone(() => ask("undo", {}, () => "The whole turn is taken back."));
  const resign = () => alone(() => ask("resign", {}));

  const hint = () => alone(async () => {
    const { probabilities, win } = await engine.call("hint", { seat, policy: opponent });
    const best = probabilities.slice(0, 3).map((/** @type {any} */ { action: number, probability }) => {
      const { parts } = view.choices.find((/** @type {any} */ choice) => choice.action === number);
      return `${parts.map(nameOf).join(" and ")} ${percent(probability)}`;
    });
    draw({ ...view, helped: true }, `${names[1 - seat]} in your seat would choose: ${best.join(", ")}.${win === null ? "" : ` It sees your chance to win at ${percent(win)}.`}`);
  });

  draw(view);
}

/** @param {any} view @param {number} seat @param {[string, string]} names @returns {string} */
function outcome(view, seat, names) {
  if (view.resigned !== null) return view.resigned === seat ? `You resigned: ${names[1 - seat]} wins` : "You win";
  if (view.winner === null) return "A draw";
  return view.winner === seat ? "You win" : `${names[view.winner]} wins`;
}

/** Lines of the log in words: some hundred turns. More would keep the page from answering. */
const MOST_LINES = 4000;

/** @param {any} view @param {number} seat @param {[string, string]} names @returns {HTMLElement} */
export function log(view, seat, names) {
  const entries = inWords(view.lines.slice(-MOST_LINES), seat, names);
  if (view.lines.length > MOST_LINES) entries.unshift({ kind: "text", text: "Earlier lines are left out." });
  return h("section.log", { "aria-label": "Log" }, h("h3", {}, "Log"),
    h("div.lines", { role: "log", "aria-live": "polite", "aria-label": "Log", tabindex: 0 },
      h("ol", {}, ...entries.map(({ kind, text }) => h(kind === "turn" ? "li.turn" : "li", {}, text)))));
}
