/** The choices that a request allows one side in singles, as the simulator's texts. */

/** @typedef {import("../simulator/package.js").Battle} Battle */

/**
 * @param {Battle} battle
 * @param {number} seat
 * @returns {string[]} empty if the side has nothing to choose
 */
export function choicesOf(battle, seat) {
  const side = battle.sides[seat];
  const request = /** @type {any} */ (side.activeRequest);
  if (!request || request.wait) return [];
  if (request.teamPreview) return side.pokemon.map((_, at) => `team ${at + 1}`);
  /** @type {string[]} */
  const choices = [];
  const active = request.active?.[0];
  if (active) active.moves.forEach((/** @type {any} */ move, /** @type {number} */ at) => move.disabled || choices.push(`move ${at + 1}`));
  if (!active?.trapped) {
    const revives = Boolean(side.pokemon[0]?.side.slotConditions[0]?.revivalblessing);
    for (let at = 1; at < side.pokemon.length; at++) {
      if (side.pokemon[at].fainted === revives && (revives || side.pokemon[at].hp > 0)) choices.push(`switch ${at + 1}`);
    }
  }
  return choices.length > 0 ? choices : ["default"];
}

/**
 * Play one choice of each side that has one.
 * @param {Battle} battle
 * @param {(string | null)[]} choices by seat
 */
export function play(battle, choices) {
  for (const seat of [0, 1]) {
    const choice = choices[seat];
    // The simulator may refuse what its request allowed; its own choice is then as good as any.
    if (choice !== null && !battle.sides[seat].isChoiceDone() && !battle.sides[seat].choose(choice)) battle.sides[seat].choose("default");
  }
  if (battle.allChoicesDone()) battle.commitChoices();
}
