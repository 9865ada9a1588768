/** Random choices for any request of the simulator, with any number of active Pokémon; the conformance audit plays with them. */

/** About two of three choices are moves: a battle without attacks does not end. */
const MOVE_ODDS = 3;
/** One of this many offers of Mega Evolution and the like is taken, so that it happens at any point of a battle. */
const GIMMICK_ODDS = 4;

/** @typedef {(limit: number) => number} Draw uniform from 0 to limit - 1 */

/**
 * @param {any} request that asks for a choice
 * @param {Draw} draw
 * @returns {string} a choice that is legal or almost legal: the simulator rejects some
 */
export function randomChoice(request, draw) {
  if (request.teamPreview) return leadOrder(request.side.pokemon.length, draw);
  const slots = request.forceSwitch ?? request.active;
  /** @type {Set<number>} places that an earlier slot switches to */
  const taken = new Set();
  return slots.map((/** @type {any} */ _, /** @type {number} */ slot) => slotChoice(request, slot, taken, draw)).join(", ");
}

/** @param {number} size @param {Draw} draw @returns {string} the whole team in a random order */
function leadOrder(size, draw) {
  const places = Array.from({ length: size }, (_, place) => place + 1);
  for (let place = size - 1; place > 0; place--) {
    const other = draw(place + 1);
    [places[place], places[other]] = [places[other], places[place]];
  }
  return `team ${places.join(", ")}`;
}

/**
 * @param {any} request
 * @param {number} slot
 * @param {Set<number>} taken
 * @param {Draw} draw
 * @returns {string}
 */
function slotChoice(request, slot, taken, draw) {
  const { pokemon } = request.side;
  const isReviving = Boolean(pokemon[slot]?.reviving);
  /** @type {number[]} */
  const bench = pokemon.flatMap((/** @type {any} */ { active, condition }, /** @type {number} */ place) =>
    active || taken.has(place) || condition.endsWith(" fnt") !== isReviving ? [] : [place],
  );
  if (request.forceSwitch) return request.forceSwitch[slot] && bench.length > 0 ? switchTo(bench, taken, draw) : "pass";
  if (pokemon[slot].condition.endsWith(" fnt")) return "pass";
  const active = request.active[slot];
  const usable = active.moves.flatMap((/** @type {any} */ { disabled }, /** @type {number} */ place) => (disabled ? [] : [place]));
  if (bench.length > 0 && !active.trapped && (usable.length === 0 || draw(MOVE_ODDS) === 0)) return switchTo(bench, taken, draw);
  if (usable.length === 0) return "default";
  const place = usable[draw(usable.length)];
  return `move ${place + 1}${target(active.moves[place].target, slot, request.active.length, draw)}${draw(GIMMICK_ODDS) === 0 ? gimmick(active, place, draw) : ""}`;
}

/**
 * @param {string} kind of the move's target
 * @param {number} slot of its user
 * @param {number} numSlots per side
 * @param {Draw} draw
 * @returns {string} the target, if the choice needs one
 */
function target(kind, slot, numSlots, draw) {
  if (numSlots === 1) return "";
  const foe = ` ${draw(numSlots) + 1}`;
  const ally = ` -${((slot + 1) % numSlots) + 1}`;
  switch (kind) {
    case "normal":
    case "any":
      return draw(4) === 0 ? ally : foe;
    case "adjacentFoe":
      return foe;
    case "adjacentAlly":
      return ally;
    case "adjacentAllyOrSelf":
      return draw(2) === 0 ? ally : ` -${slot + 1}`;
    default:
      return "";
  }
}

/** @param {number[]} bench @param {Set<number>} taken @param {Draw} draw */
function switchTo(bench, taken, draw) {
  const place = bench[draw(bench.length)];
  taken.add(place);
  return `switch ${place + 1}`;
}

/** @param {any} active @param {number} place of the move @param {Draw} draw @returns {string} one of the offered suffixes, or none */
function gimmick(active, place, draw) {
  const offered = [];
  if (active.canMegaEvo) offered.push(" mega");
  if (active.canMegaEvoX) offered.push(" megax");
  if (active.canMegaEvoY) offered.push(" megay");
  if (active.canUltraBurst) offered.push(" ultra");
  if (active.canZMove?.[place]) offered.push(" zmove");
  if (active.canDynamax) offered.push(" dynamax");
  if (active.canTerastallize) offered.push(" terastallize");
  return offered.length > 0 ? offered[draw(offered.length)] : "";
}
