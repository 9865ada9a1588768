/** A turn as a matrix game, where the equilibrium is known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { equilibrium, solved } from "../src/engine/matrix.js";

/** @param {number} found @param {number} expected @param {number} within */
const near = (found, expected, within) => assert.ok(Math.abs(found - expected) < within, `${found} is not ${expected}`);

test("known games have their equilibria", () => {
  const pennies = equilibrium([[1, 0], [0, 1]]);
  for (const share of pennies.mixtures.flat()) near(share, 0.5, 0.01);
  near(pennies.value, 0.5, 0.01);
  // Row one with 6 of 11, column one with 8 of 11: 0.5 p + 0.8 (1 − p) = p + 0.2 (1 − p).
  const skew = equilibrium([[0.5, 1], [0.8, 0.2]]);
  near(skew.mixtures[0][0], 6 / 11, 0.01);
  near(skew.mixtures[1][0], 8 / 11, 0.01);
  near(skew.value, 7 / 11, 0.005);
  const saddle = equilibrium([[0.6, 0.9], [0.2, 0.1]]);
  near(saddle.mixtures[0][0], 1, 0.01);
  near(saddle.value, 0.6, 0.005);
});

test("mixtures have the uncertainty of the dice, and none without dice", () => {
  const options = [[1, 2], [3, 4]].map((actions) => actions.map((action) => ({ action, parts: [], probability: 0.4 })));
  const played = new Map([[0, 2], [1, 3]]);
  const certain = solved(options, played, [[[1, 1, 1], [0, 0, 0]], [[0, 0, 0], [1, 1, 1]]]);
  assert.deepEqual(certain.choices[0].map(({ isPlayed }) => isPlayed), [false, true]);
  near(certain.left[0], 0.2, 1e-9);
  assert.equal(certain.wins[0][0].error, 0);
  assert.equal(certain.value.low, certain.value.high);
  const noisy = solved(options, played, [[[1, 0.4, 0.9], [0, 0.2, 0]], [[0, 0.5, 0.1], [1, 0.7, 1]]]);
  assert.ok(noisy.wins[0][0].error > 0);
  assert.ok(noisy.value.low < noisy.value.value && noisy.value.value < noisy.value.high);
  const [first] = noisy.choices[0];
  assert.ok(first.low <= first.share && first.share <= first.high && first.low < first.high);
});
