/** Protocol lines in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords } from "../src/ui/words.js";

test("players have their names, whatever characters those have", () => {
  const said = (/** @type {[string, string]} */ names) => inWords(["|win|Player 1", "|win|Player 2"], 0, names).map(({ text }) => text);
  assert.deepEqual(said(["A$$AP", "$&"]), ["A$$AP won the battle!", "$& won the battle!"]);
  assert.deepEqual(said(["Player 2", "Player 1"]), ["Player 2 won the battle!", "Player 1 won the battle!"]);
});
