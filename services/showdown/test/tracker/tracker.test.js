/** The tracker against the simulator's own state, and against lines that are rare in random battles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DexInfo } from "../../src/simulator/dex.js";
import { Tracker } from "../../src/tracker/tracker.js";
import { parseLine } from "../../src/tracker/lines/lines.js";
import { play } from "../support/tracker_battles.js";

const BATTLES = 12;
const BOOSTS = ["atk", "def", "spa", "spd", "spe", "accuracy", "evasion"];
/** Volatiles that the protocol announces as they are, by the simulator's names. */
const VOLATILES = {
  substitute: "substitute", confusion: "confusion", leechseed: "leechseed", focusenergy: "focusenergy",
  disable: "disable", bide: "bide", recharge: "mustrecharge", reflect: "reflect", lightscreen: "lightscreen",
  attract: "attract", curse: "curse", encore: "encore", perish: "perishsong", destinybond: "destinybond",
  trapped: "trapped", flashfire: "flashfire", taunt: "taunt", torment: "torment", yawn: "yawn", aquaring: "aquaring",
  healblock: "healblock", magnetrise: "magnetrise", throatchop: "throatchop", saltcure: "saltcure",
  syrupbomb: "syrupbomb", glaiverush: "glaiverush", noretreat: "noretreat", tarshot: "tarshot", charge: "charge",
};

/**
 * What is tracked of the Pokémon in a slot, and what is true, in the same terms.
 * @param {any} row of the tracker's state
 * @param {any} pokemon the simulator's
 * @param {import("../../src/tracker/tracker.js").Tracker} tracker
 * @param {boolean} own
 */
function bothViews(row, pokemon, tracker, own) {
  const { generation } = tracker.dexInfo;
  const known = tracker.volatiles.all.map(({ id }) => id).filter((id) => id in VOLATILES);
  const tracked = {
    fainted: row.fainted, boosts: row.boosts, types: row.types, status: row.status, terastallized: row.terastallized,
    volatiles: known.filter((id) => row.volatiles[id]),
    item: generation > 1 && row.item !== null ? row.item : null,
    ability: generation > 2 && row.ability ? row.ability : null,
    hp: own ? [row.hp, row.max_hp] : null,
    moves: own ? row.moves.map((/** @type {any} */ move) => [move.id, move.pp]) : null,
  };
  const truth = {
    fainted: pokemon.fainted,
    boosts: Object.fromEntries(BOOSTS.map((stat) => [stat, pokemon.boosts[stat]])),
    types: pokemon.getTypes().map((/** @type {string} */ type) => type.toLowerCase()).filter((/** @type {string} */ type) => type !== "???"),
    status: pokemon.status,
    terastallized: Boolean(pokemon.terastallized),
    volatiles: known.filter((id) => pokemon.volatiles[/** @type {Record<string, string>} */ (VOLATILES)[id]]),
    item: tracked.item === null ? null : pokemon.item,
    ability: tracked.ability === null ? null : pokemon.ability,
    hp: own ? [pokemon.hp, pokemon.maxhp] : null,
    moves: own ? pokemon.moveSlots.map((/** @type {any} */ slot) => [slot.id, slot.pp]) : null,
  };
  return { tracked, truth };
}

for (const format of ["gen1randombattle", "gen1ou", "gen9randombattle"]) {
  test(`the tracked state in ${format} is the simulator's`, () => {
    let compared = 0;
    for (let seed = 1; seed <= BATTLES; seed++) {
      play(format, seed, ({ battle, trackers, lines }) => {
        for (const [seat, tracker] of trackers.entries()) {
          const state = /** @type {any} */ (tracker.state());
          assert.equal(state.turn, battle.turn);
          assert.equal(state.weather?.id ?? "", battle.field.weather);
          assert.equal(state.terrain?.id ?? "", battle.field.terrain);
          for (const own of [true, false]) {
            const side = battle.sides[own ? seat : 1 - seat];
            const tracked = own ? state.own : state.opponent;
            const layers = Object.entries(tracked.conditions).map(([id, { layers: count }]) => [id, count]);
            const present = Object.entries(side.sideConditions).map(([id, { layers: count }]) => [id, count ?? 1]);
            assert.deepEqual(Object.fromEntries(layers), Object.fromEntries(present));
            const pokemon = side.active[0];
            if (!own && pokemon.illusion) continue;
            const row = tracked.pokemon[tracked.active];
            assert.equal(row.name, pokemon.name);
            if (pokemon.fainted) {
              assert.equal(row.fainted, true);
              continue;
            }
            const views = bothViews(row, pokemon, tracker, own);
            const where = `${format}, seed ${seed}, seat ${seat}, turn ${battle.turn}\n${lines[seat].slice(-25).join("\n")}`;
            assert.deepEqual(views.tracked, views.truth, where);
            compared++;
          }
        }
      });
    }
    assert.ok(compared > 1000, `only ${compared} views were compared`);
  });
}

/**
 * @param {string} format
 * @param {string[]} lines
 * @returns {any} what player 1 knows after them
 */
function after(format, lines) {
  const tracker = new Tracker(DexInfo.forFormat(format), 0);
  for (const line of ["|teamsize|p1|6", "|teamsize|p2|6", ...lines]) tracker.readLine(line);
  return tracker.state();
}

const ENTRY = ["|switch|p1a: Mew|Mew|400/400", "|switch|p2a: Vaporeon|Vaporeon, L80, F|100/100", "|turn|1"];

/** @param {any} state @returns {any} */
const foe = (state) => state.opponent.pokemon[state.opponent.active];

/** @param {any[]} moves of a tracked Pokémon @returns {number[]} PP that each has spent */
const spentByMove = (moves) => moves.map(({ pp, max_pp: most }) => most - pp);

/** @param {any[]} moves of a tracked Pokémon @returns {[string, number][]} each one's id, and PP that it has spent */
const spentById = (moves) => moves.map(({ id, pp, max_pp: most }) => [id, most - pp]);

test("Baton Pass passes on boosts and volatiles, except those that cannot be passed", () => {
  const state = after("gen4ou", [
    ...ENTRY,
    "|-boost|p2a: Vaporeon|spa|2",
    "|-start|p2a: Vaporeon|Substitute",
    "|-start|p2a: Vaporeon|move: Yawn|[of] p1a: Mew",
    "|-start|p2a: Vaporeon|Attract",
    "|move|p2a: Vaporeon|Baton Pass|p2a: Vaporeon",
    "|switch|p2a: Jolteon|Jolteon, M|100/100|[from] Baton Pass",
  ]);
  assert.equal(foe(state).name, "Jolteon");
  assert.equal(foe(state).boosts.spa, 2);
  assert.deepEqual(Object.keys(foe(state).volatiles), ["substitute"]);
  const [vaporeon] = state.opponent.pokemon;
  assert.deepEqual([vaporeon.boosts.spa, vaporeon.volatiles], [0, {}]);
});

test("Baton Pass of an older log, which does not name it again, passes on boosts", () => {
  const passed = (/** @type {string[]} */ lines) => foe(after("gen4ou", [...ENTRY, "|-boost|p2a: Vaporeon|spa|2", ...lines])).boosts.spa;
  const pass = "|move|p2a: Vaporeon|Baton Pass|p2a: Vaporeon";
  const next = "|switch|p2a: Jolteon|Jolteon, M|100/100";
  assert.equal(passed([pass, "|", next]), 2);
  assert.equal(passed([pass, "|-fail|p2a: Vaporeon", "|turn|2", next]), 0, "it was chosen in the next turn");
  assert.equal(passed([pass, "|drag|p2a: Jolteon|Jolteon, M|100/100"]), 0);
  assert.equal(passed([pass, "|move|p1a: Mew|Surf|p2a: Vaporeon", "|faint|p2a: Vaporeon", next]), 0);
});

test("after a disguise, its wearer has what was seen, and the imitated Pokémon its earlier state", () => {
  const state = after("gen9randombattle", [
    "|switch|p1a: Mew|Mew|400/400",
    "|switch|p2a: Gengar|Gengar, L80, F|100/100",
    "|turn|1",
    "|-damage|p2a: Gengar|40/100 par",
    "|move|p2a: Gengar|Shadow Ball|p1a: Mew",
    "|switch|p2a: Snorlax|Snorlax, L82, M|100/100",
    "|turn|2",
    "|switch|p2a: Gengar|Gengar, L80, F|100/100",
    "|-unboost|p2a: Gengar|atk|1",
    "|move|p2a: Gengar|Shadow Ball|p1a: Mew",
    "|move|p2a: Gengar|Night Daze|p1a: Mew",
    "|-damage|p2a: Gengar|70/100",
    "|replace|p2a: Zoroark|Zoroark, L83, M",
    "|-end|p2a: Zoroark|Illusion",
  ]);
  const byName = Object.fromEntries(state.opponent.pokemon.map((/** @type {any} */ entry) => [entry.name, entry]));
  assert.deepEqual([foe(state).name, foe(state).level, foe(state).hp, foe(state).boosts.atk], ["Zoroark", 83, 70, -1]);
  assert.deepEqual(foe(state).moves.map((/** @type {any} */ { id, pp }) => [id, pp]), [["shadowball", 23], ["nightdaze", 15]]);
  assert.deepEqual([byName.Gengar.hp, byName.Gengar.status, byName.Gengar.active], [40, "par", false]);
  assert.deepEqual(byName.Gengar.moves.map((/** @type {any} */ { id, pp }) => [id, pp]), [["shadowball", 23]]);
});

test("Pressure takes one more PP from moves aimed at it, and none from others", () => {
  const state = after("gen4ou", [
    "|switch|p1a: Suicune|Suicune|400/400",
    "|-ability|p1a: Suicune|Pressure",
    "|switch|p2a: Vaporeon|Vaporeon, F|100/100",
    "|turn|1",
    "|move|p2a: Vaporeon|Surf|p1a: Suicune",
    "|move|p2a: Vaporeon|Wish|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Haze|p2a: Vaporeon",
  ]);
  assert.deepEqual(foe(state).moves.map((/** @type {any} */ { id, pp }) => [id, pp]), [["surf", 22], ["wish", 15], ["haze", 46]]);
});

test("a Pressure that Gastro Acid suppresses costs no PP", () => {
  const state = after("gen6ou", [
    "|switch|p1a: Suicune|Suicune|400/400",
    "|-ability|p1a: Suicune|Pressure",
    "|switch|p2a: Mienfoo|Mienfoo, F|100/100",
    "|turn|1",
    "|move|p2a: Mienfoo|Gastro Acid|p1a: Suicune",
    "|-endability|p1a: Suicune",
    "|move|p2a: Mienfoo|Surf|p1a: Suicune",
  ]);
  assert.deepEqual(foe(state).moves.map((/** @type {any} */ { id, pp }) => [id, pp]), [["gastroacid", 14], ["surf", 23]]);
});

test("a Round or pledge that another brings forward is the user's own and costs PP", () => {
  const own = foe(after("gen5ou", [
    ...ENTRY,
    "|move|p1a: Mew|Round|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Round|p1a: Mew|[from] move: Round",
    "|move|p2a: Vaporeon|Fire Pledge|p1a: Mew|[from] move: Water Pledge",
  ])).moves;
  assert.deepEqual(spentById(own), [["round", 1], ["firepledge", 1]]);
});

test("Mean Look traps until its user leaves or faints, also if nobody takes its place", () => {
  const trapped = [...ENTRY, "|move|p1a: Mew|Mean Look|p2a: Vaporeon", "|-activate|p2a: Vaporeon|trapped"];
  assert.equal(foe(after("gen4ou", trapped)).volatiles.trapped, 1);
  assert.equal(foe(after("gen4ou", [...trapped, "|faint|p1a: Mew"])).volatiles.trapped, undefined);
  assert.equal(foe(after("gen4ou", [...trapped, "|switch|p1a: Jynx|Jynx, F|300/300"])).volatiles.trapped, undefined);
});

test("in the second generation, a Lock-On that lasts is not prolonged by another", () => {
  const aim = "|-activate|p2a: Vaporeon|move: Mind Reader|[of] p1a: Mew";
  assert.equal(foe(after("gen2ou", [...ENTRY, aim, "|upkeep", "|turn|2"])).volatiles.lockon, 2);
  assert.equal(foe(after("gen2ou", [...ENTRY, aim, "|upkeep", "|turn|2", aim, "|upkeep", "|turn|3"])).volatiles.lockon, undefined);
});

test("Psych Up copies what makes critical hits likelier, or loses it, from the sixth generation on", () => {
  const copied = ["|-start|p2a: Vaporeon|move: Focus Energy", "|-boost|p1a: Mew|atk|2", "|-copyboost|p2a: Vaporeon|p1a: Mew|[from] move: Psych Up"];
  const [later, earlier] = ["gen6ou", "gen5ou"].map((format) => foe(after(format, [...ENTRY, ...copied])));
  assert.deepEqual([later.boosts.atk, earlier.boosts.atk], [2, 2]);
  assert.deepEqual([later.volatiles.focusenergy, earlier.volatiles.focusenergy], [undefined, 1]);
});

test("called moves are not the user's own and cost no PP themselves", () => {
  const state = after("gen9randombattle", [
    ...ENTRY,
    "|move|p2a: Vaporeon|Sleep Talk|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Scald|p1a: Mew|[from] move: Sleep Talk",
    "|move|p2a: Vaporeon|Metronome|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Fire Blast|p1a: Mew|[from] move: Metronome",
    "|move|p2a: Vaporeon|Toxic|p1a: Mew|[from] ability: Magic Bounce",
  ]);
  const own = spentById(foe(state).moves);
  assert.deepEqual(own, [["sleeptalk", 1], ["scald", 0], ["metronome", 1]]);
});

test("older logs have no space between a move's tag and its cause", () => {
  const own = foe(after("gen5ou", [
    ...ENTRY,
    "|move|p2a: Vaporeon|Outrage|p1a: Mew",
    "|move|p2a: Vaporeon|Outrage|p1a: Mew|[from]lockedmove",
    "|move|p2a: Vaporeon|Metronome|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Fire Blast|p1a: Mew|[from]Metronome",
    "|move|p2a: Vaporeon|Toxic|p1a: Mew|[from]ability: Magic Bounce",
  ])).moves;
  assert.deepEqual(spentById(own), [["outrage", 1], ["metronome", 1]]);
});

test("items and abilities are read from causes, swaps and losses", () => {
  const state = after("gen9randombattle", [
    ...ENTRY,
    "|-damage|p1a: Mew|350/400|[from] item: Rocky Helmet|[of] p2a: Vaporeon",
    "|-heal|p2a: Vaporeon|90/100|[from] ability: Water Absorb|[of] p1a: Mew",
    "|-enditem|p2a: Vaporeon|Rocky Helmet|[from] move: Knock Off|[of] p1a: Mew",
  ]);
  assert.deepEqual([foe(state).item, foe(state).lost_item, foe(state).ability], ["", "rockyhelmet", "waterabsorb"]);
  const swapped = after("gen9randombattle", [
    ...ENTRY,
    "|-activate|p1a: Mew|move: Trick|[of] p2a: Vaporeon",
    "|-item|p2a: Vaporeon|Choice Scarf|[from] move: Trick",
    "|-item|p1a: Mew|Leftovers|[from] move: Trick",
  ]);
  assert.equal(foe(swapped).item, "choicescarf");
  const used = after("gen9randombattle", [
    ...ENTRY,
    "|-activate|p2a: Vaporeon|move: Trick|[of] p1a: Mew",
    "|-item|p1a: Mew|Choice Specs|[from] move: Trick",
    "|-enditem|p2a: Vaporeon|White Herb",
    "|-item|p2a: Vaporeon|White Herb|[from] move: Trick",
  ]);
  assert.equal(foe(used).item, "", "a herb that was used on arrival");
});

test("in generations 4 and 5, the item that Frisk sees is the only opponent's", () => {
  const entry = ["|switch|p1a: Furret|Furret, M|300/300", "|switch|p2a: Vaporeon|Vaporeon, M|100/100"];
  const frisk = "|-item||Silk Scarf|[from] ability: Frisk|[of] p1a: Furret";
  const alone = after("gen5ou", [...entry, frisk]);
  assert.deepEqual([alone.own.pokemon[0].ability, foe(alone).item], ["frisk", "silkscarf"]);
  const [seen, partner] = after("gen5doublesou", [...entry, "|switch|p2b: Abra|Abra, M|100/100", frisk]).opponent.pokemon;
  assert.deepEqual([seen.item, partner.item], [null, null], "either may hold it");
});

test("what Trace copies is the opponent's ability", () => {
  const lines = [...ENTRY, "|-ability|p1a: Mew|Water Absorb|Trace|[from] ability: Trace|[of] p2a: Vaporeon"];
  assert.equal(foe(after("gen9randombattle", lines)).ability, "waterabsorb");
});

test("a Pokémon whose Mega Evolution ends has the ability again that it had before, if that was known", () => {
  const entry = ["|switch|p1a: Mew|Mew|400/400", "|switch|p2a: Mewtwo|Mewtwo, L69|100/100", "|turn|1"];
  const mega = ["|detailschange|p2a: Mewtwo|Mewtwo-Mega-Y, L69", "|-mega|p2a: Mewtwo|Mewtwo|Mewtwonite Y"];
  const ends = ["|-damage|p2a: Mewtwo|0 fnt", "|faint|p2a: Mewtwo", "|detailschange|p2: Mewtwo|Mewtwo, L69|[silent]"];
  const ability = (/** @type {string[]} */ lines) => /** @type {any} */ (after("gen7randombattle", lines)).opponent.pokemon[0].ability;
  assert.equal(ability([...entry, ...mega]), "insomnia");
  assert.equal(ability([...entry, ...mega, ...ends]), "");
  assert.equal(ability([...entry, "|-ability|p2a: Mewtwo|Unnerve", ...mega, ...ends]), "unnerve");
});

test("the second generation does not mark later turns of a move, which cost no PP", () => {
  const spent = (/** @type {string[]} */ lines) =>
    spentById(foe(after("gen2ou", [...ENTRY, ...lines])).moves);
  const beam = ["|move|p2a: Vaporeon|Solar Beam||[still]", "|-prepare|p2a: Vaporeon|Solar Beam", "|turn|2", "|move|p2a: Vaporeon|Solar Beam|p1a: Mew"];
  assert.deepEqual(spent(beam), [["solarbeam", 1]]);
  assert.deepEqual(spent([...beam, "|turn|3", ...beam]), [["solarbeam", 2]]);
  const thrash = "|move|p2a: Vaporeon|Outrage|p1a: Mew";
  assert.deepEqual(spent([thrash, "|turn|2", thrash]), [["outrage", 1]]);
  const roll = "|move|p2a: Vaporeon|Rollout|p1a: Mew";
  assert.deepEqual(spent([roll, roll, roll, roll, roll]), [["rollout", 1]]);
  assert.deepEqual(spent([roll, roll, roll, roll, roll, roll]), [["rollout", 2]], "it ends after five turns");
  assert.deepEqual(spent([roll, `${roll}|[miss]`, roll]), [["rollout", 2]], "a miss ends it");
  assert.deepEqual(spent([thrash, "|turn|2", thrash, "|-start|p2a: Vaporeon|confusion|[silent]", "|turn|3", thrash]), [["outrage", 2]]);
  assert.deepEqual(spent([thrash, "|-immune|p1a: Mew", "|turn|2", thrash]), [["outrage", 1]], "it goes on without an effect");
  assert.deepEqual(spent([`${thrash}|[miss]`, "|-miss|p2a: Vaporeon", "|turn|2", thrash]), [["outrage", 1]], "and after a miss");
  for (const begun of [thrash, roll]) {
    const called = ["|move|p2a: Vaporeon|Metronome|p2a: Vaporeon", `${begun}|[from] Metronome`];
    assert.deepEqual(spent([...called, "|turn|2", begun]), [["metronome", 1]], "another move called it");
  }
});

test("a Choice item stops a move of two turns that another move called, at no cost", () => {
  const own = foe(after("gen9ou", [
    ...ENTRY, "|move|p2a: Vaporeon|Metronome|p2a: Vaporeon", "|move|p2a: Vaporeon|Dig||[from] move: Metronome|[still]", "|-prepare|p2a: Vaporeon|Dig",
    "|turn|2", "|move|p2a: Vaporeon|Dig||[still]", "|-fail|p2a: Vaporeon",
  ])).moves;
  assert.deepEqual(spentById(own), [["metronome", 1]]);
});

test("a rampage ends after three turns, by sleep, and if its user may choose again, though nothing shows that it is confused", () => {
  const rampage = "|move|p1a: Mew|Outrage|p2a: Vaporeon";
  const goesOn = `${rampage}|[from] lockedmove`;
  const turns = (/** @type {string[]} */ ...lines) => [...ENTRY, ...lines.flatMap((line, turn) => [line, `|turn|${turn + 2}`])];
  const thrashing = (/** @type {string[]} */ lines) => after("gen9ou", lines).own.pokemon[0].volatiles.thrashing;
  assert.equal(thrashing(turns(rampage, goesOn)), 2);
  assert.equal(thrashing(turns(rampage, goesOn, goesOn)), undefined);
  assert.equal(thrashing(turns(rampage, goesOn, rampage)), 1, "it begins anew after two turns");
  assert.equal(thrashing([...ENTRY, rampage, "|-status|p1a: Mew|slp|[from] move: Sing", "|turn|2"]), undefined, "sleep ends it");
  const tracker = new Tracker(DexInfo.forFormat("gen9ou"), 0);
  for (const line of turns(rampage, goesOn)) tracker.readLine(line);
  const moves = [{ id: "outrage", move: "Outrage", pp: 15, maxpp: 16 }];
  const mew = { ident: "p1: Mew", details: "Mew", condition: "400/400", active: true, stats: {}, moves: ["outrage"] };
  tracker.readRequest(/** @type {any} */ ({ active: [{ moves }], side: { pokemon: [mew] } }));
  assert.equal(/** @type {any} */ (tracker.state()).own.pokemon[0].volatiles.thrashing, undefined);
});

test("a silent confusion ends a rampage of the first two generations", () => {
  const rampage = "|move|p2a: Vaporeon|Thrash|p1a: Mew";
  const thrashing = (/** @type {string} */ format, /** @type {string[]} */ lines) => "thrashing" in foe(after(format, [...ENTRY, ...lines])).volatiles;
  for (const format of ["gen1ou", "gen2ou"]) {
    assert.equal(thrashing(format, [rampage]), true);
    assert.equal(thrashing(format, [rampage, "|-start|p2a: Vaporeon|confusion|[silent]"]), false);
  }
});

test("in the first generation, Rage lasts from its first hit", () => {
  const rages = (/** @type {string[]} */ lines) => "rage" in foe(after("gen1ou", [...ENTRY, ...lines])).volatiles;
  const rage = "|move|p2a: Vaporeon|Rage|p1a: Mew";
  assert.deepEqual([rages([rage]), rages([`${rage}|[miss]`]), rages([rage, `${rage}|[from] Rage|[miss]`])], [true, false, true]);
  const immune = "|-immune|p1a: Mew";
  assert.deepEqual([rages([rage, immune]), rages([rage, `${rage}|[from] Rage`, immune])], [false, true]);
});

test("a Regenerator that Gastro Acid suppresses heals nothing", () => {
  const hp = (/** @type {string[]} */ lines) => after("gen5ou", [
    "|switch|p2a: Tornadus|Tornadus-Therian, M|40/100", ...lines, "|switch|p2a: Jolteon|Jolteon, M|100/100",
  ]).opponent.pokemon[0].hp;
  assert.deepEqual([hp([]), hp(["|-endability|p2a: Tornadus"])], [73, 40]);
});

test("in the first generation, paralysis and a hit in confusion end Bide", () => {
  const bides = (/** @type {string} */ line) => "bide" in foe(after("gen1ou", [...ENTRY, "|-start|p2a: Vaporeon|Bide", line])).volatiles;
  const hit = "|-damage|p2a: Vaporeon|90/100|[from] confusion";
  assert.deepEqual([bides("|cant|p2a: Vaporeon|slp"), bides("|cant|p2a: Vaporeon|par"), bides(hit)], [true, false, false]);
});

test("in the first generation, a called Wrap costs PP of the move that called it with each new target", () => {
  const moves = foe(after("gen1ou", [
    ...ENTRY, "|move|p2a: Vaporeon|Mirror Move|p2a: Vaporeon", "|move|p2a: Vaporeon|Wrap|p1a: Mew|[from] Mirror Move", "|turn|2",
    "|switch|p1a: Jynx|Jynx|300/300", "|-hint|Desync Clause Mod activated!", "|move|p2a: Vaporeon|Wrap|p1a: Jynx", "|turn|3",
  ])).moves;
  assert.deepEqual(spentById(moves), [["mirrormove", 2]]);
});

test("from the second generation on, a Rage that misses ends the one before", () => {
  const rages = (/** @type {string[]} */ lines) => "rage" in foe(after("gen2ou", [...ENTRY, ...lines])).volatiles;
  const rage = ["|move|p2a: Vaporeon|Rage|p1a: Mew", "|-singlemove|p2a: Vaporeon|Rage", "|turn|2"];
  assert.deepEqual([rages(rage), rages([...rage, ...rage]), rages([...rage, `${rage[0]}|[miss]`])], [true, true, false]);
});

test("a recharge, a two-turn move and a rampage end in a turn without a line about their user", () => {
  const left = (/** @type {string} */ format, /** @type {string[]} */ lines) => Object.keys(foe(after(format, [...ENTRY, ...lines])).volatiles).sort();
  const carried = ["|turn|2", "|move|p1a: Mew|Sky Drop||[still]", "|-prepare|p1a: Mew|Sky Drop|p2a: Vaporeon"];
  const beam = ["|move|p2a: Vaporeon|Hyper Beam|p1a: Mew", "|-mustrecharge|p2a: Vaporeon"];
  const dive = ["|move|p2a: Vaporeon|Dive||[still]", "|-prepare|p2a: Vaporeon|Dive"];
  const rampage = ["|move|p2a: Vaporeon|Outrage|p1a: Mew"];
  const bond = ["|move|p2a: Vaporeon|Destiny Bond|p2a: Vaporeon", "|-singlemove|p2a: Vaporeon|Destiny Bond"];
  for (const lines of [beam, dive, rampage, bond]) {
    assert.notDeepEqual(left("gen5ou", [...lines, ...carried]), []);
    assert.deepEqual(left("gen5ou", [...lines, ...carried, "|turn|3"]), []);
  }
  // There, a rampage goes on after a turn that ended as another Pokémon fainted.
  assert.deepEqual(left("gen2ou", [...rampage, "|turn|2", "|faint|p1a: Mew", "|switch|p1a: Jynx|Jynx, F|300/300", "|turn|3"]), ["thrashing"]);
});

test("a move that Magic Bounce returns ends nothing of its user's; one of Dancer, what its next move would end", () => {
  const left = (/** @type {string[]} */ lines) => Object.keys(foe(after("gen7ou", [...ENTRY, ...lines])).volatiles).sort();
  const bounced = ["|move|p1a: Mew|Toxic|p2a: Vaporeon", "|move|p2a: Vaporeon|Toxic|p1a: Mew|[from] ability: Magic Bounce", "|-immune|p1a: Mew"];
  const danced = ["|-activate|p2a: Vaporeon|ability: Dancer", "|move|p2a: Vaporeon|Swords Dance|p2a: Vaporeon|[from] ability: Dancer"];
  const beam = ["|move|p2a: Vaporeon|Solar Beam||[still]", "|-prepare|p2a: Vaporeon|Solar Beam"];
  const rampage = ["|move|p2a: Vaporeon|Outrage|p1a: Mew"];
  const bond = ["|move|p2a: Vaporeon|Destiny Bond|p2a: Vaporeon", "|-singlemove|p2a: Vaporeon|Destiny Bond"];
  for (const extra of [bounced, danced]) {
    assert.deepEqual(left([...beam, ...extra]), ["charging"]);
    assert.deepEqual(left([...rampage, ...extra]), ["thrashing"]);
    assert.deepEqual(left([...bond, ...extra]), extra === bounced ? ["destinybond"] : []);
  }
  assert.deepEqual(left([...rampage, "|turn|2", ...danced]), [], "a dance before its user's own move");
  assert.deepEqual(left(["|move|p2a: Vaporeon|Petal Dance|p1a: Mew|[from] ability: Dancer"]), []);
});

test("an ability that absorbs a rampage ends it", () => {
  const left = (/** @type {string[]} */ lines) => Object.keys(foe(after("gen7ou", [...ENTRY, "|move|p2a: Vaporeon|Petal Dance|p1a: Mew", ...lines])).volatiles);
  assert.deepEqual(left([]), ["thrashing"]);
  assert.deepEqual(left(["|-ability|p1a: Mew|Sap Sipper|boost", "|-boost|p1a: Mew|atk|1"]), []);
  assert.deepEqual(left(["|-ability|p1a: Mew|Stamina|boost", "|-boost|p1a: Mew|def|1"]), ["thrashing"]);
  assert.deepEqual(left(["|-heal|p1a: Mew|400/400|[from] ability: Volt Absorb|[of] p2a: Vaporeon"]), []);
  assert.deepEqual(left(["|-start|p1a: Mew|ability: Flash Fire"]), []);
  assert.deepEqual(left(["|-activate|p1a: Mew|move: Mat Block|Petal Dance"]), []);
});

test("sleep ends a rampage at the end of the turn, from the second generation on", () => {
  const thrashing = (/** @type {string} */ format) => "thrashing" in foe(after(format, [
    ...ENTRY, "|-status|p2a: Vaporeon|slp", "|cant|p2a: Vaporeon|slp", "|move|p2a: Vaporeon|Sleep Talk|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Outrage|p1a: Mew|[from] Sleep Talk", "|turn|2",
  ])).volatiles;
  assert.deepEqual([thrashing("gen2ou"), thrashing("gen4ou")], [false, false]);
});

test("Haze of the fourth generation ends Focus Energy, too", () => {
  const lines = ["|-start|p2a: Vaporeon|move: Focus Energy", "|-boost|p2a: Vaporeon|atk|2", "|-clearallboost"];
  for (const [format, focused] of /** @type {const} */ ([["gen3ou", 1], ["gen4ou", undefined], ["gen5ou", 1]])) {
    const { boosts, volatiles } = foe(after(format, [...ENTRY, ...lines]));
    assert.deepEqual([boosts.atk, volatiles.focusenergy], [0, focused]);
  }
});

test("Snatch takes a Wish and what a move gives its user, and costs PP by the Pressure of its victim", () => {
  const stolen = (/** @type {string} */ format, /** @type {string} */ move) => after(format, [
    "|switch|p1a: Suicune|Suicune|400/400", "|-ability|p1a: Suicune|Pressure", "|switch|p2a: Vaporeon|Vaporeon, F|100/100", "|turn|1",
    "|move|p2a: Vaporeon|Snatch|p2a: Vaporeon", "|-singleturn|p2a: Vaporeon|Snatch",
    `|move|p1a: Suicune|${move}|p1a: Suicune`, "|-activate|p2a: Vaporeon|move: Snatch|[of] p1a: Suicune",
    `|move|p2a: Vaporeon|${move}|p2a: Vaporeon|[from] move: Snatch`,
  ]);
  const { own, opponent } = stolen("gen4ou", "Wish");
  assert.deepEqual([own.wish_turn, opponent.wish_turn], [0, 2]);
  const small = stolen("gen4ou", "Minimize");
  assert.deepEqual([small.own.pokemon[0].volatiles, foe(small).volatiles], [{}, { minimize: 1 }]);
  const costs = ["gen3ou", "gen4ou", "gen5ou"].map((format) => spentById(foe(stolen(format, "Minimize")).moves)[0][1]);
  assert.deepEqual(costs, [2, 2, 2]);
});

test("Pressure costs nothing for a snatched move that aims at its owner", () => {
  const moves = foe(after("gen5ou", [
    "|switch|p1a: Suicune|Suicune|400/400", "|-ability|p1a: Suicune|Pressure", "|switch|p2a: Vaporeon|Vaporeon, F|100/100", "|turn|1",
    "|move|p2a: Vaporeon|Snatch|p2a: Vaporeon", "|move|p1a: Suicune|Psych Up|p2a: Vaporeon",
    "|-activate|p2a: Vaporeon|move: Snatch|[of] p1a: Suicune", "|move|p2a: Vaporeon|Psych Up|p1a: Suicune|[from] Snatch",
  ])).moves;
  assert.deepEqual(spentById(moves), [["snatch", 2]]);
});

test("a Destiny Bond without PP does not end the one before", () => {
  const left = (/** @type {string} */ cant) => Object.keys(foe(after("gen4ou", [...ENTRY, "|-singlemove|p2a: Vaporeon|Destiny Bond", cant])).volatiles);
  assert.deepEqual(left("|cant|p2a: Vaporeon|nopp|Destiny Bond"), ["destinybond"]);
  assert.deepEqual(left("|cant|p2a: Vaporeon|nopp|Surf"), []);
  assert.deepEqual(Object.keys(foe(after("gen4ou", [
    ...ENTRY, "|move|p2a: Vaporeon|Destiny Bond|p2a: Vaporeon", "|-singlemove|p2a: Vaporeon|Destiny Bond", "|turn|2", "|cant|p2a: Vaporeon|nopp|Destiny Bond", "|turn|3",
  ])).volatiles), ["destinybond"]);
});

test("a change of forme ends an added type", () => {
  const types = (/** @type {string[]} */ lines) => foe(after("gen9ou", [
    "|switch|p2a: Mimikyu|Mimikyu, M|100/100", "|-start|p2a: Mimikyu|typeadd|Grass|[from] move: Forest's Curse", ...lines,
  ])).types;
  assert.deepEqual(types([]), ["ghost", "fairy", "grass"]);
  assert.deepEqual(types(["|detailschange|p2a: Mimikyu|Mimikyu-Busted, M"]), ["ghost", "fairy"]);
});

test("the effect of a Micle Berry that was eaten or flung before is no lost item", () => {
  const item = (/** @type {string} */ line) => foe(after("gen4ou", [...ENTRY, "|-item|p2a: Vaporeon|Leftovers|[from] move: Thief", line])).item;
  assert.equal(item("|-enditem|p2a: Vaporeon|Micle Berry"), "leftovers");
  assert.equal(item("|-enditem|p2a: Vaporeon|Leftovers|[from] move: Knock Off|[of] p1a: Mew"), "");
});

test("what a Pokémon's own moves spent beside one of Mimic is kept when it transforms", () => {
  const moves = foe(after("gen3ou", [
    ...ENTRY, "|move|p2a: Vaporeon|Surf|p1a: Mew", "|move|p2a: Vaporeon|Mimic|p1a: Mew", "|-activate|p2a: Vaporeon|move: Mimic|Psychic",
    "|move|p2a: Vaporeon|Surf|p1a: Mew", "|move|p2a: Vaporeon|Transform|p1a: Mew", "|-transform|p2a: Vaporeon|p1a: Mew",
    "|switch|p2a: Jolteon|Jolteon, M|100/100", "|switch|p2a: Vaporeon|Vaporeon, L80, F|100/100",
  ])).moves;
  assert.deepEqual(spentById(moves), [["surf", 2], ["mimic", 1], ["transform", 1]]);
});

test("Smack Down and Gravity end what lifts a Pokémon, and moves in the air alone", () => {
  const left = (/** @type {string[]} */ lines) => Object.keys(foe(after("gen6ou", [...ENTRY, ...lines])).volatiles).sort();
  const prepares = (/** @type {string} */ move) => [`|move|p2a: Vaporeon|${move}||[still]`, `|-prepare|p2a: Vaporeon|${move}`];
  const lifts = ["|-start|p2a: Vaporeon|Magnet Rise", "|-start|p2a: Vaporeon|Telekinesis"];
  const smack = "|-start|p2a: Vaporeon|Smack Down";
  const gravity = "|-activate|p2a: Vaporeon|move: Gravity";
  assert.deepEqual([left([...lifts, smack]), left([...lifts, gravity])], [["smackdown"], []]);
  assert.deepEqual([left([...prepares("Fly"), smack]), left([...prepares("Bounce"), gravity])], [["smackdown"], []]);
  assert.deepEqual([left([...prepares("Sky Attack"), smack]), left([...prepares("Sky Attack"), ...lifts, gravity])], [["charging", "smackdown"], ["charging"]]);
  assert.deepEqual([left([...prepares("Sky Drop"), smack]), left([...prepares("Sky Drop"), gravity])], [["charging", "hidden", "smackdown"], []]);
});

test("a Pokémon that cannot move, or hits itself in confusion, ends what its next move would end", () => {
  const effects = ["|-singlemove|p2a: Vaporeon|Grudge", "|-singlemove|p2a: Vaporeon|Rage", "|-singlemove|p2a: Vaporeon|Destiny Bond"];
  const dives = ["|move|p2a: Vaporeon|Dive||[still]", "|-prepare|p2a: Vaporeon|Dive"];
  const left = (/** @type {string[]} */ lines) => Object.keys(foe(after("gen4ou", [...ENTRY, ...lines])).volatiles).sort();
  assert.deepEqual(left([...dives, ...effects]), ["charging", "destinybond", "grudge", "hidden", "rage"]);
  assert.deepEqual(left([...dives, ...effects, "|cant|p2a: Vaporeon|par"]), []);
  assert.deepEqual(left([...dives, ...effects, "|-damage|p2a: Vaporeon|90/100|[from] confusion"]), []);
});

test("a move that an item brings forward is its user's own", () => {
  const lines = ["|-activate|p2a: Vaporeon|item: Quick Claw", "|move|p2a: Vaporeon|Surf|p1a: Mew|[from] item: Quick Claw"];
  const { moves, last_move: last } = foe(after("gen4ou", [...ENTRY, ...lines]));
  assert.deepEqual([spentById(moves), last], [[["surf", 1]], "surf"]);
});

test("from the fourth generation on, Pressure costs nothing for the Pursuit of a Pokémon that leaves", () => {
  const entry = ["|switch|p1a: Entei|Entei|300/300", "|-ability|p1a: Entei|Pressure|[silent]", "|switch|p2a: Vaporeon|Vaporeon|100/100", "|turn|1"];
  const spent = (/** @type {string} */ format, /** @type {string} */ tag) =>
    spentByMove(foe(after(format, [...entry, `|move|p2a: Vaporeon|Pursuit|p1a: Entei${tag}`])).moves);
  const leaves = "|[from] Pursuit";
  assert.deepEqual([spent("gen3ou", leaves), spent("gen4ou", leaves), spent("gen4ou", "")], [[2], [1], [2]]);
  assert.deepEqual(spent("gen4ou", "|[from] item: Quick Claw"), [1], "nor for a move that an item brings forward");
});

test("a Wish that fails because another waits changes nothing", () => {
  const wish = "|move|p2a: Vaporeon|Wish|p2a: Vaporeon";
  const fails = ["|move|p2a: Vaporeon|Wish||[still]", "|-fail|p2a: Vaporeon"];
  const turn = (/** @type {string[]} */ lines) => after("gen3ou", [...ENTRY, ...lines]).opponent.wish_turn;
  assert.equal(turn([wish]), 2);
  assert.equal(turn([wish, "|turn|2", ...fails]), 2);
  assert.equal(turn([wish, "|turn|2", ...fails, "|turn|3"]), 0);
});

test("Lunar Dance restores the PP of the Pokémon that it heals", () => {
  const moves = ["|move|p2a: Vaporeon|Surf|p1a: Mew", "|move|p2a: Vaporeon|Haze|p2a: Vaporeon"];
  const { moves: known } = foe(after("gen4ou", [...ENTRY, ...moves, "|-heal|p2a: Vaporeon|100/100|[from] move: Lunar Dance"]));
  assert.deepEqual(spentByMove(known), [0, 0]);
});

test("a copy by Mimic has 5 PP until the fourth generation, then the move's own", () => {
  const copy = (/** @type {string} */ format, /** @type {string} */ line) =>
    foe(after(format, [...ENTRY, "|move|p2a: Vaporeon|Mimic|p1a: Mew", line])).moves.map((/** @type {any} */ { id, pp, max_pp: most }) => [id, pp, most]);
  assert.deepEqual(copy("gen4ou", "|-activate|p2a: Vaporeon|move: Mimic|Petal Dance"), [["petaldance", 5, 32]]);
  assert.deepEqual(copy("gen9ou", "|-start|p2a: Vaporeon|Mimic|Petal Dance"), [["petaldance", 10, 10]]);
});

test("a berry's effect on another Pokémon does not show that it holds the berry", () => {
  const bite = [
    "|move|p2a: Vaporeon|Bug Bite|p1a: Mew", "|-enditem|p1a: Mew|Sitrus Berry|[from] stealeat|[move] Bug Bite|[of] p2a: Vaporeon",
    "|-heal|p2a: Vaporeon|100/100|[from] item: Sitrus Berry",
  ];
  const state = after("gen4ou", [...ENTRY, ...bite]);
  assert.deepEqual([foe(state).item, state.own.pokemon[0].item, state.own.pokemon[0].lost_item], [null, "", "sitrusberry"]);
});

test("a Z-move and a Max move spend PP of the own move that they replace, where that is certain", () => {
  const entry = ["|switch|p1a: Mew|Mew|400/400", "|switch|p2a: Carbink|Carbink, L80|100/100", "|turn|1"];
  const shown = (/** @type {string[]} */ names) => names.map((name) => `|move|p2a: Carbink|${name}|p1a: Mew`);
  const spent = (/** @type {string} */ format, /** @type {string[]} */ names) =>
    spentByMove(foe(after(format, [...entry, ...shown(names)])).moves);
  const four = ["Moonblast", "Power Gem", "Stealth Rock", "Body Press"];
  assert.deepEqual(spent("gen8randombattle", [...four, "Max Starfall"]), [2, 1, 1, 1]);
  assert.deepEqual(spent("gen8randombattle", [...four, "Max Guard"]), [1, 1, 2, 1]);
  assert.deepEqual(spent("gen8randombattle", [...four, "Max Geyser"]), [1, 1, 1, 1], "no known move is of this type");
  assert.deepEqual(spent("gen8randombattle", ["Moonblast", "Max Starfall"]), [1], "a move that is unknown may be meant");
  assert.deepEqual(spent("gen7randombattle", ["Moonblast", "Power Gem", "Toxic", "Psychic", "Continental Crush"]), [1, 2, 1, 1]);
  assert.deepEqual(spent("gen7randombattle", ["Genesis Supernova"]), [1], "the only move that it can replace is Psychic");
  assert.deepEqual(spent("gen7randombattle", ["Z-Shift Gear"]), [1], "a status move keeps its name");
});

test("in the third generation, Pressure costs nothing for a called move", () => {
  const entry = ["|switch|p1a: Entei|Entei|300/300", "|-ability|p1a: Entei|Pressure|[silent]", "|switch|p2a: Vaporeon|Vaporeon|100/100", "|turn|1"];
  const talk = ["|move|p2a: Vaporeon|Sleep Talk|p2a: Vaporeon", "|move|p2a: Vaporeon|Surf|p1a: Entei|[from] Sleep Talk"];
  const spent = (/** @type {string} */ format) => spentByMove(foe(after(format, [...entry, ...talk])).moves);
  assert.deepEqual([spent("gen3ou"), spent("gen4ou")], [[1, 0], [2, 0]]);
});

test("unknown values are marked as unknown", () => {
  const state = after("gen9randombattle", ENTRY);
  assert.deepEqual([foe(state).item, foe(state).ability, foe(state).tera, foe(state).moves], [null, "", "", []]);
});

test("the turns of sleep, poison and conditions are counted", () => {
  const state = after("gen9randombattle", [
    ...ENTRY,
    "|-status|p2a: Vaporeon|slp|[from] move: Rest",
    "|-weather|RainDance",
    "|-sidestart|p2: B|move: Stealth Rock",
    "|-sidestart|p2: B|Spikes",
    "|-sidestart|p2: B|Spikes",
    "|turn|2",
    "|cant|p2a: Vaporeon|slp",
    "|-weather|RainDance|[upkeep]",
    "|turn|3",
  ]);
  assert.deepEqual([foe(state).status, foe(state).status_turns, foe(state).resting], ["slp", 1, true]);
  assert.deepEqual(state.weather, { id: "raindance", since: 1 });
  assert.deepEqual(state.opponent.conditions, { spikes: { layers: 2, since: 1 }, stealthrock: { layers: 1, since: 1 } });
});

test("unknown lines and names change nothing and break nothing", () => {
  const known = after("gen1ou", ENTRY);
  const odd = after("gen1ou", [...ENTRY, "", "|", "|-brandnew|p2a: Vaporeon|x", "hello", "|-start|p2a: Vaporeon|Marvel", "|move|p2a: Vaporeon|Nonsense|p1a: Mew"]);
  assert.deepEqual(foe(odd).moves, foe(known).moves);
  assert.deepEqual(foe(odd).volatiles, {});
});

test("a log with more Pokémon than a team fills six rows", () => {
  const names = ["Abra", "Bulbasaur", "Chansey", "Dratini", "Eevee", "Fearow", "Gastly", "Haunter"];
  const state = after("gen1ou", names.map((name) => `|switch|p2a: ${name}|${name}|100/100`));
  assert.deepEqual(state.opponent.pokemon.map((/** @type {any} */ { name }) => name), [...names.slice(0, 5), "Haunter"]);
  assert.equal(state.opponent.active, 5);
});

test("a move from a desynchronisation is not learnt", () => {
  const state = after("gen1ou", [
    ...ENTRY,
    "|-hint|Desync Clause Mod activated!",
    "|-hint|In Gen 1, if both players would see the same Pokémon using different moves, the Pokemon defaults to one.",
    "|move|p2a: Vaporeon|Hyper Beam|p1a: Mew",
    "|move|p2a: Vaporeon|Surf|p1a: Mew",
  ]);
  assert.deepEqual(foe(state).moves.map((/** @type {any} */ { id }) => id), ["surf"]);
});

test("the second turn of a called move is called too", () => {
  const state = after("gen1ou", [
    ...ENTRY,
    "|move|p2a: Vaporeon|Metronome|p2a: Vaporeon",
    "|move|p2a: Vaporeon|Sky Attack||[from] Metronome|[still]",
    "|-prepare|p2a: Vaporeon|Sky Attack",
    "|turn|2",
    "|move|p2a: Vaporeon|Sky Attack|p1a: Mew|[from] Sky Attack",
    "|turn|3",
    "|move|p2a: Vaporeon|Dig||[still]",
    "|-prepare|p2a: Vaporeon|Dig",
    "|turn|4",
    "|move|p2a: Vaporeon|Dig|p1a: Mew|[from] Dig",
  ]);
  const spent = spentById(foe(state).moves);
  assert.deepEqual(spent, [["metronome", 1], ["dig", 1]]);
});

test("a line with a handler is parsed into the parts between its bars", () => {
  for (const line of ["|move|p1a: A|Tackle|", "|-damage|p2a: B|0 fnt|[from] psn", "|faint|p1a: A", "|-item|p1a: |x||[of] p2a: B"]) {
    assert.deepEqual(parseLine(line)?.parts, line.split("|"));
  }
  for (const line of ["", "|", "||", "|upkeep", "move|p1a: A", "|moved|p1a: A"]) assert.equal(parseLine(line), null);
});

test("the next request overrides a line about the bench, even if it lists the same entry", () => {
  const entry = (/** @type {string} */ name, /** @type {boolean} */ active) => Object.freeze({
    ident: `p1: ${name}`, details: `${name}, L50`, condition: active ? "200/200" : "100/100 par", active, item: "leftovers",
    stats: { atk: 1, def: 2, spa: 3, spd: 4, spe: 5 }, moves: ["tackle"], baseAbility: "static", ability: "static",
  });
  const active = entry("Raichu", true);
  const bench = entry("Pikachu", false);
  const request = () => /** @type {any} */ ({ forceSwitch: [true], side: { pokemon: [active, bench] } });
  const tracker = new Tracker(DexInfo.forFormat("gen8ou"), 0);
  tracker.readLine("|switch|p1a: Raichu|Raichu, L50|200/200");
  tracker.readRequest(request());
  const statuses = () => /** @type {any} */ (tracker.state()).own.pokemon.map((/** @type {any} */ row) => row.status);
  assert.deepEqual(statuses(), ["", "par"]);
  const back = "|switch|p1a: Raichu|Raichu, L50|200/200";
  const seen = "|drag|p1a: Pikachu|Pikachu, L50|100/100";
  const cures = ["|-cureteam|p1a: Raichu|[from] move: Heal Bell", "|-curestatus|p1: Pikachu|par", "|-status|p1a: Raichu|slp"];
  for (const lines of [...cures.map((line) => [line]), [seen, back]]) {
    for (const line of lines) tracker.readLine(line);
    assert.notDeepEqual(statuses(), ["", "par"], lines[0]);
    tracker.readRequest(request());
    assert.deepEqual(statuses(), ["", "par"], lines[0]);
  }
});

test("a request that lists copied moves in another order keeps what is known of each", () => {
  const tracker = new Tracker(DexInfo.forFormat("gen3ou"), 0);
  const request = (/** @type {string[]} */ moves) => /** @type {any} */ ({
    wait: true,
    side: { pokemon: [{
      ident: "p1: Mew", details: "Mew", condition: "400/400", active: true, item: "", moves,
      stats: { atk: 1, def: 2, spa: 3, spd: 4, spe: 5 }, baseAbility: "synchronize", ability: "synchronize",
    }] },
  });
  for (const line of ENTRY) tracker.readLine(line);
  tracker.readRequest(request(["transform"]));
  for (const line of [
    "|move|p2a: Vaporeon|Surf|p1a: Mew", "|move|p2a: Vaporeon|Toxic|p1a: Mew", "|-transform|p1a: Mew|p2a: Vaporeon",
    "|move|p1a: Mew|Toxic|p2a: Vaporeon",
  ]) tracker.readLine(line);
  tracker.readRequest(request(["toxic", "tackle", "surf"]));
  const [mew] = /** @type {any} */ (tracker.state()).own.pokemon;
  assert.deepEqual(mew.moves, [{ id: "toxic", pp: 4, max_pp: 16 }, { id: "tackle", pp: 5, max_pp: 56 }, { id: "surf", pp: 5, max_pp: 24 }]);
});

test("the first generation's Mimic may copy a move that its user has", () => {
  const tracker = new Tracker(DexInfo.forFormat("gen1ou"), 0);
  const request = (/** @type {string[]} */ moves) => /** @type {any} */ ({
    wait: true,
    side: { pokemon: [{ ident: "p1: Mew", details: "Mew", condition: "400/400", active: true, moves, stats: { atk: 1, def: 2, spa: 3, spd: 4, spe: 5 } }] },
  });
  for (const line of ENTRY) tracker.readLine(line);
  tracker.readRequest(request(["barrier", "mimic"]));
  for (const line of ["|move|p1a: Mew|Mimic|p2a: Vaporeon", "|-start|p1a: Mew|Mimic|Barrier"]) tracker.readLine(line);
  tracker.readRequest(request(["barrier", "barrier"]));
  tracker.readLine("|switch|p1a: Jynx|Jynx|300/300");
  const [mew] = /** @type {any} */ (tracker.state()).own.pokemon;
  assert.deepEqual(spentById(mew.moves), [["barrier", 0], ["mimic", 1]]);
});

test("what a request that was rebuilt from a log leaves out comes from the lines", () => {
  const tracker = new Tracker(DexInfo.forFormat("gen4ou"), 0);
  const request = () => /** @type {any} */ ({
    active: [{ moves: [{ id: "tackle", pp: null }, { id: "charm", pp: null }] }],
    side: { pokemon: [{
      ident: "p1: Raichu", details: "Raichu, M", active: true, moves: ["tackle", "charm"], reviving: false,
      stats: { hp: 260, atk: 1, def: 2, spa: 3, spd: 4, spe: 5 },
    }] },
  });
  for (const line of ["|switch|p1a: Raichu|Raichu, M|100/100", "|switch|p2a: Mew|Mew|100/100", "|turn|1"]) tracker.readLine(line);
  tracker.readRequest(request());
  for (const line of [
    "|move|p1a: Raichu|Tackle|p2a: Mew", "|-damage|p1a: Raichu|40/100 par", "|-item|p1a: Raichu|Leftovers|[from] move: Trick",
    "|-ability|p1a: Raichu|Static", "|turn|2",
  ]) tracker.readLine(line);
  tracker.readRequest(request());
  const [raichu] = /** @type {any} */ (tracker.state()).own.pokemon;
  assert.deepEqual([raichu.hp, raichu.max_hp, raichu.status, raichu.item, raichu.ability], [40, 100, "par", "leftovers", "static"]);
  assert.deepEqual(spentByMove(raichu.moves), [1, 0]);
  assert.equal(raichu.stats.hp, 260);
});
