/**
 * The ids that the simulator knows, by kind and by the generation that introduced them: what a log may name.
 *
 * Run: `node scripts/first_generations.js > ../nashdex_replays/first_generations.json`
 */
import { Dex, toID } from "../src/simulator/package.js";

/** What the simulator has of each kind, as `[id, generation]`. @returns {Record<string, [string, number][]>} */
function known() {
  /** @type {Record<string, [string, number][]>} */
  const found = {};
  for (const [kind, table] of Object.entries({ species: Dex.species, move: Dex.moves, item: Dex.items, ability: Dex.abilities })) {
    found[kind] = [];
    for (const entry of table.all()) {
      if (entry.gen < 1 || entry.isNonstandard === "Custom") continue;
      for (const name of [entry.name, .../** @type {any} */ (entry).cosmeticFormes ?? []]) found[kind].push([toID(name), entry.gen]);
    }
  }
  return found;
}

/** @returns {string} the table as text: ids of one generation in one line */
export function firstGenerations() {
  const kinds = Object.entries(known()).map(([kind, entries]) => {
    const lines = Array.from({ length: 9 }, (_, i) => {
      const ids = entries.filter(([, generation]) => generation === i + 1).map(([id]) => id).sort();
      return `    "${i + 1}": "${ids.join(" ")}"`;
    });
    return `  "${kind}": {\n${lines.join(",\n")}\n  }`;
  });
  return `{\n${kinds.join(",\n")}\n}\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) process.stdout.write(firstGenerations());
