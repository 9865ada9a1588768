/** Draws that depend on a seed and a counter alone, equal to those of `nashdex.core.seeds.uniforms`. */

const STEP = 0x9e3779b97f4a7c15n;
const FACTORS = [0xbf58476d1ce4e5b9n, 0x94d049bb133111ebn];

/** @param {bigint} number @returns {bigint} its low 64 bits */
const low64 = (number) => BigInt.asUintN(64, number);

/**
 * @param {bigint} seed of 64 bits
 * @param {number} counter from 0
 * @returns {number} a uniform draw in [0, 1), by splitmix64's finaliser
 */
export function uniform(seed, counter) {
  let state = low64(seed + BigInt(counter + 1) * STEP);
  state = low64((state ^ (state >> 30n)) * FACTORS[0]);
  state = low64((state ^ (state >> 27n)) * FACTORS[1]);
  state ^= state >> 31n;
  return Number(state >> 11n) * 2 ** -53;
}
