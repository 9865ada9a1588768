/** Estimated damage: power, types, stats and accuracy, without the effects of items, abilities and weather. */

/** Hits of a move that hits two to five times, on average. */
const HITS = 3;

/** @param {any} pokemon @param {"atk" | "def" | "spa" | "spd" | "spe"} stat @returns {number} with boosts */
export function statOf(pokemon, stat) {
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
export function threat(battle, user, target) {
  let most = 0;
  for (const slot of user.moveSlots) if (slot.pp > 0) most = Math.max(most, damageShare(battle, user, target, slot.id));
  return most;
}
