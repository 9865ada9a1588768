/** Opens the engine, and leads from screen to screen. */
import { showBattle } from "./battle.js";
import { showBoard } from "./board.js";
import { pressByKey } from "./choices.js";
import { h } from "./dom.js";
import { Engine, unpacked } from "./engine.js";
import { readBattle, saveRecord } from "./record.js";
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
  const space = await engine.call("open", { format: page.format, policies: page.policies, networks, wasm });
  return { engine, space };
}

/** @param {string} id */
const nameOf = (id) => page.policies.find((/** @type {any} */ policy) => policy.id === id)?.name ?? id;

async function run() {
  const { engine, space } = await open();
  document.addEventListener("keydown", pressByKey);

  const setup = () => showSetup(main, page, space, engine, { start: (chosen) => start({ ...chosen, number: 0 }), watch, load }, scoreInWords(played));

  /** @param {any} chosen */
  const start = async ({ opponent, seat, root, team, number }) => {
    const seats = seat === 0 ? [null, opponent] : [opponent, null];
    const own = seat === 0 ? [team, null] : [null, team];
    try {
      const view = await engine.call("start", { seats, root, number, teams: page.teams, own });
      play({ opponent, seat, root, team, number }, view, true);
    } catch (error) {
      showProblem(error);
    }
  };

  /** @param {{seats: [string, string], root: string}} chosen */
  const watch = async ({ seats, root }) => {
    main.replaceChildren(h("p", { role: "status" }, "The policies play …"));
    try {
      await engine.call("start", { seats, root, number: 0, teams: page.teams, own: [null, null] });
      board(await engine.call("record", { players: seats.map((id, seat) => (seats[0] === seats[1] ? `${nameOf(id)} (${seat + 1})` : nameOf(id))) }));
    } catch (error) {
      showProblem(error);
    }
  };

  /** @param {any} chosen @param {any} first view @param {boolean} isCounted */
  const play = (chosen, first, isCounted) => {
    const { opponent, seat } = chosen;
    const names = /** @type {[string, string]} */ (seat === 0 ? ["You", nameOf(opponent)] : [nameOf(opponent), "You"]);
    const record = () => engine.call("record", { players: names });
    showBattle(engine, main, { seat, names, opponent }, first, {
      analyse: async () => board(await record()),
      rematch: () => start({ ...chosen, seat: 1 - seat, number: (chosen.number ?? 0) + 1 }),
      save: async () => saveRecord(await record()),
      leave: setup,
      ended: (view) => {
        if (!isCounted || view.helped) return;
        if (view.winner === null) played.draws++;
        else if (view.winner === seat) played.wins++;
        else played.losses++;
      },
    });
  };

  /** @param {any} record */
  const board = (record) =>
    showBoard(engine, main, page, record, {
      save: saveRecord,
      leave: setup,
      playOn: async ({ numSteps, seat, opponent }) => {
        const seats = seat === 0 ? [null, opponent] : [opponent, null];
        play({ opponent, seat, root: "0", team: null, number: 0 }, await engine.call("resume", { record, numSteps, seats }), false);
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
