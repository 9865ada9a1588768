/**
 * Faster turns: which Pokémon an event runs for, and the order of actions. Usually there are two Pokémon of different
 * speed and no handler.
 */
import { concernsAnything } from "./events.js";
import { lendMoves } from "./moves.js";
import { Battle, BattleQueue } from "../package.js";

/** The simulator's order of actions by kind; the simulator rebuilds this table for each action. */
const ORDERS = new Map([
  ["team", 1],
  ["start", 2],
  ["instaswitch", 3],
  ["beforeTurn", 4],
  ["beforeTurnMove", 5],
  ["revivalblessing", 6],
  ["runSwitch", 101],
  ["switch", 103],
  ["megaEvo", 104],
  ["megaEvoX", 104],
  ["megaEvoY", 104],
  ["runDynamax", 105],
  ["terastallize", 106],
  ["priorityChargeMove", 107],
  ["shift", 200],
  ["move", 200],
  ["event", 200],
  ["residual", 300],
]);

/** Replace these parts of a turn in all battles of this process. */
export function takeTurnsFast() {
  const prototype = /** @type {any} */ (Battle.prototype);
  const queuePrototype = /** @type {any} */ (BattleQueue.prototype);
  const { eachEvent, speedSort } = prototype;
  const { resolveAction } = queuePrototype;

  /** @this {any} @param {string} event @param {any} [effect] @param {any} [relayVar] */
  prototype.eachEvent = function (event, effect, relayVar) {
    // The order of two Pokémon of equal speed is drawn, and the weather's event is followed by another.
    if (event === "Weather" || !areSpeedsDistinct(this) || concernsAnything(this, event, null, null)) {
      return eachEvent.call(this, event, effect, relayVar);
    }
    lendMoves(0);
  };

  /** @this {any} @param {any[]} list @param {(a: any, b: any) => number} [comparator] */
  prototype.speedSort = function (list, comparator) {
    if (list.length !== 2) return speedSort.call(this, list, comparator);
    const compare = comparator ?? this.comparePriority;
    const [first, second] = list;
    const delta = compare(first, second);
    if (delta > 0) {
      list[0] = second;
      list[1] = first;
    } else if (delta === 0) {
      this.prng.shuffle(list, 0, 2);
    }
  };

  /** @this {any} @param {any} action @param {boolean} [midTurn] */
  queuePrototype.resolveAction = function (action, midTurn) {
    if (action && !action.order && action.choice !== "pass") {
      const order = ORDERS.get(action.choice);
      if (order !== undefined) {
        // In the simulator's order: an action is part of the battle's state.
        if (!action.side && action.pokemon) action.side = action.pokemon.side;
        if (!action.move && action.moveid) action.move = this.battle.dex.getActiveMove(action.moveid);
        action.order = order;
      }
    }
    return resolveAction.call(this, action, midTurn);
  };
}

/** @param {any} battle of two sides @returns {boolean} false if two active Pokémon may have equal speed */
function areSpeedsDistinct({ sides, eventDepth }) {
  if (sides.length !== 2 || eventDepth > 0) return false;
  const [first, second] = [sides[0].active, sides[1].active];
  if (first.length !== 1 || second.length !== 1) return false;
  return !first[0] || !second[0] || first[0].speed !== second[0].speed;
}
