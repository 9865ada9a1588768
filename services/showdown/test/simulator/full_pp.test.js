/** A move's full PP are the simulator's, in every generation and under the rules of Champions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DexInfo } from "../../src/simulator/dex.js";
import { Battle } from "../../src/simulator/package.js";

for (const format of ["gen1ou", "gen2ou", "gen3ou", "gen6ou", "gen9ou", "gen9championsvgc2026regmb"]) {
  test(`full PP of ${format} are the simulator's`, () => {
    const dexInfo = new DexInfo(format);
    const battle = new Battle({ formatid: /** @type {any} */ (format) });
    const ids = dexInfo.moves.ids.slice(1).filter((id) => id !== "trumpcard" && id !== "struggle");
    const expected = ids.map((id) => [id, battle.calculatePP(dexInfo.dex.moves.get(id), 3)]);
    assert.deepEqual(ids.map((id) => [id, dexInfo.movePp[dexInfo.moves.of(id)]]), expected);
  });
}
