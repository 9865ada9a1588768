/**
 * What a position is worth to a seat, from −1 (lost) to 1 (won): Pokémon left, their HP and statuses, boosts, what lies on
 * either side, and what the active Pokémon are about to do to each other. The weights are in units of one healthy Pokémon.
 */

import { statOf, threat } from "./damage.js";

/** @typedef {import("../simulator/package.js").Battle} Battle */

/** Worth of a Pokémon that has not fainted, however hurt; its HP are the rest. */
const ALIVE = 0.3;
/** Share of a Pokémon's worth that a status takes. */
const STATUS = /** @type {Record<string, number>} */ ({ slp: 0.35, frz: 0.6, par: 0.22, brn: 0.18, psn: 0.1, tox: 0.2 });
/** Worth of one stage. */
const BOOST = /** @type {Record<string, number>} */ ({ atk: 0.09, def: 0.06, spa: 0.09, spd: 0.06, spe: 0.08, accuracy: 0.06, evasion: 0.08 });
const MOST_BOOST = 0.45;
/** Worth of an active Pokémon's conditions. */
const VOLATILE = /** @type {Record<string, number>} */ ({
  substitute: 0.15, reflect: 0.12, lightscreen: 0.08, focusenergy: 0.02, aquaring: 0.05, ingrain: 0.03,
  confusion: -0.1, leechseed: -0.12, mustrecharge: -0.2, partiallytrapped: -0.1, curse: -0.2, nightmare: -0.1,
  perishsong: -0.15, yawn: -0.15, taunt: -0.05, encore: -0.1, attract: -0.1, saltcure: -0.15,
});
/** Worth of a layer on the own side, for each Pokémon that could still come in. */
const HAZARD = /** @type {Record<string, number>} */ ({ spikes: -0.03, stealthrock: -0.04, toxicspikes: -0.03, stickyweb: -0.03 });
const SCREEN = /** @type {Record<string, number>} */ ({ reflect: 0.12, lightscreen: 0.12, auroraveil: 0.2, tailwind: 0.1, safeguard: 0.03 });
/** A lead of this many healthy Pokémon is worth tanh(1) = 0.76. */
const SCALE = 2.5;

/** Part of the damage of the turn to come that counts: either side may still switch. */
const OUTLOOK = 0.5;
/** Share of turns in which a Pokémon of this status acts. */
const ACTS = /** @type {Record<string, number>} */ ({ slp: 0.2, frz: 0.05, par: 0.75 });
/** Estimated share of HP above which a hit is counted as the last. */
const LAST_HIT = 0.85;

/** @param {any} battle @param {any} user @param {any} target @returns {number} share of the target's HP that the next turn takes */
function nextHit(battle, user, target) {
  if (user.volatiles.mustrecharge || user.volatiles.partiallytrapped) return 0;
  return threat(battle, user, target) * (ACTS[user.status] ?? 1);
}

/** @param {any} pokemon @param {number} hit share of its HP @returns {number} what the hit takes of its worth */
function loss(pokemon, hit) {
  return (1 - ALIVE) * (pokemon.hp / pokemon.maxhp) * hit + (hit >= LAST_HIT ? ALIVE * hit : 0);
}

/** @param {any} battle @param {any} own active @param {any} foe active @returns {number} what the next turn is worth, by moves alone */
function outlook(battle, own, foe) {
  if (!own || !foe || own.hp <= 0 || foe.hp <= 0) return 0;
  let hit = nextHit(battle, own, foe);
  let hurt = nextHit(battle, foe, own);
  // Whoever faints first does not strike.
  const lead = statOf(own, "spe") - statOf(foe, "spe");
  if (lead > 0 && hit >= LAST_HIT) hurt *= 1 - hit;
  if (lead < 0 && hurt >= LAST_HIT) hit *= 1 - hurt;
  return OUTLOOK * (loss(foe, hit) - loss(own, hurt));
}

/** @param {any} side @returns {number} */
function worth(side) {
  let sum = 0;
  let bench = -1;
  for (const pokemon of side.pokemon) {
    if (pokemon.fainted || pokemon.hp <= 0) continue;
    bench++;
    let value = ALIVE + ((1 - ALIVE) * pokemon.hp) / pokemon.maxhp;
    if (pokemon.status) value *= 1 - (STATUS[pokemon.status] ?? 0);
    sum += value;
  }
  const active = side.active[0];
  if (active && !active.fainted && active.hp > 0) {
    let bonus = 0;
    for (const stat in active.boosts) bonus += active.boosts[stat] * BOOST[stat];
    bonus = Math.max(-MOST_BOOST, Math.min(MOST_BOOST, bonus));
    for (const id in active.volatiles) bonus += VOLATILE[id] ?? 0;
    // The bonus is of little use to a Pokémon that is about to faint.
    sum += bonus * (0.3 + (0.7 * active.hp) / active.maxhp);
  }
  for (const id in side.sideConditions) {
    const layers = side.sideConditions[id].layers ?? 1;
    sum += (HAZARD[id] ?? 0) * layers * Math.max(0, bench) + (SCREEN[id] ?? 0);
  }
  return sum;
}

/**
 * @param {Battle} battle
 * @param {number} seat
 * @returns {number}
 */
export function valueOf(battle, seat) {
  if (battle.ended) {
    const { winner } = battle;
    return winner ? (winner === battle.sides[seat].name ? 1 : -1) : 0;
  }
  const [own, foe] = [battle.sides[seat], battle.sides[1 - seat]];
  return 0.98 * Math.tanh((worth(own) - worth(foe) + outlook(battle, own.active[0], foe.active[0])) / SCALE);
}
