/** A cheap policy for both sides after the joint choice that is searched: the move with the largest estimated damage. */
import { choicesOf, play } from "./choices.js";

/** @typedef {import("../simulator/package.js").Battle} Battle */

/** Share of choices that are drawn uniformly, so that status moves occur too. */
const EXPLORES = 0.15;
/** Hits of a move that hits two to five times, on average. */
const HITS = 3;

/** @param {any} pokemon @param {"atk" | "def" | "spa" | "spd"} stat */
function statOf(pokemon, stat) {
  if (pokemon.modifiedStats) return pokemon.modifiedStats[stat];
  const stage = pokemon.boosts[stat];
  return pokemon.storedStats[stat] * (stage >= 0 ? (2 + stage) / 2 : 2 / (2 - stage));
}

/**
 * @param {any} battle
 * @param {any} user
 * @param {any} target
 * @param {string} id of the move
 * @returns {number} expected damage as a share of the target's HP, at most 1 times the accuracy
 */
export function damageShare(battle, user, target, id) {
  const move = battle.dex.moves.get(id);
  if (move.category === "Status" || target.hp <= 0) return 0;
  const { dex } = battle;
  if (!dex.getImmunity(move.type, target)) return 0;
  const accuracy = move.accuracy === true ? 1 : move.accuracy / 100;
  if (move.ohko) return 0.3;
  let damage;
  if (move.damage === "level") damage = user.level;
  else if (typeof move.damage === "number") damage = move.damage;
  else if (move.basePower === 0) damage = target.hp * 0.25;
  else {
    const isPhysical = battle.getCategory(move) === "Physical";
    const attack = statOf(user, isPhysical ? "atk" : "spa");
    const defence = statOf(target, isPhysical ? "def" : "spd");
    damage = ((2 * user.level) / 5 + 2) * move.basePower * (attack / defence) / 50 + 2;
    if (user.types.includes(move.type)) damage *= 1.5;
    damage *= 2 ** dex.getEffectiveness(move.type, target) * 0.925;
    if (move.multihit) damage *= typeof move.multihit === "number" ? move.multihit : HITS;
  }
  let share = Math.min(1, damage / target.hp) * accuracy;
  // Half a turn each: the user prepares or recharges, and a charged move gives warning.
  if (move.flags.charge || (move.flags.recharge && damage < target.hp)) share *= 0.5;
  if (move.selfdestruct) share *= 0.4;
  return share;
}

/** @param {any} battle @param {any} user @param {any} target @returns {number} the largest damage of a move that is known here */
function threat(battle, user, target) {
  let most = 0;
  for (const slot of user.moveSlots) if (slot.pp > 0) most = Math.max(most, damageShare(battle, user, target, slot.id));
  return most;
}

/**
 * @param {any} battle
 * @param {number} seat
 * @param {{random: (n?: number) => number}} prng
 * @returns {string | null} a choice, or null if the side has nothing to choose
 */
export function cheapChoice(battle, seat, prng) {
  const choices = choicesOf(battle, seat);
  if (choices.length === 0) return null;
  if (choices.length === 1) return choices[0];
  const side = battle.sides[seat];
  const foe = battle.sides[1 - seat].active[0];
  const request = side.activeRequest;
  if (!foe || request.teamPreview) return choices[prng.random(choices.length)];
  const active = request.active?.[0];
  const explores = prng.random() < EXPLORES;
  let best = choices[0];
  let most = -Infinity;
  if (active) {
    const moves = choices.filter((choice) => choice.startsWith("move"));
    if (explores && moves.length > 0) return moves[prng.random(moves.length)];
    for (const choice of moves) {
      const share = damageShare(battle, side.active[0], foe, active.moves[Number(choice.slice(5)) - 1].id);
      if (share > most) [best, most] = [choice, share];
    }
    return best;
  }
  return bestSwitch(battle, seat, choices);
}

/**
 * @param {any} battle
 * @param {number} seat
 * @param {string[]} switches at least one
 * @returns {string} the switch to the Pokémon that deals the opposing one the most damage beyond what it takes
 */
export function bestSwitch(battle, seat, switches) {
  const side = battle.sides[seat];
  const foe = battle.sides[1 - seat].active[0];
  let best = switches[0];
  let most = -Infinity;
  for (const choice of switches) {
    const pokemon = side.pokemon[Number(choice.slice(7)) - 1];
    const share = foe?.hp > 0 ? threat(battle, pokemon, foe) - threat(battle, foe, pokemon) : pokemon.hp / pokemon.maxhp;
    if (share > most) [best, most] = [choice, share];
  }
  return best;
}

/**
 * Play up to the given turn, or to the end.
 * @param {Battle} battle
 * @param {number} turn
 * @param {{random: (n?: number) => number}} prng
 */
export function playOn(battle, turn, prng) {
  // A turn has a few requests at most; the bound is for a battle that does not go on.
  for (let step = 0; step < 20 && !battle.ended; step++) {
    const isOpen = battle.requestState === "move";
    if (isOpen && battle.turn >= turn) return;
    play(battle, [cheapChoice(battle, 0, prng), cheapChoice(battle, 1, prng)]);
  }
}
