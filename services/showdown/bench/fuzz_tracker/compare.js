/** Compares what one seat's tracker holds with what the simulator knows. */
import { isDeepStrictEqual } from "node:util";
import { BOOSTS, STATS } from "../../src/simulator/dex.js";

/** @typedef {import("../../src/tracker/tracker.js").Tracker} Tracker */

/**
 * @typedef {object} Difference
 * @property {string} kind such as "opponent ability"
 * @property {string} subject such as "field", "own side", "opponent Ditto"
 * @property {any} tracked
 * @property {any} truth
 * @property {any} [pokemon] the simulator's, if the difference is one Pokémon's
 */

/** @typedef {(kind: string, tracked: any, truth: any, move?: string) => void} See takes a pair that should be equal */

/** Volatiles that no single condition of the simulator equals. */
const NOT_COMPARED = new Set(["transformed", "hidden", "binding", "fallen", ...STATS.map((stat) => `paradox${stat}`)]);

/**
 * @param {any} battle
 * @param {Tracker} tracker
 * @param {number} seat the tracker's
 * @returns {{comparisons: number, differences: Difference[]}} of everything that the tracker claims to know
 */
export function compare(battle, tracker, seat) {
  let comparisons = 0;
  /** @type {Difference[]} */
  const differences = [];
  /** @param {string} whose @param {string} subject @param {any} [pokemon] @returns {See} */
  const about = (whose, subject, pokemon) => (kind, tracked, truth, move) => {
    comparisons++;
    if (tracked === truth || isDeepStrictEqual(tracked, truth)) return;
    const place = pokemon && !pokemon.isActive ? " on the bench" : "";
    differences.push({ kind: `${whose}${kind}${place}`, subject: `${whose}${subject}${move ? `'s ${move}` : ""}`, tracked, truth, pokemon });
  };
  // In Team Preview, nobody is active yet.
  if (battle.requestState !== "teampreview") {
    const state = /** @type {any} */ (tracker.state());
    compareField(battle, tracker, state, about("", "field"));
    for (const whose of ["own", "opponent"]) {
      const side = battle.sides[whose === "own" ? seat : 1 - seat];
      compareSide(side, tracker, state[whose], about(`${whose} `, "side"));
      for (const [row, pokemon] of pairs(side, state[whose])) {
        comparePokemon(row, pokemon, tracker, whose === "own", about(`${whose} `, pokemon.name, pokemon));
      }
    }
  }
  return { comparisons, differences };
}

/** @param {any} battle @param {Tracker} tracker @param {any} state the tracker's @param {See} see */
function compareField(battle, tracker, state, see) {
  const { neutralizinggas: gas, ...rooms } = state.rooms;
  see("turn", state.turn, battle.turn);
  see("weather", state.weather?.id ?? "", battle.field.weather);
  see("terrain", state.terrain?.id ?? "", battle.field.terrain);
  see("rooms", Object.keys(rooms), tracker.rooms.ids.filter((id) => id in battle.field.pseudoWeather));
  if (tracker.gas < 0) return;
  const isGas = (/** @type {any} */ { ability, abilityState, transformed, volatiles }) =>
    ability === "neutralizinggas" && !volatiles.gastroacid && !transformed && !abilityState.ending;
  see("neutralizing gas", gas !== undefined, battle.getAllActive().some(isGas));
}

/** @param {any} side the simulator's @param {Tracker} tracker @param {any} state the tracker's of it @param {See} see */
function compareSide(side, { conditions }, state, see) {
  const layers = (/** @type {any} */ all) =>
    Object.fromEntries(conditions.ids.flatMap((id) => (id in all ? [[id, all[id].layers ?? 1]] : [])));
  see("conditions", layers(state.conditions), layers(side.sideConditions));
  const slots = side.active.map((/** @type {any} */ _, /** @type {number} */ position) => side.slotConditions[position] ?? {});
  const turns = state.future_turns ? [state.future_turns, state.wish_turns] : [[state.future_turn], [state.wish_turn]];
  const [future, wishes] = turns.map((of) => of.map((/** @type {number} */ turn) => turn > 0));
  see("future moves by slot", future, slots.map((/** @type {any} */ { futuremove }) => Boolean(futuremove)));
  see("wishes by slot", wishes, slots.map((/** @type {any} */ { wish }) => Boolean(wish)));
}

/**
 * @param {any} side the simulator's
 * @param {any} state the tracker's of it
 * @yields {[any, any]} what is tracked of each Pokémon that was seen, and the simulator's Pokémon
 */
function* pairs(side, state) {
  // What a Pokémon in disguise shows is another's, as far as anybody can know.
  const mayDisguise = (/** @type {any} */ { ability, baseAbility }) => ability === "illusion" || baseAbility === "illusion";
  if (side.pokemon.some(mayDisguise)) return;
  for (const pokemon of side.pokemon) {
    const row = state.pokemon.find((/** @type {any} */ { name }) => name === pokemon.name);
    // Of its own side, the tracker knows all that the request lists.
    if (row && (row.revealed || row.stats)) yield [row, pokemon];
  }
}

/** @param {any} row of the tracker's state @param {any} pokemon the simulator's @param {Tracker} tracker @param {boolean} isOwn @param {See} see */
function comparePokemon(row, pokemon, tracker, isOwn, see) {
  const { generation } = tracker.dexInfo;
  see("fainted", row.fainted, pokemon.fainted);
  if (pokemon.fainted) return;
  see("species", row.forme, pokemon.species.id);
  see("status", row.status, pokemon.status);
  see("HP", row.hp, isOwn ? pokemon.hp : Number.parseInt(pokemon.getHealth().shared, 10));
  if (isOwn) see("maximum HP", row.max_hp, pokemon.maxhp);
  if (generation > 1 && row.item !== null) see("item", row.item, pokemon.item);
  const ability = pokemon.isActive ? pokemon.ability : pokemon.baseAbility;
  if (generation > 2 && row.ability) see("ability", row.ability, ability);
  const types = pokemon.getTypes().map((/** @type {string} */ type) => type.toLowerCase());
  see("types", row.types, types.filter((/** @type {string} */ type) => type !== "???"));
  if (row.tera) see("Terastallization", row.terastallized, Boolean(pokemon.terastallized));
  compareMoves(row, pokemon, isOwn, see);
  if (!pokemon.isActive) return;
  see("boosts", row.boosts, Object.fromEntries(BOOSTS.map((stat) => [stat, pokemon.boosts[stat]])));
  see("Transform", "transformed" in row.volatiles, pokemon.transformed);
  compareVolatiles(row.volatiles, pokemon, tracker, see);
}

/** @param {any} row @param {any} pokemon @param {boolean} isOwn @param {See} see */
function compareMoves(row, pokemon, isOwn, see) {
  // The simulator gives every Hidden Power one id.
  const plain = (/** @type {string} */ id) => id.replace(/^hiddenpower.*/, "hiddenpower");
  const slots = pokemon.isActive ? pokemon.moveSlots : pokemon.baseMoveSlots;
  const ids = slots.map((/** @type {any} */ { id }) => plain(id)).sort();
  if (isOwn) see("moves", row.moves.map((/** @type {any} */ { id }) => plain(id)).sort(), ids);
  for (const { id, pp, max_pp: maxPp } of row.moves) {
    const slot = slots.find((/** @type {any} */ other) => plain(other.id) === plain(id));
    if (slot) {
      see("PP", pp, slot.pp, id);
      if (pokemon.isActive) see("maximum PP", maxPp, slot.maxpp, id);
    } else if (!isOwn) {
      see("move", plain(id), ids, id);
    }
  }
}

/** @param {Record<string, number>} tracked @param {any} pokemon @param {Tracker} tracker @param {See} see */
function compareVolatiles(tracked, pokemon, { volatiles }, see) {
  const { volatiles: truth, abilityState } = pokemon;
  const isSlow = pokemon.ability === "slowstart" && abilityState.counter > 0 && !pokemon.ignoringAbility();
  for (const { id, condition } of volatiles.all) {
    // In the newest generation, Slow Start is no condition, but a count of its ability.
    if (!NOT_COMPARED.has(id)) see(id, id in tracked, condition in truth || (id === "slowstart" && isSlow));
  }
  if (tracked.stockpile && truth.stockpile) see("Stockpiles", tracked.stockpile, truth.stockpile.layers);
  if (tracked.perish && truth.perishsong) see("turns to Perish Song", 4 - tracked.perish, truth.perishsong.duration);
  if (!volatiles.numbers.has("paradoxatk")) return;
  const { bestStat } = truth.protosynthesis ?? truth.quarkdrive ?? {};
  see("raised by a paradox ability", STATS.filter((stat) => `paradox${stat}` in tracked), bestStat ? [bestStat] : []);
}
