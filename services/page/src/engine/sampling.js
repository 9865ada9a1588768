/** Distributions over legal actions, as Python draws from them (`nashdex.policies.sampling`). */

/** @param {ArrayLike<number>} logits @param {number} temperature above 0 @returns {Float64Array} probabilities */
export function softmax(logits, temperature = 1) {
  let largest = -Infinity;
  for (let i = 0; i < logits.length; i++) largest = Math.max(largest, logits[i]);
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - largest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** @param {ArrayLike<number>} logits @param {number} temperature 0: greedy @returns {Float64Array} the probabilities with which `draw` chooses */
export function distribution(logits, temperature) {
  if (temperature !== 0) return softmax(logits, temperature);
  const best = draw(logits, 0, 0);
  return Float64Array.from(logits, (_, i) => Number(i === best));
}

/**
 * @param {ArrayLike<number>} logits of the legal actions, in ascending order of the actions
 * @param {number} uniform in [0, 1)
 * @param {number} temperature 0 takes the largest logit, the first of equals
 * @returns {number} place of the drawn action
 */
export function draw(logits, uniform, temperature) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  if (temperature === 0) return best;
  const cumulative = new Float64Array(logits.length);
  let total = 0;
  for (let i = 0; i < logits.length; i++) cumulative[i] = total += Math.exp((logits[i] - logits[best]) / temperature);
  const threshold = uniform * total;
  const found = cumulative.findIndex((sum) => sum > threshold);
  // A draw just below 1 may round up to the total itself: then it falls on the last action with any weight.
  return found >= 0 ? found : cumulative.findIndex((sum) => sum === total);
}
