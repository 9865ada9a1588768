/** The table of what each generation introduced is the simulator's. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { firstGenerations } from "../../scripts/first_generations.js";

const TABLE = new URL("../../../nashdex_replays/first_generations.json", import.meta.url);

test("the table of first generations is what the script prints", () => {
  assert.equal(readFileSync(TABLE, "utf8"), firstGenerations());
});
