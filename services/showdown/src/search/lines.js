/** Which lines of a battle's log somebody sees. */

/**
 * @param {string[]} log
 * @param {number} seat -1: a spectator's, who sees nobody's secrets
 * @yields {string} lines, without wall-clock times
 */
export function* ownLines(log, seat) {
  for (let at = 0; at < log.length; at++) {
    if (!log[at].startsWith("|split|")) {
      if (!log[at].startsWith("|t:|")) yield log[at];
      continue;
    }
    const seen = log[at + (log[at] === `|split|p${seat + 1}` ? 1 : 2)];
    if (seen) yield seen;
    at += 2;
  }
}
