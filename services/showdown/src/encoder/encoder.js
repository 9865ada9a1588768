/** Writes a tracker's state into rows of a batch, by the layout of its format. It allocates nothing per row. */
import * as doubles from "../tracker/doubles/actions.js";
import { AT_OWN, DexInfo, HITS_ALLY, SPREADS } from "../simulator/dex.js";
import * as singles from "../tracker/actions.js";
import { ASKS_MOVE, ASKS_SWITCH, ASKS_TEAM, NOWHERE } from "../tracker/request.js";
import { numbersFor } from "../tracker/tracker.js";
import { LONGEST_TURNS, buildSpace, offsetOf } from "./layout.js";
import { fieldOffsets, moveOffsets, pokemonOffsets, requestOffsets, sideOffsets, slotOffsets } from "./offsets.js";

/** @typedef {import("../tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("../tracker/side.js").TrackedSide} TrackedSide */
/** @typedef {import("./layout.js").Block} Block */
/** @typedef {import("./layout.js").Space} Space */

const NUM_ROWS = 6;
const NUM_MOVES = 4;

/** Scales of the fields; the layout's descriptions name them. */
const NO_EFFECT = -1.5;
const LEVEL = 1 / 100;
const BASE_STAT = 1 / 255;
const STAT = 1 / 500;
const POWER = 1 / 150;
const PRIORITY = 1 / 5;
const STATUS_TURNS = 1 / 7;
const BOOST = 1 / 6;
const STALLS = 1 / 6;
const TURN = 1 / 100;
const TURNS_ACTIVE = 1 / 10;
const LEFT = 1 / 6;

/** @param {number} log2 of a multiplier */
const scaledEffect = (log2) => (log2 < -6 ? NO_EFFECT : log2 / 2);

/** @param {number} value */
const atMostOne = (value) => (value > 1 ? 1 : value);

export class Encoder {
  /** @type {Map<string, Encoder>} */
  static #byFormat = new Map();

  /**
   * @param {string} formatId
   * @returns {Encoder} one shared object per format
   * @throws {import("../simulator/package.js").UnknownFormat}
   */
  static forFormat(formatId) {
    let encoder = Encoder.#byFormat.get(formatId);
    if (!encoder) Encoder.#byFormat.set(formatId, (encoder = new Encoder(DexInfo.forFormat(formatId))));
    return encoder;
  }

  /** @param {DexInfo} dexInfo */
  constructor(dexInfo) {
    this.dexInfo = dexInfo;
    this.generation = dexInfo.generation;
    /** @type {Space} */
    this.space = buildSpace(dexInfo);
    const numbers = numbersFor(dexInfo);
    this.numSlots = dexInfo.numSlots;
    this.own = this.#layout("own", numbers);
    this.opponent = this.#layout("opponent", numbers);
    const field = this.#block("field");
    this.field = field;
    this.fieldAt = fieldOffsets(field);
    this.volatileScales = Float32Array.from(numbers.volatiles.all, ({ longest }) => 1 / longest);
    this.conditionScales = Float32Array.from(numbers.conditions.all, ({ layers }) => 1 / layers);
    this.roomOffsets = Int16Array.from(numbers.rooms.all, ({ id }) => offsetOf(field, `field_${id}`));
    this.numTypes = dexInfo.generation >= 6 ? 3 : 2;
    // Types of each row of both sides, three per row, written once per observation; and one row's legal actions.
    this.scratch = {
      own: new Uint8Array(3 * NUM_ROWS), opponent: new Uint8Array(3 * NUM_ROWS), one: new Uint8Array(3),
      legal: new Uint16Array(this.space.num_actions),
    };
  }

  /** @param {string} name @returns {Block} */
  #block(name) {
    return /** @type {Block} */ (this.space.blocks.find((block) => block.name === name));
  }

  /** @param {"own" | "opponent"} side @param {import("../tracker/tracker.js").Numbers} numbers */
  #layout(side, numbers) {
    const [block, moves, field] = [side, `${side}_moves`, "field"].map((name) => this.#block(name));
    // In singles, the only active slot is a part of the field.
    const slots = this.numSlots === 1 ? field : this.#block(`${side}_active`);
    return {
      block, at: pokemonOffsets(block), moves, moveAt: moveOffsets(moves), field: sideOffsets(field, side, numbers),
      slots, slotAt: slotOffsets(slots, this.numSlots === 1 ? `${side}_` : "", numbers), requestAt: requestOffsets(slots),
    };
  }

  /**
   * @param {Tracker} tracker
   * @param {Float32Array} observations
   * @param {number} at where the row begins; `space.observation_size` values are written
   */
  encode(tracker, observations, at) {
    observations.fill(0, at, at + this.space.observation_size);
    const { own, opponent } = tracker;
    const { scratch } = this;
    this.#types(own, scratch.own);
    this.#types(opponent, scratch.opponent);
    this.#side(tracker, own, this.own, scratch.own, opponent, scratch.opponent, observations, at);
    this.#side(tracker, opponent, this.opponent, scratch.opponent, own, scratch.own, observations, at);
    this.#slots(own, this.own, observations, at);
    this.#slots(opponent, this.opponent, observations, at);
    for (let p = 0; p < this.numSlots; p++) {
      this.#request(tracker, p, observations, at + this.own.slots.offset + p * this.own.slots.stride);
    }
    this.#field(tracker, observations, at + this.field.offset);
  }

  /**
   * @param {Tracker} tracker
   * @param {Uint16Array} legal
   * @param {number} at where to write the legal actions, ascending; there is room for `space.num_actions`
   * @returns {number} of them
   */
  legal(tracker, legal, at) {
    return (this.numSlots === 1 ? singles : doubles).writeLegal(tracker, legal, at);
  }

  /**
   * @param {Tracker} tracker
   * @param {number} action
   * @returns {string} the simulator's choice
   * @throws {RangeError} for an action that is not legal now
   */
  choice(tracker, action) {
    return (this.numSlots === 1 ? singles : doubles).choiceOf(tracker, action);
  }

  /**
   * @param {Tracker} tracker
   * @param {number} action
   * @returns {boolean} whether it was only the first half of a choice, which the tracker keeps: the same request asks again
   * @throws {RangeError} for an action that is not legal now
   */
  takesHalf(tracker, action) {
    return this.numSlots > 1 && doubles.takeHalf(tracker, action);
  }

  /** @param {TrackedSide} side @param {Uint8Array} types */
  #types(side, types) {
    const { one } = this.scratch;
    const num = Math.min(NUM_ROWS, side.pokemon.length);
    for (let row = 0; row < num; row++) {
      side.writeTypes(row, one);
      types[3 * row] = one[0];
      types[3 * row + 1] = one[1];
      types[3 * row + 2] = one[2];
    }
    for (let at = 3 * num; at < types.length; at++) types[at] = 0;
  }

  /**
   * @param {Tracker} tracker
   * @param {TrackedSide} side
   * @param {Encoder["own"]} layout
   * @param {Uint8Array} types of this side's rows
   * @param {TrackedSide} foes the other side
   * @param {Uint8Array} foeTypes of its rows
   * @param {Float32Array} out
   * @param {number} at where the observation begins
   */
  #side(tracker, side, layout, types, foes, foeTypes, out, at) {
    const { dexInfo } = this;
    const { pokemon } = side;
    const isOwn = side === tracker.own;
    const o = layout.at;
    const num = Math.min(NUM_ROWS, pokemon.length);
    let i = at + layout.block.offset;
    for (let row = 0; row < NUM_ROWS; row++, i += layout.block.stride) {
      if (row >= num) {
        if (row < side.teamSize) {
          out[i + o.present] = 1;
          out[i + o.hp] = 1;
        }
        continue;
      }
      const mon = pokemon[row];
      out[i + o.present] = 1;
      out[i + o.revealed] = isOwn && !mon.revealed ? 0 : 1;
      for (let p = 0; p < this.numSlots; p++) out[i + o.active + p] = row === side.slots[p].row ? 1 : 0;
      if (o.brought >= 0) out[i + o.brought] = (isOwn ? tracker.asks !== ASKS_TEAM && tracker.places[row] !== NOWHERE : mon.revealed) ? 1 : 0;
      if (o.leads >= 0) out[i + o.leads] = tracker.leads?.includes(row) ? 1 : 0;
      out[i + o.fainted] = mon.fainted ? 1 : 0;
      const species = side.speciesOf(row);
      out[i + o.species] = species;
      for (let t = 0; t < this.numTypes; t++) out[i + o.types + t] = types[3 * row + t];
      out[i + o.level] = mon.level * LEVEL;
      out[i + o.hp] = mon.fainted ? 0 : mon.hp / mon.maxHp;
      if (mon.status) {
        out[i + o.status + mon.status - 1] = 1;
        out[i + o.statusTurns] = atMostOne(mon.statusTurns * STATUS_TURNS);
        out[i + o.resting] = mon.resting;
      }
      for (let s = 0; s < 6; s++) out[i + o.baseStats + s] = dexInfo.baseStats[6 * species + s] * BASE_STAT;
      if (isOwn) for (let s = 0; s < 6; s++) out[i + o.stats + s] = mon.stats[s] * STAT;
      for (let p = 0; p < this.numSlots; p++) {
        const foe = foes.slots[p].row;
        if (foe < 0) continue;
        out[i + o.attack + p] = this.#bestEffect(types, 3 * row, foeTypes, 3 * foe);
        out[i + o.defence + p] = this.#bestEffect(foeTypes, 3 * foe, types, 3 * row);
      }
      if (this.generation >= 2) {
        out[i + o.item] = mon.item;
        out[i + o.itemKnown] = mon.itemKnown;
        out[i + o.lostItem] = mon.lostItem;
      }
      if (this.generation >= 3) {
        const ability = side.abilityOf(row);
        out[i + o.ability] = ability;
        out[i + o.abilityKnown] = ability ? 1 : 0;
      }
      if (this.generation >= 9) {
        out[i + o.tera] = mon.tera;
        out[i + o.terastallized] = mon.terastallized ? 1 : 0;
      }
      this.#moves(tracker, side, layout, row, types, foes, foeTypes, out, at);
    }
  }

  /**
   * @param {Uint8Array} attacking @param {number} a where its three types begin
   * @param {Uint8Array} defending @param {number} d
   * @returns {number} scaled effect of the best of the attacking types
   */
  #bestEffect(attacking, a, defending, d) {
    const { dexInfo } = this;
    let best = -1000;
    for (let t = 0; t < 3; t++) {
      const type = attacking[a + t];
      if (type === 0) continue;
      const effect = dexInfo.multiplier(type, defending[d], defending[d + 1], defending[d + 2]);
      if (effect > best) best = effect;
    }
    return best === -1000 ? 0 : scaledEffect(best);
  }

  /**
   * @param {Tracker} tracker
   * @param {TrackedSide} side
   * @param {Encoder["own"]} layout
   * @param {number} row
   * @param {Uint8Array} types
   * @param {TrackedSide} foes
   * @param {Uint8Array} foeTypes
   * @param {Float32Array} out
   * @param {number} at
   */
  #moves(tracker, side, layout, row, types, foes, foeTypes, out, at) {
    const { dexInfo } = this;
    const { moveType, moveCategory, movePower, moveAccuracy, movePriority, movePp, moveFlags } = dexInfo;
    const mon = side.pokemon[row];
    const slot = side.slotAt(row);
    const copied = slot?.hasMoves ? slot : null;
    const { moves, pp } = copied ?? mon;
    const num = copied ? copied.numMoves : mon.numMoves;
    const isOwn = side === tracker.own;
    const offer = isOwn && slot && tracker.asks === ASKS_MOVE ? tracker.offers[side.slots.indexOf(slot)] : null;
    const o = layout.moveAt;
    const { stride } = layout.moves;
    let i = at + layout.moves.offset + NUM_MOVES * row * stride;
    for (let m = 0; m < num; m++, i += stride) {
      const move = moves[m];
      const type = move === dexInfo.teraBlast && mon.terastallized ? mon.tera : moveType[move];
      const category = moveCategory[move];
      out[i + o.move] = move;
      out[i + o.known] = 1;
      out[i + o.type] = type;
      out[i + o.physical] = category === 1 ? 1 : 0;
      out[i + o.special] = category === 2 ? 1 : 0;
      out[i + o.power] = movePower[move] * POWER;
      out[i + o.accuracy] = moveAccuracy[move];
      out[i + o.priority] = movePriority[move] * PRIORITY;
      if (category !== 0) {
        for (let p = 0; p < this.numSlots; p++) {
          const foe = foes.slots[p].row;
          if (foe < 0) continue;
          out[i + o.effectiveness + p] = scaledEffect(
            dexInfo.multiplier(type, foeTypes[3 * foe], foeTypes[3 * foe + 1], foeTypes[3 * foe + 2]),
          );
        }
        out[i + o.stab] = this.#hasType(side, row, types, type) ? 1 : 0;
      }
      if (o.spreads >= 0) {
        out[i + o.spreads] = moveFlags[move] & SPREADS ? 1 : 0;
        out[i + o.hitsAlly] = moveFlags[move] & HITS_ALLY ? 1 : 0;
        out[i + o.atOwn] = moveFlags[move] & AT_OWN ? 1 : 0;
      }
      const full = copied ? copied.maxPp[m] : movePp[move];
      out[i + o.pp] = full ? atMostOne(pp[m] / full) : 0;
      out[i + o.usable] = isOwn ? (offer ? offer.usable[m] : 0) : pp[m] > 0 ? 1 : 0;
    }
  }

  /** @param {TrackedSide} side @param {number} row @param {Uint8Array} types @param {number} type */
  #hasType(side, row, types, type) {
    if (type === 0) return false;
    if (types[3 * row] === type || types[3 * row + 1] === type || types[3 * row + 2] === type) return true;
    const mon = side.pokemon[row];
    if (!mon.terastallized) return false;
    // A terastallized Pokémon keeps the bonus of its original types.
    const { speciesTypes } = this.dexInfo;
    return speciesTypes[2 * mon.species] === type || speciesTypes[2 * mon.species + 1] === type;
  }

  /** @param {Tracker} tracker @param {Float32Array} out @param {number} i where the row begins */
  #field(tracker, out, i) {
    const o = this.fieldAt;
    const { generation } = this;
    const { turn } = tracker;
    out[i + o.turn] = atMostOne(turn * TURN);
    out[i + o.forceSwitch] = tracker.asks === ASKS_SWITCH ? 1 : 0;
    out[i + o.reviving] = tracker.reviving ? 1 : 0;
    out[i + o.teamPreview] = tracker.asks === ASKS_TEAM ? 1 : 0;
    if (generation >= 2 && tracker.weather) {
      out[i + o.weather + tracker.weather - 1] = 1;
      out[i + o.weatherTurns] = this.#elapsed(turn - tracker.weatherSince);
    }
    if (generation >= 6 && tracker.terrain) {
      out[i + o.terrain + tracker.terrain - 1] = 1;
      out[i + o.terrainTurns] = this.#elapsed(turn - tracker.terrainSince);
    }
    for (let r = 0; r < this.roomOffsets.length; r++) {
      const since = tracker.roomSince[r];
      if (since === 0) continue;
      out[i + this.roomOffsets[r]] = 1;
      out[i + this.roomOffsets[r] + 1] = this.#elapsed(turn + 1 - since);
    }
    this.#sideField(tracker, tracker.own, this.own.field, out, i);
    this.#sideField(tracker, tracker.opponent, this.opponent.field, out, i);
  }

  /** @param {Tracker} tracker @param {number} position @param {Float32Array} out @param {number} i where the slot's row begins */
  #request({ request }, position, out, i) {
    const o = this.own.requestAt;
    const active = request?.active?.[position];
    if (o.commanding >= 0) {
      const entry = request?.side.pokemon[position];
      // A fainted Pokémon keeps its slot where nobody can replace it.
      if (entry?.condition?.endsWith(" fnt")) return;
      out[i + o.forceSwitch] = request?.forceSwitch?.[position] ? 1 : 0;
      out[i + o.reviving] = entry?.reviving ? 1 : 0;
      out[i + o.commanding] = entry?.commanding ? 1 : 0;
    }
    if (!active) return;
    out[i + o.trapped] = active.trapped ? 1 : 0;
    out[i + o.maybeTrapped] = active.maybeTrapped ? 1 : 0;
    if (o.canMega >= 0) out[i + o.canMega] = active.canMegaEvo ? 1 : 0;
    if (o.canZMove >= 0) out[i + o.canZMove] = active.canZMove ? 1 : 0;
    if (o.canDynamax >= 0) out[i + o.canDynamax] = active.canDynamax ? 1 : 0;
    if (o.canTera >= 0) out[i + o.canTera] = active.canTerastallize ? 1 : 0;
  }

  /** @param {TrackedSide} side @param {Encoder["own"]} layout @param {Float32Array} out @param {number} at where the observation begins */
  #slots(side, layout, out, at) {
    const o = layout.slotAt;
    let i = at + layout.slots.offset;
    for (let p = 0; p < this.numSlots; p++, i += layout.slots.stride) {
      const slot = side.slots[p];
      for (let b = 0; b < 7; b++) out[i + o.boosts + b] = slot.boosts[b] * BOOST;
      for (let v = 0; v < o.volatiles.length; v++) {
        if (slot.volatiles[v]) out[i + o.volatiles[v]] = atMostOne(slot.volatiles[v] * this.volatileScales[v]);
      }
      out[i + o.lastMove] = slot.lastMove;
      out[i + o.stalls] = slot.stalls * STALLS;
      out[i + o.turnsActive] = atMostOne(slot.turns * TURNS_ACTIVE);
      if (o.future >= 0) out[i + o.future] = side.futureTurns[p] ? 1 : 0;
      if (o.wish >= 0) out[i + o.wish] = side.wishTurns[p] ? 1 : 0;
    }
  }

  /** @param {number} turns */
  #elapsed(turns) {
    return atMostOne(turns / LONGEST_TURNS);
  }

  /** @param {Tracker} tracker @param {TrackedSide} side @param {Encoder["own"]["field"]} o @param {Float32Array} out @param {number} i */
  #sideField(tracker, side, o, out, i) {
    const { pokemon } = side;
    for (let c = 0; c < o.conditions.length; c++) {
      if (side.layers[c] === 0) continue;
      out[i + o.conditions[c]] = side.layers[c] * this.conditionScales[c];
      if (o.conditionTurns[c] >= 0) out[i + o.conditionTurns[c]] = this.#elapsed(tracker.turn - side.since[c]);
    }
    let left = this.numSlots === 1 ? side.teamSize : Math.min(side.teamSize, this.dexInfo.pickedTeamSize);
    for (let row = 0; row < pokemon.length; row++) if (pokemon[row].fainted) left--;
    out[i + o.left] = left * LEFT;
    if (o.usedMega >= 0) out[i + o.usedMega] = side.usedMega ? 1 : 0;
    if (o.usedZMove >= 0) out[i + o.usedZMove] = side.usedZMove ? 1 : 0;
    if (o.usedDynamax >= 0) out[i + o.usedDynamax] = side.usedDynamax ? 1 : 0;
    if (o.usedTera >= 0) out[i + o.usedTera] = side.usedTera ? 1 : 0;
  }
}
