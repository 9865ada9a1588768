/**
 * The observation's layout as data: blocks of rows and fields of a row, with names, offsets, scales and meanings. The
 * encoder writes by these offsets and the handshake sends them, so nothing else repeats them. docs/reference/observation.md is
 * made from this module.
 */
import { createHash } from "node:crypto";
import { slotChoiceNames } from "../tracker/doubles/slots.js";
import { actionNames } from "../tracker/actions.js";
import { BOOSTS, STATS, STATUSES } from "../simulator/dex.js";
import { TERRAINS, WEATHERS } from "../tracker/field.js";
import { numbersFor } from "../tracker/tracker.js";

/** Increased whenever a field changes its meaning, place or scale. */
const LAYOUT_VERSION = 1;

/** Elapsed turns that are scaled to 1: the longest duration of weathers, terrains and screens. */
export const LONGEST_TURNS = 8;

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {number} offset within the row
 * @property {number} size
 * @property {"number" | "category"} kind
 * @property {string} [vocabulary]
 * @property {string} description
 */

/**
 * @typedef {object} Block
 * @property {string} name
 * @property {number} offset within the observation
 * @property {number} rows
 * @property {number} stride
 * @property {Field[]} fields
 */

/**
 * @typedef {object} Space
 * @property {string} game
 * @property {string} format
 * @property {string} version
 * @property {number} observation_size
 * @property {number} num_actions
 * @property {string[]} actions names of one slot's actions
 * @property {1 | 2} num_slots slots that a decision chooses for
 * @property {Record<string, number>} vocabularies
 * @property {Block[]} blocks
 */

/** @typedef {import("../tracker/tracker.js").Numbers} Numbers */

/** Collects the fields of one block. */
class Row {
  /** @type {Field[]} */
  fields = [];
  size = 0;

  /** @param {string} name @param {string} description @param {number} [size] */
  number(name, description, size = 1) {
    this.fields.push({ name, offset: this.size, size, kind: "number", description });
    this.size += size;
  }

  /** @param {string} name @param {string} vocabulary @param {string} description @param {number} [size] */
  category(name, vocabulary, description, size = 1) {
    this.fields.push({ name, offset: this.size, size, kind: "category", vocabulary, description });
    this.size += size;
  }
}

/** What a field says of each opposing slot. @param {number} numSlots */
const ofEachFoe = (numSlots) => (numSlots === 1 ? "the opposing active Pokémon" : "each opposing active Pokémon");

/** @param {number} generation @param {boolean} own @param {number} numSlots */
function pokemonRow(generation, own, numSlots) {
  const row = new Row();
  row.number("present", "1 for a row within the team's size, else 0");
  row.number("revealed", own ? "1 if it has been on the field" : "1 once it has been seen, in battle or in Team Preview; before that, every field is 0 except a full HP");
  if (numSlots === 1) {
    row.number("active", "1 for the Pokémon in the slot, fainted or not");
  } else {
    row.number("active_a", "1 for the Pokémon in the first slot, fainted or not");
    row.number("active_b", "1 for the Pokémon in the second slot, fainted or not");
    row.number("brought", own ? "1 if it takes part in the battle" : "1 once it has been on the field");
    if (own) row.number("leads", "1 if Team Preview has chosen it as a lead and still asks for the others");
  }
  row.number("fainted", "1 if fainted");
  row.category("species", "species", "its current species or forme");
  row.category("types", "type", "current types: of the forme, changed, added or terastallized", generation >= 6 ? 3 : 2);
  row.number("level", "level / 100");
  row.number("hp", "share of full HP, 0 to 1");
  row.number("status", `one of ${STATUSES.slice(1).join(", ")}`, STATUSES.length - 1);
  row.number("status_turns", "turns lost to sleep / 7, or turns of toxic poison since it came in / 7");
  row.number("resting", "1 if it is asleep by Rest");
  row.number("base_stats", `${STATS.join(", ")}, each / 255`, 6);
  if (own) row.number("stats", `exact ${STATS.join(", ")} before boosts, each / 500`, 6);
  row.number("attack_matchup", `log2 / 2 of the best multiplier of its types against ${ofEachFoe(numSlots)}, -1.5 for no effect`, numSlots);
  row.number("defence_matchup", `log2 / 2 of the best multiplier of ${ofEachFoe(numSlots)}'s types against it, -1.5 for no effect`, numSlots);
  if (generation >= 2) {
    row.category("item", "item", "held item, 0 for none or unknown");
    row.number("item_known", own ? "1" : "1 if its item, or that it has none, is known");
    row.category("lost_item", "item", "last item that it was seen to lose or consume");
  }
  if (generation >= 3) {
    row.category("ability", "ability", "current ability, 0 for none or unknown");
    row.number("ability_known", "1 if the ability is known");
  }
  if (generation >= 9) {
    row.category("tera_type", "type", own ? "type of its Terastallization" : "type of its Terastallization, once shown");
    row.number("terastallized", "1 if it is terastallized");
  }
  return row;
}

/** @param {boolean} own @param {number} numSlots */
function moveRow(own, numSlots) {
  const row = new Row();
  row.category("move", "move", "the move, 0 for unknown or none");
  row.number("known", "1 if the row has a known move");
  row.category("type", "type", "its type; for Tera Blast, the Terastallization's");
  row.number("physical", "1 for a physical move");
  row.number("special", "1 for a special move; a status move is neither");
  row.number("power", "base power / 150, 0 for status moves and computed power");
  row.number("accuracy", "0 to 1; 1 also for moves that never miss");
  row.number("effectiveness", `log2 / 2 of the type chart's multiplier against ${ofEachFoe(numSlots)}, -1.5 for no effect; 0 for status moves`, numSlots);
  if (numSlots > 1) {
    row.number("spreads", "1 if it hits every opposing active Pokémon");
    row.number("hits_ally", "1 if it also hits the user's ally");
    row.number("at_own", "1 if it is for the user's ally, or for both");
  }
  row.number("stab", "1 if its type is one of the user's");
  row.number("priority", "priority / 5");
  row.number("pp", own ? "share of PP left" : "share of PP left, counted from the uses that were seen");
  row.number("usable", own ? "1 if it can be chosen now" : "1 if it is known and has PP left");
  return row;
}

/**
 * The state of an active Pokémon.
 * @param {Row} row
 * @param {string} prefix of the names
 * @param {string} who
 * @param {Numbers} numbers
 */
function slotFields(row, prefix, who, numbers) {
  row.number(`${prefix}boosts`, `boosts of ${who}: ${BOOSTS.join(", ")}, each / 6`, 7);
  for (const { id, description, longest } of numbers.volatiles.all) {
    row.number(`${prefix}${id}`, `${who}: ${description}${longest > 1 ? `; / ${longest}, at most 1` : ""}`);
  }
  row.category(`${prefix}last_move`, "move", `${who}: last move that it chose since it came in`);
  row.number(`${prefix}stalls`, `${who}: consecutive successes of Protect and similar moves / 6`);
  row.number(`${prefix}turns_active`, `${who}: turns on the field / 10, at most 1`);
}

/** What waits at a position. @param {Row} row @param {string} prefix @param {string} where @param {number} generation */
function waitingFields(row, prefix, where, generation) {
  if (generation >= 2) row.number(`${prefix}future_move`, `${where}: 1 if a Future Sight will hit it`);
  if (generation >= 3) row.number(`${prefix}wish`, `${where}: 1 if a Wish will heal it`);
}

/** @param {Row} row @param {string} side @param {Numbers} numbers */
function conditionFields(row, side, numbers) {
  for (const { id, layers, description } of numbers.conditions.all) {
    row.number(`${side}_side_${id}`, `${side} side: ${description}${layers > 1 ? `, / ${layers}` : ""}`);
    if (layers === 1 && !PERMANENT.has(id)) row.number(`${side}_side_${id}_turns`, `${side} side: turns since then / ${LONGEST_TURNS}, at most 1`);
  }
}

/** @param {Row} row @param {string} side @param {number} generation */
function countFields(row, side, generation) {
  row.number(`${side}_left`, `${side} side: Pokémon that have not fainted / 6`);
  if (generation === 6 || generation === 7) row.number(`${side}_used_mega`, `${side} side: 1 once it has used Mega Evolution`);
  if (generation === 7) row.number(`${side}_used_z_move`, `${side} side: 1 once it has used a Z-move`);
  if (generation === 8) row.number(`${side}_used_dynamax`, `${side} side: 1 once it has used Dynamax`);
  if (generation >= 9) row.number(`${side}_used_tera`, `${side} side: 1 once it has used Terastallization`);
}

/** Side conditions that last until they are removed. */
const PERMANENT = new Set(["stealthrock", "stickyweb", "gmaxsteelsurge"]);

/** What the request allows an own active Pokémon. @param {Row} row @param {number} generation */
function requestFields(row, generation) {
  row.number("trapped", "1 if the own active Pokémon certainly cannot switch");
  row.number("maybe_trapped", "1 if it may be trapped");
  if (generation === 6 || generation === 7) row.number("can_mega", "1 if it can use Mega Evolution now");
  if (generation === 7) row.number("can_z_move", "1 if it can use a Z-move now");
  if (generation === 8) row.number("can_dynamax", "1 if it can use Dynamax now");
  if (generation >= 9) row.number("can_tera", "1 if it can use Terastallization now");
}

/** An active slot in doubles. @param {import("../simulator/dex.js").DexInfo} dexInfo @param {boolean} own */
function activeRow(dexInfo, own) {
  const { generation } = dexInfo;
  const row = new Row();
  if (own) {
    row.number("force_switch", "1 if the request asks this slot for a switch");
    row.number("reviving", "1 if the request asks this slot for a fainted Pokémon to revive");
    row.number("commanding", "1 if its Pokémon is in the mouth of its ally, and passes");
    requestFields(row, generation);
  }
  slotFields(row, "", own ? "the own active Pokémon" : "the opposing active Pokémon", numbersFor(dexInfo));
  waitingFields(row, "", "this slot", generation);
  return row;
}

/** @param {import("../simulator/dex.js").DexInfo} dexInfo */
function fieldRow(dexInfo) {
  const { generation, numSlots } = dexInfo;
  const numbers = numbersFor(dexInfo);
  const row = new Row();
  row.number("turn", "turn / 100, at most 1");
  row.number("force_switch", "1 if the request asks for a switch");
  row.number("reviving", "1 if the request asks for a fainted Pokémon to revive");
  row.number("team_preview", numSlots === 1 ? "1 if the request asks for the leader" : "1 if the request asks for a team");
  if (numSlots === 1) requestFields(row, generation);
  if (generation >= 2) {
    row.number("weather", `one of ${WEATHERS.slice(1).join(", ")}`, WEATHERS.length - 1);
    row.number("weather_turns", `turns since then / ${LONGEST_TURNS}, at most 1`);
  }
  if (generation >= 6) {
    row.number("terrain", `one of ${TERRAINS.slice(1).join(", ")}`, TERRAINS.length - 1);
    row.number("terrain_turns", `turns since then / ${LONGEST_TURNS}, at most 1`);
  }
  for (const { id, description } of numbers.rooms.all) {
    row.number(`field_${id}`, `1 while ${description}`);
    row.number(`field_${id}_turns`, `turns since then / ${LONGEST_TURNS}, at most 1`);
  }
  for (const side of ["own", "opponent"]) {
    if (numSlots === 1) slotFields(row, `${side}_`, side === "own" ? "the own active Pokémon" : "the opposing active Pokémon", numbers);
    conditionFields(row, side, numbers);
    if (numSlots === 1) waitingFields(row, `${side}_`, `${side} side`, generation);
    countFields(row, side, generation);
  }
  return row;
}

/** @param {import("../simulator/dex.js").DexInfo} dexInfo @returns {Space} */
export function buildSpace(dexInfo) {
  const { generation, numSlots } = dexInfo;
  /** @type {Block[]} */
  const blocks = [];
  let offset = 0;
  /** @param {string} name @param {number} rows @param {Row} row */
  const add = (name, rows, row) => {
    blocks.push({ name, offset, rows, stride: row.size, fields: row.fields });
    offset += rows * row.size;
  };
  add("own", 6, pokemonRow(generation, true, numSlots));
  add("opponent", 6, pokemonRow(generation, false, numSlots));
  add("own_moves", 24, moveRow(true, numSlots));
  add("opponent_moves", 24, moveRow(false, numSlots));
  if (numSlots > 1) {
    add("own_active", numSlots, activeRow(dexInfo, true));
    add("opponent_active", numSlots, activeRow(dexInfo, false));
  }
  add("field", 1, fieldRow(dexInfo));
  const { species, moves, types, items, abilities } = dexInfo;
  const actions = numSlots === 1 ? actionNames(generation) : slotChoiceNames(generation);
  const names = [species, moves, types, items, abilities].map(({ ids }) => ids);
  const bare = JSON.stringify([blocks, actions, names], (key, value) => (key === "description" ? undefined : value));
  const content = createHash("sha256").update(bare).digest("hex").slice(0, 8);
  return {
    game: "showdown",
    format: dexInfo.formatId,
    // The digest distinguishes versions of the simulator's data, which number species and moves differently.
    version: `${LAYOUT_VERSION}-${content}`,
    observation_size: offset,
    num_actions: actions.length ** numSlots,
    actions,
    num_slots: /** @type {1 | 2} */ (numSlots),
    vocabularies: { species: species.size, move: moves.size, type: types.size, item: items.size, ability: abilities.size },
    blocks,
  };
}

/** @param {Block} block @param {string} name @returns {number} the field's offset within the row, -1 if the generation does not have it */
export function offsetOf(block, name) {
  return block.fields.find((field) => field.name === name)?.offset ?? -1;
}
