/**
 * Worlds: battles that a seat cannot tell from the one that it plays. A world is made from the seat's tracker and request
 * alone, so nothing of the real battle that the seat has not seen can be in it. What is hidden is drawn: the opponent's
 * unseen Pokémon, moves, items and abilities, and how long sleep and confusion will last.
 */
import { Battle, PRNG, simulatorSeed } from "../simulator/package.js";
import { play } from "./choices.js";
import { silence } from "./clone.js";
import { evenSpread } from "./prior.js";
import { applyPokemon, applySide, applyField, applyVolatiles } from "./positions.js";

/** @typedef {import("../tracker/tracker.js").Tracker} Tracker */
/** @typedef {import("./prior.js").Prior} Prior */
/** @typedef {import("./prior.js").Seen} Seen */
/** @typedef {import("../simulator/package.js").Battle} LiveBattle */
/** @typedef {any} State the tracker's state, see tracker/state.js */

/** @type {["p1", "p2"]} */
const SIDE_IDS = ["p1", "p2"];

/** The seat's position cannot be rebuilt. */
export class NoWorld extends Error {}

/**
 * @param {State} pokemon
 * @returns {Seen}
 */
function seenOf(pokemon) {
  return {
    species: pokemon.species,
    level: pokemon.level,
    gender: pokemon.gender,
    // Copied moves belong to another.
    moves: pokemon.volatiles.transformed ? [] : pokemon.moves.map((/** @type {any} */ move) => move.id),
    item: pokemon.item || (pokemon.lost_item ? pokemon.lost_item : pokemon.item),
    ability: pokemon.base_ability,
    tera: pokemon.tera,
  };
}

/**
 * @param {State} pokemon an own one
 * @param {any} entry its entry in the request
 * @param {any} dex
 * @param {any} [drawn] a set that fits what is known of it, for what the request does not say
 * @returns {any} its set; `known` has the exact stats, which EVs would only approximate
 */
function ownSet(pokemon, entry, dex, drawn) {
  const moves = entry.moves.length > 0 && !pokemon.volatiles.transformed ? entry.moves : pokemon.moves.map((/** @type {any} */ move) => move.id);
  const species = dex.species.get(pokemon.species);
  return {
    name: entry.ident.slice(4),
    species: species.name,
    level: pokemon.level,
    gender: pokemon.gender,
    moves: [...(drawn?.moves ?? moves)],
    ability: entry.baseAbility ?? drawn?.ability ?? "",
    item: entry.item ?? drawn?.item ?? "",
    teraType: entry.teraType ?? drawn?.teraType,
    ...evenSpread(dex),
    known: { baseStats: species.baseStats, stats: { ...pokemon.stats } },
  };
}

/** @this {any} @param {any} baseStats @param {any} set */
function spreadModify(baseStats, set) {
  if (set.known && set.known.baseStats === baseStats) return { ...set.known.stats };
  return Battle.prototype.spreadModify.call(this, baseStats, set);
}

/** Makes worlds of one seat's position. */
export class Worlds {
  /**
   * @param {Tracker} tracker whose request asks for a choice
   * @param {Prior} prior
   * @param {any} dex
   * @param {number | null} [ownSize] Pokémon of the seat's team, if its request comes from a log, which need not show them all and all of
   *   their moves: the rest is drawn too
   */
  constructor(tracker, prior, dex, ownSize = null) {
    this.request = /** @type {any} */ (tracker.request);
    if (!this.request) throw new NoWorld("the seat has no request");
    this.prior = prior;
    this.dex = dex;
    this.ownSize = ownSize;
    this.state = /** @type {State} */ (tracker.state());
    this.seat = tracker.seat;
    this.formatId = tracker.dexInfo.formatId;
    this.listed = this.request.side.pokemon;
    /** Own rows in the request's order, which the choices' numbers follow. */
    this.rows = [...tracker.places].map((place, row) => ({ place, row })).filter(({ place, row }) => place < this.listed.length && row < this.state.own.pokemon.length)
      .sort((one, other) => one.place - other.place).map(({ row }) => row);
    if (this.rows.length !== this.listed.length) throw new NoWorld("the request lists Pokémon that the tracker does not know");
  }

  /**
   * @param {string} seed 16 hex digits
   * @param {{isSilent?: boolean}} [options] whether it writes no log from the beginning
   * @returns {LiveBattle} a battle that waits for the same decision
   */
  draw(seed, { isSilent = true } = {}) {
    const { state, seat } = this;
    const prng = new PRNG(simulatorSeed(seed));
    const own = this.#own(prng);
    const foes = this.#opponents(prng);
    const battle = /** @type {any} */ (new Battle({ formatid: /** @type {any} */ (this.formatId), prng }));
    if (isSilent) silence(battle);
    battle.spreadModify = spreadModify;
    const teams = seat === 0 ? [own, foes.sets] : [foes.sets, own];
    SIDE_IDS.forEach((side, index) => battle.setPlayer(side, { name: `Player ${index + 1}`, team: teams[index] }));
    if (state.team_preview) return battle;
    if (battle.requestState === "teampreview") play(battle, ["default", "default"]);
    this.#arrange(battle, foes.rows);
    return battle;
  }

  /** @param {InstanceType<typeof PRNG>} prng @returns {any[]} the seat's sets, in the request's order, then those that a log never shows */
  #own(prng) {
    const { own } = this.state;
    const seen = this.rows.map((row) => own.pokemon[row]);
    const drawn = this.ownSize === null ? [] : this.prior.draw(seen.map(seenOf), this.ownSize, prng);
    const sets = seen.map((pokemon, place) => ownSet(pokemon, this.listed[place], this.dex, drawn[place]));
    return [...sets, ...drawn.slice(seen.length).map((set) => ({ ...set, evs: { ...set.evs }, ivs: { ...set.ivs } }))];
  }

  /** @param {InstanceType<typeof PRNG>} prng @returns the opponent's sets, its active Pokémon first, with their rows or -1 */
  #opponents(prng) {
    const { opponent } = this.state;
    const rows = opponent.pokemon.map((/** @type {any} */ _, /** @type {number} */ row) => row);
    if (opponent.active > 0) rows.unshift(...rows.splice(opponent.active, 1));
    const seen = rows.map((/** @type {number} */ row) => seenOf(opponent.pokemon[row]));
    const sets = this.prior.draw(seen, opponent.team_size, prng);
    // Lines name a Pokémon by its nickname.
    rows.forEach((/** @type {number} */ row, /** @type {number} */ at) => (sets[at] = { ...sets[at], name: opponent.pokemon[row].name || sets[at].name }));
    // Copies, because a battle changes the sets that it is given.
    return { sets: sets.map((set) => ({ ...set, evs: { ...set.evs }, ivs: { ...set.ivs } })), rows: sets.map((_, at) => rows[at] ?? -1) };
  }

  /** @param {any} battle that has just begun @param {number[]} foeRows */
  #arrange(battle, foeRows) {
    const { state, seat } = this;
    const [own, foe] = [battle.sides[seat], battle.sides[1 - seat]];
    const order = [this.rows, foeRows];
    for (const [at, side] of [own, foe].entries()) {
      const known = at === 0 ? state.own : state.opponent;
      side.pokemon.forEach((/** @type {any} */ pokemon, /** @type {number} */ place) => {
        const row = order[at][place];
        if (row >= 0) applyPokemon(battle, pokemon, known.pokemon[row], known);
      });
      applySide(side, known, state.turn);
    }
    applyField(battle, state);
    if (state.own.active >= 0) applyVolatiles(battle, own.active[0], foe.active[0], state.own.pokemon[state.own.active]);
    if (state.opponent.active >= 0) applyVolatiles(battle, foe.active[0], own.active[0], state.opponent.pokemon[state.opponent.active]);
    battle.queue.clear();
    if (state.force_switch) {
      battle.turn = state.turn;
      battle.midTurn = true;
      own.active[0].switchFlag = true;
      if (foe.active[0].fainted) foe.active[0].switchFlag = true;
      battle.makeRequest("switch");
    } else {
      battle.turn = state.turn - 1;
      battle.midTurn = false;
      battle.endTurn();
      this.#disable(battle, own.active[0]);
    }
  }

  /**
   * Allow the own moves that the real request allows, whatever forbids the others.
   * @param {any} battle
   * @param {any} pokemon the own active one
   */
  #disable(battle, pokemon) {
    const offered = this.request.active?.[0]?.moves ?? [];
    const { moveSlots } = pokemon;
    const isSame = offered.length === moveSlots.length && moveSlots.every((/** @type {any} */ slot, /** @type {number} */ at) => offered[at].id.startsWith(slot.id));
    if (!isSame || moveSlots.every((/** @type {any} */ slot, /** @type {number} */ at) => Boolean(slot.disabled) === Boolean(offered[at].disabled))) return;
    moveSlots.forEach((/** @type {any} */ slot, /** @type {number} */ at) => (slot.disabled = Boolean(offered[at].disabled)));
    battle.makeRequest("move");
  }
}
