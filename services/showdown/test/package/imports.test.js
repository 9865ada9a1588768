/** The package's layers: what each folder of `src` may import, and that nothing there imports what measures it. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const MAX_MODULES = 15;

/** Folders of `src`, and what each may import besides itself, `log.js` and npm packages. @type {Record<string, string[]>} */
const MAY_IMPORT = {
  simulator: [],
  tracker: ["simulator"],
  encoder: ["simulator", "tracker"],
  search: ["simulator", "tracker"],
  gateway: ["simulator", "tracker", "encoder", "search"],
};

const modules = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));

/** @param {string} file from `src` @returns {string[]} modules that it imports, from `src`; types do not count */
function importsOf(file) {
  const code = readFileSync(path.join(SOURCE, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const found = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\(|new URL\()\s*"(\.[^"]+\.js)"/g)];
  return found.map(([, target]) => path.join(path.dirname(file), target));
}

test("nothing that runs imports benchmarks, scripts or tests", () => {
  const outside = modules.flatMap((file) => importsOf(file).filter((target) => target.startsWith("..")).map((target) => `${file}: ${target}`));
  assert.deepEqual(outside, []);
  assert.ok(importsOf("gateway.js").length >= 3, "imports are found");
});

for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${folder} imports only ${[folder, ...allowed].join(", ")}`, () => {
    const inside = modules.filter((file) => file.startsWith(`${folder}/`));
    assert.ok(inside.length > 0);
    const refused = inside.flatMap((file) =>
      importsOf(file)
        .filter((target) => target !== "log.js" && ![folder, ...allowed].some((name) => target.startsWith(`${name}/`)))
        .map((target) => `${file}: ${target}`),
    );
    // A connection's process is started by its path, not imported.
    assert.deepEqual(refused, folder === "gateway" ? ["gateway/listen.js: gateway.js"] : []);
  });
}

test(`no folder has more than ${MAX_MODULES} modules`, () => {
  for (const folder of new Set(modules.map((file) => path.dirname(file)))) {
    const count = modules.filter((file) => path.dirname(file) === folder).length;
    assert.ok(count <= MAX_MODULES, `${folder} has ${count} modules`);
  }
});
