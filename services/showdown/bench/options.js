/** Options that the programs of this folder share. */

/** @param {string} name @param {string} text @param {number} least @returns {number} */
export function integerOption(name, text, least) {
  const value = Number(text);
  if (text === "" || !Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`--${name} is ${JSON.stringify(text)}: expected an integer of at least ${least}`);
  }
  return value;
}
