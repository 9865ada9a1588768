import assert from "node:assert/strict";
import { test } from "node:test";
import { solveWorlds } from "../../src/search/solve.js";

/** @param {number[]} found @param {number[]} expected @param {number} tolerance */
function near(found, expected, tolerance) {
  found.forEach((value, at) => assert.ok(Math.abs(value - expected[at]) < tolerance, `${found} is not near ${expected}`));
}

test("one world is a matrix game: rock, paper, scissors", () => {
  const { mixture, values } = solveWorlds([[[0, -1, 1], [1, 0, -1], [-1, 1, 0]]]);
  near(mixture, [1 / 3, 1 / 3, 1 / 3], 0.03);
  near(values, [0, 0, 0], 0.03);
});

test("a dominated choice is not played", () => {
  near(solveWorlds([[[1, 2], [0, 1]]]).mixture, [1, 0], 0.02);
});

test("the opponent answers in each world, the player without knowing which it is", () => {
  // In each world the opponent punishes one choice; the third is safe in both.
  const { mixture, values } = solveWorlds([
    [[-1], [1], [0.2]],
    [[1], [-1], [0.2]],
  ]);
  near(mixture, [0, 0, 1], 0.05);
  near(values, [0, 0, 0.2], 0.01);
});

test("worlds may offer the opponent different numbers of choices", () => {
  const { mixture } = solveWorlds([[[0, 1], [1, 0]], [[0.5], [0.5]]]);
  near(mixture, [0.5, 0.5], 0.05);
});
