/** Logs one JSON object a line to standard error; standard output is for the protocol. */

/**
 * @param {"info" | "warning" | "error"} level
 * @param {string} event what happened, in constant words
 * @param {Record<string, unknown>} [fields]
 */
export function log(level, event, fields = {}) {
  const line = { timestamp: new Date().toISOString(), level, event, pid: process.pid, ...fields };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
