/**
 * What the simulator's data says about each species, move, item and ability of a format, as facts with weights, such as
 * `secondary.status brn` 0.3 of Scald. A network's first embeddings follow from them.
 */

/** @typedef {import("./dex.js").DexInfo} DexInfo */
/** @typedef {Record<string, number>} Facts weights by fact */

/** Names, numbers and texts of an entry, and what repeats another property. */
const LEFT_OUT = new Set([
  "name", "id", "fullname", "effectType", "exists", "num", "gen", "desc", "shortDesc", "isNonstandard", "contestType",
  "zMove", "maxMove", "spritenum", "rating", "fling", "sourceEffect", "secondary", "baseMoveType", "pp",
]);
/** When an effect takes place among others. */
const ORDER = /(Order|Priority)$/;
/** Numbers above are powers, accuracies and chances in per cent. */
const MOST_PLAIN = 8;
/** A base stat of 80 has weight 0, one of 105 has weight 1. */
const MEAN_STAT = 80;
const STAT_SCALE = 25;

/**
 * @param {DexInfo} dexInfo
 * @returns {Record<"species" | "move" | "item" | "ability", Facts[]>} by vocabulary, the facts of each number; 0 has none
 */
export function factsOf(dexInfo) {
  const { dex, species, moves, items, abilities } = dexInfo;
  const of = (/** @type {{ids: string[]}} */ { ids }, /** @type {(id: string) => Facts} */ facts) =>
    ids.map((id) => (id ? facts(id) : {}));
  return {
    species: of(species, (id) => ofSpecies(dex.species.get(id), dexInfo)),
    move: of(moves, (id) => ofEntry(dex.moves.get(id))),
    item: of(items, (id) => ofEntry(dex.items.get(id))),
    ability: of(abilities, (id) => ofEntry(dex.abilities.get(id))),
  };
}

/** @param {any} entry a move, an item or an ability @returns {Facts} of its properties, and of the words that describe it */
function ofEntry(entry) {
  /** @type {Facts} */
  const facts = {};
  for (const [property, value] of Object.entries(entry)) {
    if (!LEFT_OUT.has(property) && !ORDER.test(property)) add(facts, property, value);
  }
  const words = (entry.shortDesc ?? "").toLowerCase().replace(/[^a-z0-9/%+.-]+/g, " ").split(" ");
  let before = "";
  for (const word of words.map((/** @type {string} */ each) => each.replace(/[.]$/, "")).filter(Boolean)) {
    facts[`word ${word}`] = 1;
    if (before) facts[`words ${before} ${word}`] = 1;
    before = word;
  }
  return facts;
}

/** @param {Facts} facts @param {string} name @param {any} value whose facts are added */
function add(facts, name, value) {
  if (!value) return;
  if (typeof value === "function") facts[`has ${name}`] = 1;
  else if (value === true) facts[name] = 1;
  else if (typeof value === "number") facts[name] = Math.abs(value) > MOST_PLAIN ? value / 100 : value;
  else if (typeof value === "string") facts[`${name} ${value}`] = 1;
  else if (Array.isArray(value)) {
    for (const each of value) {
      if (typeof each === "object") add(facts, name, each);
      else facts[`${name} ${each}`] = 1;
    }
  } else {
    const chance = typeof value.chance === "number" ? value.chance / 100 : 1;
    for (const [key, part] of Object.entries(value)) {
      if (key === "chance") continue;
      /** @type {Facts} */
      const inner = {};
      add(inner, `${name}.${key}`.replace("secondaries", "secondary"), part);
      for (const [fact, weight] of Object.entries(inner)) facts[fact] = (facts[fact] ?? 0) + weight * chance;
    }
  }
}

/**
 * @param {any} species
 * @param {DexInfo} dexInfo
 * @returns {Facts} of its types and base stats, and of the sets that a random format's generator draws from; where there
 *   are none, of its possible abilities
 */
function ofSpecies(species, { dex, sets }) {
  /** @type {Facts} */
  const facts = {};
  for (const type of species.types) facts[`type ${type}`] = 1;
  for (const [stat, value] of Object.entries(species.baseStats)) facts[`stat ${stat}`] = (value - MEAN_STAT) / STAT_SCALE;
  const own = sets?.[species.id] ?? sets?.[dex.species.get(species.baseSpecies).id];
  if (!own) for (const ability of Object.values(species.abilities)) facts[`ability ${ability}`] = 1;
  const found = own?.sets ?? [];
  const share = 1 / found.length;
  for (const { role, movepool = [], abilities = [], teraTypes = [] } of found) {
    for (const move of movepool) facts[`move ${move}`] = (facts[`move ${move}`] ?? 0) + share;
    for (const ability of abilities) facts[`ability ${ability}`] = 1;
    for (const type of teraTypes) facts[`tera ${type}`] = (facts[`tera ${type}`] ?? 0) + share;
    facts[`role ${role}`] = 1;
  }
  return facts;
}
