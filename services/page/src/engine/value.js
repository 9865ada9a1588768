/** A critic's value as a probability to win. */

/** @typedef {import("../../../showdown/src/encoder/layout.js").Space} Space */

/** @typedef {{against: string | null, slope: number, intercept: number}} Chances a map to calibrated chances; `against` null: the policy itself */

/** Critics also say 0 and 1, whose log odds are infinite. */
const LEAST_CHANCE = 0.001;

/** @param {number} win @param {Chances | undefined} map @returns {number} as `nashdex_play.calibration` maps it */
export function calibrated(win, map) {
  if (!map) return win;
  const inside = Math.min(1 - LEAST_CHANCE, Math.max(LEAST_CHANCE, win));
  return 1 / (1 + Math.exp(-(map.slope * Math.log(inside / (1 - inside)) + map.intercept)));
}

/**
 * The critic's judgement of a battle's seats. Against an opponent with a map of its own, that map counts; otherwise the number is
 * that against an equal opponent.
 *
 * @param {import("./player.js").Policy} policy
 * @param {Space} space
 * @param {readonly string[]} [players] names by seat
 * @returns {(seat: number, value: number | null, observation: Float32Array) => number | null} seat 0's probability to win, as `seat` sees it
 */
export function chancesOf(policy, space, players = []) {
  const maps = policy.chances ?? [];
  const own = players.indexOf(policy.name ?? "");
  const other = own < 0 ? undefined : maps.find(({ against }) => against !== null && against === players[1 - own]);
  const itself = maps.find(({ against }) => against === null);
  return (seat, value, observation) => {
    const sees = other ? own : seat;
    const win = winProbability(value, policy.reward, observation, space);
    if (win === null) return null;
    // A map is of the policy's chances, from either seat.
    const ours = calibrated(seat === sees ? win : 1 - win, other ?? itself);
    return sees === 0 ? ours : 1 - ours;
  };
}

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
