/** Puts a tracked position into a battle that has just begun: HP, statuses, boosts, volatiles, conditions. */

/** @typedef {any} State part of the tracker's state */

/** Turns that sleep lasts, by generation: first and last. The last entry serves later generations. */
const SLEEP = [[1, 7], [1, 7], [2, 7], [2, 5], [2, 5], [2, 4]];
/** Turns of Rest. */
const REST = [2, 2, 3];

/**
 * @param {any} battle
 * @param {any} pokemon
 * @param {State} known
 * @param {State} side the state of its side
 */
export function applyPokemon(battle, pokemon, known, side) {
  if (known.fainted) {
    if (!pokemon.fainted) pokemon.side.pokemonLeft--;
    pokemon.hp = 0;
    pokemon.fainted = true;
    pokemon.side.totalFainted++;
    return;
  }
  pokemon.hp = Math.max(1, Math.min(pokemon.maxhp, Math.round((pokemon.maxhp * known.hp) / known.max_hp)));
  if (known.status) applyStatus(battle, pokemon, known);
  const isTransformed = Boolean(known.volatiles.transformed);
  for (const move of isTransformed ? [] : known.moves) {
    const slot = pokemon.moveSlots.find((/** @type {any} */ { id }) => id === move.id || (move.id.startsWith("hiddenpower") && id === "hiddenpower"));
    if (slot) slot.pp = Math.min(move.pp, slot.maxpp);
  }
  if (known.item !== null && known.item !== pokemon.item) pokemon.item = known.item;
  if (known.item === "" || (known.item === null && known.lost_item)) pokemon.item = "";
  if (known.terastallized && known.tera) pokemon.terastallized = battle.dex.types.get(known.tera).name;
  if (side.used_tera) pokemon.canTerastallize = null;
  if (side.used_mega) pokemon.canMegaEvo = null;
}

/** @param {any} battle @param {any} pokemon @param {State} known */
function applyStatus(battle, pokemon, known) {
  const { gen } = battle;
  attempt(() => pokemon.setStatus(known.status, pokemon, null, true));
  if (pokemon.status !== known.status) {
    // An ability or a terrain of this world objects: the seat has seen the status.
    pokemon.status = known.status;
    pokemon.statusState = battle.initEffectState({ id: known.status, target: pokemon });
  }
  const { statusState } = pokemon;
  if (known.status === "slp") {
    const [first, last] = SLEEP[Math.min(gen, SLEEP.length - 1)];
    const whole = known.resting ? REST[Math.min(gen, REST.length - 1)] : draw(battle, Math.max(first, known.status_turns + 1), last);
    statusState.startTime = whole;
    statusState.time = Math.max(1, whole - known.status_turns);
    // For snapshots: the simulator does not keep what put a Pokémon to sleep.
    statusState.isResting = Boolean(known.resting);
  }
  if (known.status === "tox") {
    if (gen === 1) {
      attempt(() => pokemon.addVolatile("residualdmg"));
      if (pokemon.volatiles.residualdmg) pokemon.volatiles.residualdmg.counter = known.status_turns;
    } else {
      statusState.stage = known.status_turns;
    }
  }
}

/** @param {any} battle @param {number} first @param {number} last @returns {number} */
function draw(battle, first, last) {
  return first >= last ? Math.max(first, last) : battle.random(first, last + 1);
}

/**
 * Let turns pass for an effect that ends by itself; at least one is left.
 * @param {any} effect its state, or undefined if the battle does not have it
 * @param {"duration" | "time"} counter that runs down; an effect without it does not end
 * @param {number} turns
 */
function pass(effect, counter, turns) {
  if (effect?.[counter]) effect[counter] = Math.max(1, effect[counter] - turns);
}

/** Effects may rely on a past that this battle does not have. @param {() => void} apply */
function attempt(apply) {
  try {
    apply();
  } catch {
    // The world goes without this effect.
  }
}

/**
 * @param {any} side
 * @param {State} known
 * @param {number} turn
 */
export function applySide(side, known, turn) {
  const [source] = side.active;
  if (known.used_z_move) side.zMoveUsed = true;
  if (known.used_dynamax) side.dynamaxUsed = true;
  for (const [id, { layers, since }] of Object.entries(known.conditions)) {
    for (let layer = 0; layer < layers; layer++) attempt(() => side.addSideCondition(id, source));
    pass(side.sideConditions[id], "duration", turn - since);
  }
}

/** @param {any} battle @param {State} state */
export function applyField(battle, state) {
  const { field, sides } = battle;
  const source = sides[0].active[0];
  attempt(() => field.clearWeather());
  attempt(() => field.clearTerrain());
  if (state.weather) {
    attempt(() => field.setWeather(state.weather.id, source));
    pass(field.weatherState, "duration", state.turn - state.weather.since);
  }
  if (state.terrain) {
    attempt(() => field.setTerrain(state.terrain.id, source));
    pass(field.terrainState, "duration", state.turn - state.terrain.since);
  }
  for (const [id, since] of Object.entries(state.rooms)) {
    attempt(() => field.addPseudoWeather(id, source));
    pass(field.pseudoWeather[id], "duration", state.turn - Number(since));
  }
}

/** Tracked volatiles whose condition has another id in the simulator; null: not applied by itself. @type {Record<string, string | null>} */
const CONDITIONS = {
  transformed: null, recharge: "mustrecharge", charging: null, hidden: null, thrashing: null, binding: null, bound: null,
  perish: "perishsong", dynamax: null, fallen: null, saltcure: "saltcure", paradoxatk: null, paradoxdef: null, paradoxspa: null,
  paradoxspd: null, paradoxspe: null, trapped: null,
};
/** Volatiles with a counter `time` that runs down. */
const COUNTED = new Set(["confusion", "disable", "encore", "bide"]);

/**
 * @param {any} battle
 * @param {any} pokemon active
 * @param {any} foe active
 * @param {State} known
 */
export function applyVolatiles(battle, pokemon, foe, known) {
  if (pokemon.fainted) return;
  if (known.volatiles.transformed) transform(battle, pokemon, foe, known);
  else if (known.forme !== known.species) attempt(() => pokemon.formeChange(battle.dex.species.get(known.forme), null, false));
  if (known.ability && known.ability !== pokemon.ability) pokemon.ability = known.ability;
  const boosts = Object.fromEntries(Object.entries(pokemon.boosts).map(([stat, now]) => [stat, known.boosts[stat] - now]));
  attempt(() => pokemon.boostBy(boosts));
  for (const stat in pokemon.boosts) if (battle.gen > 1) pokemon.boosts[stat] = known.boosts[stat];
  if (known.last_move) {
    pokemon.lastMove = battle.dex.getActiveMove(known.last_move);
    if (battle.gen === 1) {
      pokemon.side.lastMove = pokemon.lastMove;
      pokemon.side.lastSelectedMove = pokemon.lastMove.id;
    }
  }
  pokemon.activeTurns = known.turns;
  const { volatiles } = known;
  for (const id of Object.keys(volatiles)) {
    const condition = id in CONDITIONS ? CONDITIONS[id] : id;
    if (condition === null) continue;
    attempt(() => pokemon.addVolatile(condition, foe));
    const state = pokemon.volatiles[condition];
    if (COUNTED.has(id)) pass(state, "time", volatiles[id] - 1);
    if (volatiles[id] > 1) pass(state, "duration", volatiles[id] - 1);
  }
  applyLocks(battle, pokemon, foe, known);
  for (let success = 0; success < known.stalls; success++) attempt(() => pokemon.addVolatile("stall"));
}

const CHOICE_ITEMS = new Set(["choiceband", "choicespecs", "choicescarf"]);

/** Moves that last for several turns, and items that allow one move. @param {any} battle @param {any} pokemon @param {any} foe @param {State} known */
function applyLocks(battle, pokemon, foe, known) {
  const { volatiles } = known;
  const move = known.last_move ? battle.dex.getActiveMove(known.last_move) : null;
  if (move && CHOICE_ITEMS.has(pokemon.item) && pokemon.hasMove(move.id)) {
    pokemon.volatiles.choicelock = battle.initEffectState({ id: "choicelock", name: "choicelock", target: pokemon, move: move.id });
  }
  if (volatiles.charging && known.prepared) {
    attempt(() => pokemon.addVolatile("twoturnmove", foe, battle.dex.getActiveMove(known.prepared)));
    if (volatiles.hidden && battle.gen === 1) attempt(() => pokemon.addVolatile("invulnerability"));
  }
  if (volatiles.thrashing && move) {
    attempt(() => pokemon.addVolatile("lockedmove", pokemon, move));
    pass(pokemon.volatiles.lockedmove, "time", volatiles.thrashing - 1);
    pass(pokemon.volatiles.lockedmove, "duration", volatiles.thrashing - 1);
  }
  if (battle.gen === 1) {
    if (volatiles.binding && move && !foe.fainted) {
      attempt(() => pokemon.addVolatile("partialtrappinglock", foe, move));
      pass(pokemon.volatiles.partialtrappinglock, "duration", volatiles.binding);
    }
  } else if (volatiles.bound && !foe.fainted) {
    attempt(() => pokemon.addVolatile("partiallytrapped", foe, battle.dex.getActiveMove("wrap")));
  }
  if (volatiles.trapped && !foe.fainted) attempt(() => pokemon.addVolatile("trapped", foe, battle.dex.getActiveMove("meanlook"), "trapper"));
}

/**
 * The original may have left, so the copied stats are the opposing Pokémon's only if that still looks the same.
 * @param {any} battle
 * @param {any} pokemon
 * @param {any} foe
 * @param {State} known
 */
function transform(battle, pokemon, foe, known) {
  const species = battle.dex.species.get(known.forme);
  attempt(() => pokemon.setSpecies(species, null, true));
  pokemon.transformed = true;
  if (foe.species.id === species.id) {
    for (const stat in pokemon.storedStats) {
      pokemon.storedStats[stat] = foe.storedStats[stat];
      if (pokemon.modifiedStats) pokemon.modifiedStats[stat] = foe.storedStats[stat];
    }
  }
  pokemon.moveSlots = known.moves.map((/** @type {any} */ { id, pp, max_pp: maxpp }) => {
    const move = battle.dex.moves.get(id);
    return { move: move.name, id: move.id, pp, maxpp, target: move.target, disabled: false, used: false, virtual: true };
  });
}
