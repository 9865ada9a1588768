/**
 * Plays battles of random teams and legal choices, which two trackers follow. The teams have any Pokémon of the format with
 * any moves, ability and item, legal or not: effects meet that meet in no team of a generator.
 */
import { ownLines } from "../../src/search/lines.js";
import { Battle, PRNG, simulatorSeed } from "../../src/simulator/package.js";
import { takeHalf } from "../../src/tracker/doubles/actions.js";
import { Tracker } from "../../src/tracker/tracker.js";

/** @typedef {import("../../src/simulator/dex.js").DexInfo} DexInfo */
/** @typedef {import("../../src/simulator/package.js").Battle} SimulatorBattle */
/** @typedef {InstanceType<typeof PRNG>} Generator */

/**
 * @typedef {object} Moment both seats have read their lines and requests, and have not chosen
 * @property {SimulatorBattle} battle
 * @property {Tracker[]} trackers by seat
 * @property {string[][]} lines by seat, all so far
 */

/**
 * @typedef {object} Witness
 * @property {(moment: Moment) => void} compare
 * @property {(moment: Moment, seat: number, choice: string, error: string) => void} refuse called for a choice that the tracker
 *   takes for legal, and the simulator refuses by what the seat could have known
 * @property {(moment: Moment, error: unknown) => void} crash called for an error that ends the battle
 */

/** Most steps of a battle; some never end. */
const MAX_STEPS = 150;
/** Most choices of one request that may be refused. */
const MAX_REFUSALS = 20;
/** Errors of choices that nobody could know to be illegal: the simulator corrects the request. */
const HIDDEN = /trapped|disabled/i;
/** Moves that end their user's part are rarer, so that a battle lasts: one of this many is kept. */
const FATAL_ODDS = 3;
const FATAL = new Set(["explosion", "selfdestruct", "memento", "healingwish", "lunardance", "finalgambit", "mistyexplosion"]);
/** Moves that no Pokémon has in a battle. */
const NEVER_OWN = new Set(["struggle", "sketch", "hiddenpower"]);
/** Hit points and defences: long battles show more. */
const EVS = { hp: 252, atk: 0, def: 128, spa: 0, spd: 128, spe: 0 };

/** @template T @param {Generator} prng @param {readonly T[]} from @returns {T} */
function draw(prng, from) {
  return from[prng.random(from.length)];
}

/** @param {DexInfo} dexInfo @param {Generator} prng @returns {any[]} six sets of different Pokémon */
export function randomTeam(dexInfo, prng) {
  const { dex } = dexInfo;
  const ids = dexInfo.species.ids.slice(1);
  /** @type {Map<string, any>} */
  const team = new Map();
  while (team.size < 6) {
    const species = dex.species.get(draw(prng, ids));
    if (species.battleOnly || species.isMega || species.isPrimal || team.has(species.baseSpecies)) continue;
    team.set(species.baseSpecies, {
      name: species.baseSpecies,
      species: species.name,
      gender: species.gender || "",
      item: randomItem(dexInfo, species, prng),
      ability: randomAbility(dexInfo, species, prng),
      moves: randomMoves(dexInfo, prng),
      // Return and Frustration both have power.
      happiness: 100,
      nature: "Serious",
      evs: EVS,
      level: 100,
      teraType: draw(prng, dex.types.names()),
    });
  }
  return [...team.values()];
}

/** @param {DexInfo} dexInfo @param {any} species @param {Generator} prng @returns {string} one that the forme needs, if it does */
function randomItem({ dex, items }, species, prng) {
  if (dex.gen === 1) return "";
  const needed = (species.requiredItems ?? []).filter((/** @type {string} */ name) => items.of(name) > 0);
  return draw(prng, needed.length > 0 ? needed : items.ids.slice(1));
}

/** @param {DexInfo} dexInfo @param {any} species @param {Generator} prng @returns {string} */
function randomAbility({ dex, abilities }, species, prng) {
  if (dex.gen < 3) return "No Ability";
  const own = /** @type {string[]} */ (Object.values(species.abilities));
  // A sole ability is public: the tracker takes it for known.
  return own.length === 1 || prng.random(2) ? draw(prng, own) : draw(prng, abilities.ids.slice(1));
}

/** @param {DexInfo} dexInfo @param {Generator} prng @returns {string[]} four ids */
function randomMoves({ dex, moves }, prng) {
  /** @type {Map<string, string>} by the simulator's id, which all types of Hidden Power share */
  const chosen = new Map();
  while (chosen.size < 4) {
    const id = draw(prng, moves.ids.slice(1));
    const move = dex.moves.get(id);
    const isFatal = FATAL.has(id) || Boolean(move.ohko);
    if (NEVER_OWN.has(id) || chosen.has(move.id) || (isFatal && prng.random(FATAL_ODDS))) continue;
    chosen.set(move.id, id);
  }
  return [...chosen.values()];
}

/**
 * @param {DexInfo} dexInfo
 * @param {number} seed
 * @param {Witness} witness
 * @param {(dexInfo: DexInfo, seat: number) => Tracker} trackerOf
 */
export function playBattle(dexInfo, seed, witness, trackerOf = (info, seat) => new Tracker(info, seat)) {
  const prng = new PRNG(simulatorSeed(seed.toString(16).padStart(16, "0")));
  const battle = new Battle({ formatid: /** @type {any} */ (dexInfo.formatId), seed: prng.getSeed(), send() {} });
  battle.setPlayer("p1", { name: "A", team: randomTeam(dexInfo, prng) });
  battle.setPlayer("p2", { name: "B", team: randomTeam(dexInfo, prng) });
  /** @type {Moment} */
  const moment = { battle, trackers: [trackerOf(dexInfo, 0), trackerOf(dexInfo, 1)], lines: [[], []] };
  try {
    playOn(moment, prng, witness);
  } catch (error) {
    // The next battles may show more.
    witness.crash(moment, error);
  }
  battle.destroy();
}

/** @param {Moment} moment at the begin of the battle @param {Generator} prng @param {Witness} witness */
function playOn(moment, prng, witness) {
  const { battle } = moment;
  let read = 0;
  for (let step = 0; step < MAX_STEPS && !battle.ended; step++) {
    const log = battle.log.slice(read);
    read = battle.sentLogPos = battle.log.length;
    battle.sentRequests = true;
    for (const [seat, tracker] of moment.trackers.entries()) {
      for (const line of ownLines(log, seat)) {
        moment.lines[seat].push(line);
        tracker.readLine(line);
      }
      readRequest(moment, seat);
    }
    witness.compare(moment);
    for (const seat of moment.trackers.keys()) choose(moment, seat, prng, witness);
    if (battle.allChoicesDone()) battle.commitChoices();
  }
}

/** @param {Moment} moment @param {number} seat */
function readRequest({ battle, trackers }, seat) {
  const request = battle.sides[seat].activeRequest;
  if (request) trackers[seat].readRequest(/** @type {any} */ (request));
}

/** @param {Moment} moment @param {number} seat @param {Generator} prng @param {Witness} witness */
function choose(moment, seat, prng, witness) {
  const side = moment.battle.sides[seat];
  const tracker = moment.trackers[seat];
  /** @type {Set<string>} */
  const refused = new Set();
  while (refused.size <= MAX_REFUSALS) {
    const legal = /** @type {[string, string][]} */ (Object.entries(/** @type {any} */ (tracker.state().choices)));
    const open = legal.filter(([, choice]) => !refused.has(choice));
    if (open.length === 0) break;
    const [action, choice] = drawChoice(prng, open);
    if (tracker.own.slots.length > 1 && takeHalf(tracker, Number(action))) continue;
    if (side.choose(choice) && side.isChoiceDone()) return;
    if (!HIDDEN.test(side.choice.error)) witness.refuse(moment, seat, choice, side.choice.error);
    refused.add(choice);
    readRequest(moment, seat);
  }
  if (refused.size > 0) throw new Error(`every choice was refused: ${side.choice.error}`);
}

/** @param {Generator} prng @param {[string, string][]} legal @returns {[string, string]} a move more often than a switch */
function drawChoice(prng, legal) {
  const moves = legal.filter(([, choice]) => choice.startsWith("move"));
  const others = legal.filter(([, choice]) => !choice.startsWith("move"));
  return draw(prng, moves.length > 0 && (others.length === 0 || prng.randomChance(6, 7)) ? moves : others);
}
