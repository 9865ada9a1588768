/** What the tracker of one seat makes of lines that only doubles have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DexInfo } from "../../src/simulator/dex.js";
import { Tracker } from "../../src/tracker/tracker.js";

/** @param {string} format @param {string[]} lines @returns {any} what player 1 knows after them */
function after(format, lines) {
  const tracker = new Tracker(DexInfo.forFormat(format), 0);
  for (const line of lines) tracker.readLine(line);
  return tracker.state();
}

test("in doubles of the fourth generation, the Pressure of the user's partner costs PP", () => {
  const entry = ["|switch|p1a: Mew|Mew|400/400", "|switch|p2a: Magcargo|Magcargo, M|100/100", "|switch|p2b: Moltres|Moltres|100/100", "|-ability|p2b: Moltres|Pressure", "|turn|1"];
  const spent = (/** @type {string} */ format, /** @type {string} */ move) => {
    const [{ pp, max_pp: most }] = after(format, [...entry, `|move|p2a: Magcargo|${move}`]).opponent.pokemon[0].moves;
    return most - pp;
  };
  const moves = ["Rock Slide|p1a: Mew|[spread] p1a", "Flamethrower|p2b: Moltres", "Earthquake|p1a: Mew|[spread] p1a", "Sunny Day|p2a: Magcargo", "Protect|p2a: Magcargo"];
  assert.deepEqual(moves.map((move) => spent("gen4doublesou", move)), [1, 2, 2, 2, 1]);
  assert.deepEqual(moves.map((move) => spent("gen5doublesou", move)), [1, 1, 1, 1, 1]);
});

test("the Pressure of either opponent costs PP of Dragon Darts", () => {
  const entry = [
    "|switch|p1a: Mew|Mew|400/400", "|switch|p1b: Moltres|Moltres|400/400", "|-ability|p1b: Moltres|Pressure",
    "|switch|p2a: Dragapult|Dragapult, F|100/100", "|switch|p2b: Abra|Abra|100/100", "|turn|1",
  ];
  const spent = (/** @type {string} */ move) => {
    const [{ pp, max_pp: most }] = after("gen9doublesou", [...entry, `|move|p2a: Dragapult|${move}`]).opponent.pokemon[0].moves;
    return most - pp;
  };
  assert.deepEqual(["Dragon Darts|p1a: Mew", "Dragon Darts|p2b: Abra", "Dragon Claw|p1a: Mew"].map(spent), [2, 1, 1]);
});

test("a move at one of two opponents with Pressure costs one more, also if its line names no target", () => {
  const entry = [
    "|switch|p1a: Entei|Entei|400/400", "|-ability|p1a: Entei|Pressure", "|switch|p1b: Moltres|Moltres|400/400", "|-ability|p1b: Moltres|Pressure",
    "|switch|p2a: Mew|Mew|100/100", "|switch|p2b: Abra|Abra|100/100", "|turn|1",
  ];
  const spent = (/** @type {string} */ move) => {
    const [{ pp, max_pp: most }] = after("gen9doublesou", [...entry, `|move|p2a: Mew|${move}`]).opponent.pokemon[0].moves;
    return most - pp;
  };
  assert.deepEqual(["Surf|p1a: Entei|[spread] p1a,p1b", "Pound|p1a: Entei", "Counter||[still]"].map(spent), [3, 2, 2]);
});

test("in doubles, a disguise and the Pokémon that it shows keep apart what each has suffered", () => {
  const entry = [
    "|switch|p1a: Mew|Mew|400/400", "|switch|p2a: Huntail|Huntail, M|100/100", "|switch|p2b: Abra|Abra, M|100/100", "|turn|1",
    "|-damage|p2a: Huntail|90/100", "|switch|p2b: Huntail|Huntail, M|100/100", "|-damage|p2b: Huntail|50/100",
    "|-damage|p2a: Huntail|70/100", "|move|p2a: Huntail|Dark Pulse|p1a: Mew", "|turn|2",
  ];
  const known = (/** @type {string[]} */ lines) => Object.fromEntries(after("gen6doublesou", [...entry, ...lines]).opponent.pokemon.map(
    (/** @type {any} */ { name, hp, moves }) => [name, [hp, moves.length]],
  ));
  const first = known(["|replace|p2a: Zoroark|Zoroark, F", "|-end|p2a: Zoroark|Illusion"]);
  assert.deepEqual(first, { Huntail: [50, 0], Abra: [100, 0], Zoroark: [70, 1] });
  const second = known(["|replace|p2b: Zoroark|Zoroark, F", "|-end|p2b: Zoroark|Illusion"]);
  assert.deepEqual(second, { Huntail: [70, 1], Abra: [100, 0], Zoroark: [50, 0] });
  assert.deepEqual(known(["|switch|p2b: Abra|Abra, M|100/100"]), { Huntail: [70, 1], Abra: [100, 0] });
  const fainted = ["|faint|p2b: Huntail", "|switch|p2b: Abra|Abra, M|100/100"];
  assert.deepEqual(known(fainted), { Huntail: [0, 0], Abra: [100, 0] }, "a disguise ends before its wearer faints");
  assert.deepEqual(known([...fainted, "|replace|p2a: Zoroark|Zoroark, F"]), { Huntail: [0, 0], Abra: [100, 0], Zoroark: [70, 1] });
});

test("an ability that a Pokémon got in a swap and gives on is not its own after it faints", () => {
  const entry = ["|switch|p1a: Araquanid|Araquanid, F|298/298", "|switch|p2a: Dragapult|Dragapult, F|100/100", "|switch|p2b: Runerigus|Runerigus, F|100/100", "|turn|1"];
  const abilities = (/** @type {string[]} */ lines) => after("gen8doublesou", [...entry, ...lines]).opponent.pokemon.map(
    (/** @type {any} */ { ability, base_ability: own }) => [ability, own],
  );
  // Partners swap without naming their abilities; Wandering Spirit is the only one that Runerigus can have.
  const partners = ["|-activate|p2a: Dragapult|Skill Swap|||[of] p2b: Runerigus"];
  assert.deepEqual(abilities(partners), [["wanderingspirit", ""], ["", "wanderingspirit"]]);
  const swapped = [...partners, "|-activate|p1a: Araquanid|Skill Swap|Wandering Spirit|Water Bubble|[of] p2a: Dragapult"];
  assert.deepEqual(abilities(swapped), [["waterbubble", ""], ["", "wanderingspirit"]]);
  assert.deepEqual(abilities([...swapped, "|faint|p2a: Dragapult"]), [["", ""], ["", "wanderingspirit"]]);
  // An ability that is its own is known from then on.
  const first = ["|-activate|p2a: Dragapult|Skill Swap|Water Bubble|Infiltrator|[of] p1a: Araquanid"];
  assert.deepEqual(abilities(first), [["waterbubble", "infiltrator"], ["wanderingspirit", "wanderingspirit"]]);
  assert.deepEqual(abilities([...first, "|faint|p2a: Dragapult"])[0], ["infiltrator", "infiltrator"]);
});

test("an ability that Mummy replaces is its wearer's own only if nothing replaced it before", () => {
  const entry = ["|switch|p1a: Cofagrigus|Cofagrigus, F|300/300", "|switch|p2a: Dragapult|Dragapult, F|100/100", "|switch|p2b: Runerigus|Runerigus, F|100/100", "|turn|1"];
  const mummy = (/** @type {string} */ old) => `|-activate|p1a: Cofagrigus|ability: Mummy|p2a: Dragapult|[ability] ${old}`;
  const own = (/** @type {string[]} */ lines) => after("gen8doublesou", [...entry, ...lines]).opponent.pokemon[0].base_ability;
  assert.equal(own([mummy("Infiltrator")]), "infiltrator");
  assert.equal(own(["|-activate|p2a: Dragapult|Skill Swap|||[of] p2b: Runerigus", mummy("Wandering Spirit")]), "");
});

test("an ability that Mummy has replaced and that still takes effect on the same hit has not come back", () => {
  const entry = ["|switch|p1a: Cofagrigus|Cofagrigus, F|300/300", "|switch|p2a: Seismitoad|Seismitoad, F|100/100", "|switch|p2b: Abra|Abra|100/100", "|turn|1"];
  const mummy = "|-activate|p1a: Cofagrigus|ability: Mummy|p2a: Seismitoad|[ability] Poison Touch";
  const poison = "|-status|p1a: Cofagrigus|psn|[from] ability: Poison Touch|[of] p2a: Seismitoad";
  const [{ ability, base_ability: own }] = after("gen7doublesou", [...entry, mummy, poison]).opponent.pokemon;
  assert.deepEqual([ability, own], ["mummy", "poisontouch"]);
});

test("a Sticky Barb that hurts a Pokémon without an item was taken from the one that held it", () => {
  const entry = ["a: Mew|Mew", "b: Abra|Abra"].flatMap((shown) => [`|switch|p1${shown}|300/300`, `|switch|p2${shown}|100/100`]);
  const hurt = (/** @type {string} */ slot) => `|-damage|${slot}|88/100|[from] item: Sticky Barb`;
  const items = (/** @type {string[]} */ ...lines) => after("gen4doublesou", [...entry, "|turn|1", ...lines]).opponent.pokemon.map(
    (/** @type {any} */ { item }) => item,
  );
  const eaten = "|-enditem|p2b: Abra|Wiki Berry|[eat]";
  assert.deepEqual(items(hurt("p2a: Mew"), eaten), ["stickybarb", ""]);
  assert.deepEqual(items(hurt("p2a: Mew"), eaten, hurt("p2b: Abra")), ["", "stickybarb"]);
  assert.deepEqual(items(hurt("p2a: Mew"), hurt("p2b: Abra")), ["stickybarb", "stickybarb"], "each may have held its own");
});

test("a Future Sight at a partner hits where the partner is", () => {
  const entry = ["a: Mew|Mew", "b: Abra|Abra"].flatMap((shown) => [`|switch|p1${shown}|300/300`, `|switch|p2${shown}|100/100`]);
  const future = (/** @type {string} */ aim) => after("gen9doublesou", [...entry, "|turn|1", `|move|p2a: Mew|Future Sight|${aim}`, "|-start|p2a: Mew|move: Future Sight"]);
  const fainted = after("gen9doublesou", [...entry, "|turn|1", "|faint|p2b: Abra", "|move|p2a: Mew|Future Sight|p2: Abra", "|-start|p2a: Mew|move: Future Sight"]);
  assert.deepEqual(fainted.opponent.future_turns, [0, 3], "who has fainted is named without a position");
  const [foe, partner] = [future("p1b: Abra"), future("p2b: Abra")];
  assert.deepEqual([foe.own.future_turns, foe.opponent.future_turns], [[0, 3], [0, 0]]);
  assert.deepEqual([partner.own.future_turns, partner.opponent.future_turns], [[0, 0], [0, 3]]);
});

test("in doubles, a partner may trap, and Baton Pass up to the fourth generation passes on both ends of a trap", () => {
  const entry = ["a: Mew|Mew", "b: Abra|Abra"].flatMap((shown) => [`|switch|p1${shown}|300/300`, `|switch|p2${shown}|100/100`]);
  const trap = ["|move|p2a: Mew|Mean Look|p2b: Abra", "|-activate|p2b: Abra|trapped"];
  const trapped = (/** @type {string} */ format, /** @type {string[]} */ ...lines) => {
    const { pokemon, slots } = after(format, [...entry, "|turn|1", ...lines]).opponent;
    return slots.map((/** @type {number} */ row) => "trapped" in pokemon[row].volatiles);
  };
  const enter = (/** @type {string} */ slot, /** @type {string} */ cause = "") => `|switch|${slot}: Jynx|Jynx, F|100/100${cause}`;
  const pass = "|[from] Baton Pass";
  assert.deepEqual(trapped("gen9doublesou", ...trap), [false, true]);
  assert.deepEqual(trapped("gen9doublesou", ...trap, "|faint|p1a: Mew", enter("p1b")), [false, true]);
  assert.deepEqual(trapped("gen9doublesou", ...trap, enter("p2a")), [false, false]);
  assert.deepEqual(trapped("gen9doublesou", ...trap, "|faint|p2a: Mew"), [false, false]);
  assert.deepEqual(trapped("gen9doublesou", ...trap, enter("p2a", pass)), [false, false]);
  assert.deepEqual(trapped("gen4doublesou", ...trap, enter("p2a", pass)), [false, true]);
  assert.deepEqual(trapped("gen4doublesou", ...trap, enter("p2b", pass), enter("p1a")), [false, true]);
  const both = ["|move|p2a: Mew|Jaw Lock|p1b: Abra", "|-activate|p2a: Mew|trapped", "|-activate|p1b: Abra|trapped"];
  assert.deepEqual(trapped("gen9doublesou", ...both, enter("p1a")), [true, false]);
  assert.deepEqual(trapped("gen9doublesou", ...both, "|faint|p1b: Abra"), [false, false]);
});

test("Symbiosis passes on its holder's item", () => {
  const entry = ["|switch|p1a: Mew|Mew|300/300", "|switch|p2a: Florges|Florges, F|100/100", "|switch|p2b: Nacli|Nacli, F|100/100", "|turn|1"];
  const used = ["|-enditem|p2b: Nacli|Power Herb", "|-activate|p2a: Florges|ability: Symbiosis|Charcoal|[of] p2b: Nacli"];
  const [florges, nacli] = after("gen9doublesou", [...entry, ...used]).opponent.pokemon;
  assert.deepEqual([florges.item, florges.ability, nacli.item, nacli.lost_item], ["", "symbiosis", "charcoal", "powerherb"]);
});

test("a Regenerator that a line announces heals once", () => {
  const hp = (/** @type {string[]} */ ...lines) => after("gen9championsvgc2026regma", [
    "|switch|p1a: Mew|Mew|300/300", "|switch|p2a: Slowbro|Slowbro, M|50/100", "|turn|1", ...lines,
  ]).opponent.pokemon[0].hp;
  const heal = "|-heal|p2a: Slowbro|83/100|[from] ability: Regenerator|[silent]";
  assert.equal(hp(heal, "|switch|p2a: Abra|Abra, M|100/100"), 83);
});
