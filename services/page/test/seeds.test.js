import assert from "node:assert/strict";
import { test } from "node:test";
import { draw, softmax } from "../src/engine/sampling.js";
import { battleSeeds, deriveSeed, hexSeed, uniform } from "../src/engine/seeds.js";

test("seeds and draws are those of nashdex.core.seeds", () => {
  const { seed, teamSeeds } = battleSeeds(7n, 0);
  assert.equal(hexSeed(seed), "ba971a798a15d442");
  assert.equal(hexSeed(teamSeeds[1]), "e6a040f3a70791fc");
  assert.equal(hexSeed(deriveSeed(seed, "seat", 1)), "4357cb498fab367b");
  assert.deepEqual([0, 1, 50].map((k) => uniform(seed, k)), [0.2499457386288424, 0.7329572043516476, 0.7355526748035168]);
});

test("a draw falls on an action in proportion to its probability, and never beyond the last", () => {
  const logits = [0, Math.log(3)];
  assert.equal(draw(logits, 0.24, 1), 0);
  assert.equal(draw(logits, 0.26, 1), 1);
  assert.equal(draw(logits, 1 - 2 ** -53, 1), 1);
  assert.equal(draw([5, 5, 1], 0.99, 0), 0);
  assert.deepEqual([...softmax(logits)].map((share) => share.toFixed(6)), ["0.250000", "0.750000"]);
});
