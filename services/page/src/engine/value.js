/** A critic's value as a probability to win. */

/** @typedef {import("../../../showdown/src/encoder/layout.js").Space} Space */

/**
 * @param {number | null} value of the critic
 * @param {string} reward that it predicts
 * @param {Float32Array} observation
 * @param {Space} space
 * @returns {number | null} in [0, 1]; null where the reward does not say who wins
 */
export function winProbability(value, reward, observation, space) {
  if (value === null || (reward !== "win-loss" && reward !== "shaped")) return null;
  // Values under the shaped reward are those under win/loss minus its potential (nashdex.games.showdown.rewards).
  const winLoss = value + (reward === "shaped" ? potential(observation, space) : 0);
  return Math.min(1, Math.max(0, (1 + winLoss) / 2));
}

/** @param {Float32Array} observation @param {Space} space @returns {number} half the difference of the shares of HP left */
function potential(observation, space) {
  return (remaining(observation, space, "own") - remaining(observation, space, "opponent")) / 2;
}

/** @param {Float32Array} observation @param {Space} space @param {string} name @returns {number} */
function remaining(observation, space, name) {
  const block = /** @type {any} */ (space.blocks.find((each) => each.name === name));
  const at = (/** @type {string} */ field) => block.fields.find((/** @type {any} */ f) => f.name === field).offset;
  const [hp, present] = [at("hp"), at("present")];
  let [left, all] = [0, 0];
  for (let row = 0; row < block.rows; row++) {
    const start = block.offset + row * block.stride;
    left += observation[start + hp] * observation[start + present];
    all += observation[start + present];
  }
  return left / all;
}
