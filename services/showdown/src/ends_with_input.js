/**
 * Loaded before the stock server's own code, which does not read its standard input: kills the server's process group,
 * which it leads, once the input ends. The processes that it forks load this too and are killed with it.
 */
if (process.send === undefined) {
  process.stdin.on("end", () => process.kill(-process.pid, "SIGKILL"));
  process.stdin.resume();
  process.stdin.unref();
}
