/** Random legal choices at next to no cost: what is measured beside them is the simulator. */

/** Choices by slot as constant strings, so that no decision builds one. */
const SLOTS = [1, 2, 3, 4, 5, 6];
const SWITCHES = SLOTS.map((slot) => `switch ${slot}`);
const LEADS = SLOTS.map((slot) => `team ${slot}`);
const MOVES = SLOTS.map((slot) => `move ${slot}`);
const MEGAS = SLOTS.map((slot) => `move ${slot} mega`);
const ULTRAS = SLOTS.map((slot) => `move ${slot} ultra`);
const Z_MOVES = SLOTS.map((slot) => `move ${slot} zmove`);
const DYNAMAXES = SLOTS.map((slot) => `move ${slot} dynamax`);
const TERAS = SLOTS.map((slot) => `move ${slot} terastallize`);

/** The kinds of target that a player chooses from, by the user's position in doubles. @type {Record<string, string[][]>} */
const TARGETS = {
  normal: [[" 1", " 2", " -2"], [" 1", " 2", " -1"]],
  any: [[" 1", " 2", " -2"], [" 1", " 2", " -1"]],
  adjacentFoe: [[" 1", " 2"], [" 1", " 2"]],
  adjacentAlly: [[" -2"], [" -1"]],
  adjacentAllyOrSelf: [[" -1", " -2"], [" -1", " -2"]],
};
const NO_TARGET = [[""], [""]];

/** Mulberry32: a small generator of uniform draws, so that choosing costs almost nothing. */
export class Draws {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** @param {number} limit @returns {number} uniform from 0 to limit - 1 */
  below(limit) {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}

/** @type {string[]} the current request's legal choices: the first `numLegal` elements; reused for every request */
const legal = [];
let numLegal = 0;

/** @param {string} choice */
function allow(choice) {
  legal[numLegal++] = choice;
}

/**
 * @param {any} request that asks for a choice
 * @param {Draws} draws
 * @returns {string} one of the legal choices, all equally likely
 */
export function randomChoice(request, draws) {
  numLegal = 0;
  const pokemon = request.side.pokemon;
  if (request.teamPreview) return LEADS[draws.below(pokemon.length)];
  const active = request.active?.[0];
  if (!active?.trapped) {
    const isReviving = pokemon[0].reviving;
    for (let slot = 1; slot < pokemon.length; slot++) {
      const isFainted = pokemon[slot].condition.endsWith(" fnt");
      if (isReviving ? isFainted : !isFainted) allow(SWITCHES[slot]);
    }
  }
  if (active) {
    const { moves, canZMove, canDynamax, maxMoves } = active;
    const canMega = active.canMegaEvo;
    for (let slot = 0; slot < moves.length; slot++) {
      // For a dynamaxed Pokémon, the max moves count: a move may be disabled and its max move not.
      const isDisabled = maxMoves && !canDynamax ? maxMoves.maxMoves[slot].disabled : moves[slot].disabled;
      if (canDynamax && !maxMoves.maxMoves[slot].disabled) allow(DYNAMAXES[slot]);
      if (canZMove?.[slot]) allow(Z_MOVES[slot]);
      if (isDisabled) continue;
      allow(MOVES[slot]);
      if (canMega) allow(MEGAS[slot]);
      if (active.canUltraBurst) allow(ULTRAS[slot]);
      if (active.canTerastallize) allow(TERAS[slot]);
    }
  }
  return legal[draws.below(numLegal)];
}

/**
 * @param {any} request of doubles that asks for a choice
 * @param {Draws} draws
 * @returns {string} a legal pair: each slot's choice is drawn from those that are legal beside the first one's
 */
export function randomPair(request, draws) {
  if (request.teamPreview) return randomLeads(request.side.pokemon.length, draws);
  const first = randomSlotChoice(request, 0, "", draws);
  return `${first}, ${randomSlotChoice(request, 1, first, draws)}`;
}

/** @param {number} numPokemon @param {Draws} draws @returns {string} */
function randomLeads(numPokemon, draws) {
  const first = draws.below(numPokemon);
  return `team ${first + 1}, ${(first + 1 + draws.below(numPokemon - 1)) % numPokemon + 1}`;
}

/**
 * @param {any} request
 * @param {number} position
 * @param {string} first choice of the other slot, if that one has chosen
 * @param {Draws} draws
 * @returns {string}
 */
function randomSlotChoice(request, position, first, draws) {
  numLegal = 0;
  const { pokemon } = request.side;
  const own = pokemon[position];
  const active = request.active?.[position];
  if (active ? own.condition.endsWith(" fnt") || own.commanding : !request.forceSwitch[position]) return "pass";
  if (!active?.trapped) {
    for (let slot = 2; slot < pokemon.length; slot++) {
      const isFainted = pokemon[slot].condition.endsWith(" fnt");
      if (isFainted === Boolean(own.reviving) && SWITCHES[slot] !== first) allow(SWITCHES[slot]);
    }
  }
  if (active) allowMoves(active, position, first);
  return numLegal ? legal[draws.below(numLegal)] : "pass";
}

/** @param {any} active of the request @param {number} position @param {string} first choice of the other slot */
function allowMoves({ moves, canMegaEvo, canUltraBurst, canZMove, canDynamax, canTerastallize, maxMoves }, position, first) {
  // A locked Pokémon has one move, without gimmick and target.
  if (moves[0].pp === undefined) return allow(MOVES[0]);
  const isDynamaxed = maxMoves && !canDynamax;
  for (let slot = 0; slot < moves.length; slot++) {
    /** @param {string} suffix @param {string | undefined} kind of target */
    const allowAimed = (suffix, kind) => {
      if (suffix && first.includes(suffix)) return;
      for (const target of (TARGETS[kind ?? ""] ?? NO_TARGET)[position]) allow(`${MOVES[slot]}${suffix}${target}`);
    };
    const maxMove = maxMoves?.maxMoves[slot];
    if (canDynamax && !maxMove.disabled) allowAimed(" dynamax", maxMove.target);
    if (canZMove?.[slot]) allowAimed(" zmove", canZMove[slot].target);
    if (isDynamaxed ? maxMove.disabled : moves[slot].disabled) continue;
    allowAimed("", isDynamaxed ? maxMove.target : moves[slot].target);
    if (canMegaEvo) allowAimed(" mega", moves[slot].target);
    if (canUltraBurst) allowAimed(" ultra", moves[slot].target);
    if (canTerastallize) allowAimed(" terastallize", moves[slot].target);
  }
}
