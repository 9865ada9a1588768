/** Comparing a client's token with the gateway's. */
import { createHash, timingSafeEqual } from "node:crypto";

/** @param {string} one @param {string} other @returns {boolean} found in a time that says nothing about the difference */
export function areEqual(one, other) {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(a, b);
}
