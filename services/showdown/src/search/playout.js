/** A cheap policy for both sides after the joint choice that is searched: the move with the largest estimated damage. */
import { choicesOf, play } from "./choices.js";
import { damageShare, threat } from "./damage.js";

/** @typedef {import("../simulator/package.js").Battle} Battle */

/** Share of choices drawn uniformly, so status moves occur too. */
const EXPLORES = 0.15;

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
