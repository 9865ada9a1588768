/** Seeds and draws as nashdex derives them in Python (`nashdex.core.seeds`), so that the same seed gives the same battle. */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

const MASK = (1n << 64n) - 1n;

/** @param {bigint} root @param {...(string | number)} path names, and whole numbers @returns {bigint} a 64-bit seed */
export function deriveSeed(root, ...path) {
  const parts = path.map((part) => (typeof part === "number" ? `int:${part}` : `str:${part}`));
  const digest = sha256(utf8ToBytes([String(root), ...parts].join("\x1f")));
  return new DataView(digest.buffer, digest.byteOffset).getBigUint64(0, true);
}

/** @param {bigint} seed @returns {number} the draw in [0, 1) that it stands for */
export function seedUniform(seed) {
  return Number(seed >> 11n) * 2 ** -53;
}

/** @param {bigint} seed @param {number} counter @returns {number} the counter-th draw in [0, 1): splitmix64's finaliser */
export function uniform(seed, counter) {
  let state = (seed + BigInt(counter + 1) * 0x9e3779b97f4a7c15n) & MASK;
  state = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  state = ((state ^ (state >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return seedUniform(state ^ (state >> 31n));
}

/** @param {bigint} seed @returns {string} 16 hex digits */
export function hexSeed(seed) {
  return (seed & MASK).toString(16).padStart(16, "0");
}

/**
 * The seeds of a battle with a number, as `nashdex battle --seed ROOT` plays it.
 * @param {bigint} root
 * @param {number} number of the battle; 2p and 2p + 1 are a pair with the same teams, in which the players change seats
 * @returns {{seed: bigint, teamSeeds: [bigint, bigint]}}
 */
export function battleSeeds(root, number) {
  const pair = Math.floor(number / 2);
  const teamSeeds = /** @type {[bigint, bigint]} */ ([0, 1].map((side) => deriveSeed(root, "pair", pair, "team", side)));
  return { seed: deriveSeed(root, "battle", number), teamSeeds };
}
