/**
 * Makes the simulator faster without changing a battle; `nashdex bench conformance` compares the two. It wraps or replaces
 * methods of one version of the package, checks their source by a hash, and does nothing for any other version.
 */
import { createHash } from "node:crypto";
import { DISPATCH } from "./effects.js";
import { dispatchEventsFast } from "./events.js";
import { KINDS, lookUpFast } from "./lookups.js";
import { copyMovesFast } from "./moves.js";
import { makePlaces } from "./pokemon.js";
import { listPokemonFast } from "./requests.js";
import { takeTurnsFast } from "./turns.js";
import { log } from "../../log.js";
import { Battle, BattleQueue, Dex, Field, Pokemon, Side, simulatorVersion } from "../package.js";

/** The supported version, and a hash of the methods that the acceleration replaces or relies on. */
const KNOWN_VERSION = "0.11.11";
const KNOWN_SHAPE = "43eb7ee0ef94de15";

/** @returns {string} a hash of the source of all methods that are replaced or relied on */
function shape() {
  const battle = /** @type {any} */ (Battle.prototype);
  const dex = Object.getPrototypeOf(Dex);
  const copying = [dex.getActiveMove, /** @type {any} */ (Dex).deepClone];
  const lookingUp = [...KINDS, /** @type {const} */ ("formats")].map((kind) => Object.getPrototypeOf(/** @type {any} */ (Dex)[kind]).constructor);
  const dispatching = DISPATCH.map((name) => battle[name]);
  const methods = [...dispatching, ...copying, ...lookingUp, Pokemon, BattleQueue, Side, Field, battle.getRequests];
  const hash = createHash("sha256");
  for (const method of methods) hash.update(`${method}\n`);
  return hash.digest("hex").slice(0, 16);
}

/**
 * Accelerate all battles of this process, if the simulator is the known one.
 * @returns {boolean} whether it is
 */
export function accelerate() {
  const found = simulatorVersion === KNOWN_VERSION ? shape() : null;
  if (found !== KNOWN_SHAPE) {
    log("warning", "simulator not accelerated: unknown version or changed methods", {
      simulator: simulatorVersion,
      known: KNOWN_VERSION,
      ...(found === null ? {} : { shape: found, known_shape: KNOWN_SHAPE }),
    });
    return false;
  }
  makePlaces();
  dispatchEventsFast();
  lookUpFast();
  copyMovesFast();
  listPokemonFast();
  takeTurnsFast();
  return true;
}
