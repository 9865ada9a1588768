import assert from "node:assert/strict";
import { test } from "node:test";
import { DexInfo } from "../../src/simulator/dex.js";
import { factsOf } from "../../src/simulator/facts.js";

const dexInfo = DexInfo.forFormat("gen9randombattle");
const facts = factsOf(dexInfo);

test("every number of a vocabulary has an entry, and number 0 no facts", () => {
  assert.deepEqual(
    Object.fromEntries(Object.entries(facts).map(([name, entries]) => [name, entries.length])),
    { species: dexInfo.species.size, move: dexInfo.moves.size, item: dexInfo.items.size, ability: dexInfo.abilities.size },
  );
  for (const entries of Object.values(facts)) {
    assert.deepEqual(entries[0], {});
    assert.ok(entries.every((entry) => Object.values(entry).every(Number.isFinite)));
  }
});

test("a move's facts are its properties and its words; what may happen counts by its chance", () => {
  const scald = facts.move[dexInfo.moves.of("scald")];
  assert.equal(scald["secondary.status brn"], 0.3);
  assert.equal(scald["type Water"], 1);
  assert.equal(scald.basePower, 0.8);
  assert.equal(scald["words to burn"], 1);
  assert.equal(facts.move[dexInfo.moves.of("swordsdance")]["boosts.atk"], 2);
});

test("abilities and items have what they act on", () => {
  assert.equal(facts.ability[dexInfo.abilities.of("intimidate")]["has onStart"], 1);
  assert.equal(facts.item[dexInfo.items.of("lifeorb")]["has onModifyDamage"], 1);
});

test("a species has the sets of its format's generator, and elsewhere its abilities", () => {
  const garchomp = facts.species[dexInfo.species.of("garchomp")];
  assert.equal(garchomp["move Earthquake"], 1);
  assert.equal(garchomp["type Dragon"], 1);
  const other = DexInfo.forFormat("gen4ou");
  const inTeams = factsOf(other).species[other.species.of("garchomp")];
  assert.equal(inTeams["ability Sand Veil"], 1);
  assert.equal(inTeams["move Earthquake"], undefined);
});
