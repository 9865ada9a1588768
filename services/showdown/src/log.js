/** Logs: one JSON object a line on standard error. Standard output belongs to the protocol. */

/**
 * @param {"info" | "warning" | "error"} level
 * @param {string} event what happened, in words that stay the same
 * @param {Record<string, unknown>} [fields]
 */
export function log(level, event, fields = {}) {
  const line = { timestamp: new Date().toISOString(), level, event, pid: process.pid, ...fields };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
