/** Opens the engine, and leads from screen to screen. */
import { showBattle } from "./battle.js";
import { judgesOf, showBoard } from "./board.js";
import { pressByKey } from "./choices.js";
import { h } from "./dom.js";
import { Engine, unpacked } from "./engine.js";
import { onlyLine, withLine } from "./lines.js";
import { readBattle, saveLines } from "./record.js";
import { scoreInWords, showSetup } from "./setup.js";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("page")).textContent ?? "");
const battle = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("battle")).textContent ?? "");
const played = { wins: 0, losses: 0, draws: 0 };

/** @param {unknown} error */
function showProblem(error) {
  main.replaceChildren(h("p.problem", { role: "alert" }, error instanceof Error ? error.message : String(error)), h("button.quiet", { type: "button", onclick: () => location.reload() }, "Start again"));
}

async function open() {
  const [script, wasm] = await Promise.all([unpacked("engine"), unpacked("runtime")]);
  const networks = Object.fromEntries(await Promise.all(
    page.networks.map(async (/** @type {string} */ name) => [name, new Uint8Array(await unpacked(`network-${name}`))])));
  const engine = new Engine(script);
  const space = await engine.call("open", { format: page.format, policies: page.policies, networks, teams: page.teams, wasm });
  // Members of ensembles, and what searches are around, play no battle of their own.
  page.policies = page.policies.filter((/** @type {any} */ policy) => !policy.is_part);
  return { engine, space };
}

/** @param {string} id */
const nameOf = (id) => page.policies.find((/** @type {any} */ policy) => policy.id === id)?.name ?? id;

async function run() {
  const { engine, space } = await open();
  document.addEventListener("keydown", pressByKey);

  const setup = () => showSetup(main, page, space, engine, { start: (chosen) => start({ ...chosen, number: 0 }), watch, load }, scoreInWords(played));

  /** @param {any} chosen */
  const start = async ({ opponent, seat, root, team, number, isTaught }) => {
    const seats = seat === 0 ? [null, opponent] : [opponent, null];
    const own = seat === 0 ? [team, null] : [null, team];
    try {
      const view = await engine.call("start", { seats, root, number, teams: page.teams, own });
      play({ opponent, seat, root, team, number, isTaught }, view, null);
    } catch (error) {
      showProblem(error);
    }
  };

  /** @param {{seats: [string, string], root: string}} chosen */
  const watch = async ({ seats, root }) => {
    main.replaceChildren(h("p", { role: "status" }, "The policies play …"));
    try {
      await engine.call("start", { seats, root, number: 0, teams: page.teams, own: [null, null] });
      board(onlyLine(await engine.call("record", { players: seats.map((id, seat) => (seats[0] === seats[1] ? `${nameOf(id)} (${seat + 1})` : nameOf(id))) })));
    } catch (error) {
      showProblem(error);
    }
  };

  /**
   * @param {any} chosen
   * @param {any} first view
   * @param {{lines: import("./lines.js").Line[], parent: number, turns: number[]} | null} from where it leaves a battle of the board, and does not count
   */
  const play = (chosen, first, from) => {
    const { opponent, seat } = chosen;
    const teacher = chosen.isTaught ? judgesOf(page)[0].id : null;
    const names = /** @type {[string, string]} */ (seat === 0 ? ["You", nameOf(opponent)] : [nameOf(opponent), "You"]);
    const tree = async () => {
      const record = await engine.call("record", { players: names });
      return from ? withLine(from.lines, from.parent, from.turns, record) : { lines: onlyLine(record), shown: 0 };
    };
    showBattle(engine, main, { seat, names, opponent, teacher }, first, {
      analyse: async () => {
        const { lines, shown } = await tree();
        board(lines, shown);
      },
      rematch: () => start({ ...chosen, seat: 1 - seat, number: (chosen.number ?? 0) + 1 }),
      save: async () => saveLines((await tree()).lines),
      leave: setup,
      ended: (view) => {
        if (from || view.helped) return;
        if (view.winner === null) played.draws++;
        else if (view.winner === seat) played.wins++;
        else played.losses++;
      },
    });
  };

  /** @param {import("./lines.js").Line[]} lines @param {number} [shown] */
  const board = (lines, shown = 0) =>
    showBoard(engine, main, page, lines, shown, {
      save: saveLines,
      leave: setup,
      playOn: async ({ numSteps, seat, opponent }, from) => {
        const { record } = from.lines[from.parent];
        const seats = seat === 0 ? [null, opponent] : [opponent, null];
        play({ opponent, seat, root: "0", team: null, number: 0 }, await engine.call("resume", { record, numSteps, seats }), from);
      },
    }).catch(showProblem);

  /** @param {string} text of a battle */
  const load = (text) => {
    try {
      board(readBattle(text, page.format));
    } catch (error) {
      showProblem(error);
    }
  };

  if (battle) load(battle);
  else setup();
}

run().catch(showProblem);
