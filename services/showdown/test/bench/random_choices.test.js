/** Random pairs are legal as far as a player can know: the speed of the bare simulator is not that of refusing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Draws, randomPair } from "../../bench/random_choices.js";
import { battleOf, drawsOf } from "../support/doubles_battles.js";

for (const format of ["gen9vgc2025regi", "gen9championsvgc2026regma", "gen8vgc2022", "gen7doublesou", "gen3doublesou", "gen9randomdoublesbattle"]) {
  test(`random pairs of ${format} are legal`, () => {
    let decisions = 0;
    for (let seed = 1; seed <= 3; seed++) {
      const draws = new Draws(seed);
      const battle = battleOf(format, drawsOf(seed));
      for (let step = 0; step < 500 && !battle.ended; step++) {
        battle.sentLogPos = battle.log.length;
        battle.sentRequests = true;
        for (const side of battle.sides) {
          while (!battle.ended && side.activeRequest && !side.activeRequest.wait && !side.isChoiceDone()) {
            const choice = randomPair(side.activeRequest, draws);
            decisions++;
            const ok = side.choose(choice) && side.isChoiceDone();
            if (!ok) assert.match(side.choice.error, /is trapped|is disabled/, `${choice} of ${JSON.stringify(side.activeRequest)}`);
          }
        }
        battle.commitChoices();
      }
      assert.ok(battle.ended, "the battle ends");
    }
    assert.ok(decisions > 50);
  });
}
