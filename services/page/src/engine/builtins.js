/** What the simulator and the encoder use of Node's own modules, for a browser. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** @param {any} one @param {any} other @returns {boolean} whether both hold the same */
export function isDeepStrictEqual(one, other) {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isDeepStrictEqual(one[key], other[key]));
}

/** As Node's, for sha256 and its digest in hex alone. */
export function createHash() {
  const hash = sha256.create();
  const self = {
    /** @param {string} text */
    update: (text) => (hash.update(utf8ToBytes(text)), self),
    digest: () => bytesToHex(hash.digest()),
  };
  return self;
}

export default {};
