/** What a network expects of the opponent, in words: as `nashdex decide` answers it. */

/** @typedef {{name: string, kind: "move" | "switch" | "unseen", probability: number}} Expected */

/**
 * @param {import("./describe.js").Seen} match
 * @param {import("./policies.js").Decision & {seat: number}} decision
 * @param {Float64Array | null} prediction probabilities of moves, then of species; null without a head
 * @returns {Expected[] | null} what the opponent has shown, the most probable first, and then everything else together; null where
 *   it makes no choice at the same time
 */
export function expected(match, { seat, observation }, prediction) {
  const { tracker } = match.battle.seats[seat];
  if (!prediction || tracker.request?.forceSwitch) return null;
  const { space, dexInfo } = match.table.encoder;
  const species = column(space, observation, "opponent", "species");
  const moves = column(space, observation, "opponent_moves", "move");
  const movesEach = moves.length / species.length;
  const { pokemon, slots } = tracker.opponent;
  /** @type {Map<number, Expected>} one for each of the prediction's numbers */
  const shown = new Map();
  for (const [row, { name, fainted }] of pokemon.slice(0, species.length).entries()) {
    if (slots.some((slot) => slot.row === row)) {
      for (const move of moves.slice(row * movesEach, (row + 1) * movesEach).filter(Boolean)) {
        shown.set(move, { kind: "move", name: dexInfo.dex.moves.get(dexInfo.moves.ids[move]).name, probability: prediction[move] });
      }
    } else if (!fainted && species[row]) {
      const number = space.vocabularies.move + species[row];
      shown.set(number, { kind: "switch", name, probability: prediction[number] });
    }
  }
  const found = [...shown.values()].sort((a, b) => b.probability - a.probability);
  const rest = 1 - found.reduce((sum, { probability }) => sum + probability, 0);
  return [...found, { kind: "unseen", name: "", probability: Math.max(0, rest) }];
}

/** @param {import("./policies.js").Space} space @param {Float32Array} observation @param {string} block @param {string} name @returns {number[]} a field by row */
export function column(space, observation, block, name) {
  const found = /** @type {any} */ (space.blocks.find((each) => each.name === block));
  const { offset } = found.fields.find((/** @type {any} */ field) => field.name === name);
  return Array.from({ length: found.rows }, (_, row) => observation[found.offset + row * found.stride + offset]);
}
