// Plays a battle of the published simulator, and prints it as a server keeps it: log and input log. Arguments: folder of the gateway, format.
const { Battle } = require(process.argv[2] + "/node_modules/pokemon-showdown/dist/sim/battle.js");
const formatid = process.argv[3];
const battle = new Battle({ formatid, seed: "sodium,0123456789abcdef0123456789abcdef" });
battle.setPlayer("p1", { name: "Ann", seed: "sodium,11111111111111111111111111111111" });
battle.setPlayer("p2", { name: "Bob", seed: "sodium,22222222222222222222222222222222" });
while (!battle.ended) {
  for (const side of battle.sides) if (side.activeRequest && !side.activeRequest.wait) battle.choose(side.id, "default");
}
const log = battle.log.filter((_, at, all) => !all[at - 1]?.startsWith("|split|") && !all[at].startsWith("|split|"));
console.log(JSON.stringify({ id: formatid + "-1", formatid, uploadtime: 1700000000, log: log.join("\n"), inputLog: battle.inputLog }));
