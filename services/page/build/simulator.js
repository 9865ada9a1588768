/** An esbuild plugin that packs the simulator with the data of one format: it loads files by computed names. */
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { SIMULATOR, inSimulator } from "./trace.js";

const BUILTINS = fileURLToPath(new URL("../src/engine/builtins.js", import.meta.url));

/**
 * @param {string[]} files data files of the format, relative to the simulator's folder
 * @returns {import("esbuild").Plugin}
 */
export function simulator(files) {
  return {
    name: "simulator",
    setup(build) {
      build.onResolve({ filter: /^(node:)?(fs|path|util|v8|crypto|module|url)$/ }, () => ({ path: BUILTINS }));
      // Generators of teams use one file of the library; its index would load servers and databases.
      build.onResolve({ filter: /^(\.\.\/)+lib$/ }, () => ({ path: inSimulator("lib/utils.js") }));
      build.onResolve({ filter: /^format-data$/ }, () => ({ path: "format-data", namespace: "format-data" }));
      build.onLoad({ filter: /.*/, namespace: "format-data" }, () => ({ contents: dataModule(files), resolveDir: SIMULATOR }));
      build.onLoad({ filter: /showdown\/src\/simulator\/package\.js$/ }, ({ path }) => edited(path, statically));
      build.onLoad({ filter: /pokemon-showdown\/dist\/sim\/(dex|dex-formats|teams)\.js$/ }, ({ path }) => edited(path, byTable));
    },
  };
}

/** @param {string} path @param {(source: string) => string} edit */
async function edited(path, edit) {
  const source = await readFile(path, "utf8");
  const contents = edit(source);
  if (contents === source) throw new Error(`${path} has changed: the page's build does not know how it loads its files`);
  return { contents, resolveDir: dirname(path) };
}

/** `require` by literal names, which the bundler follows. @param {string} source */
const statically = (source) =>
  source
    .replace(/^import \{ createRequire \}.*$/m, "")
    .replace(/^const require = createRequire\(.*$/m, "");

/** Computed names become look-ups in the table of packed files. @param {string} source */
const byTable = (source) =>
  source
    .replace("const DATA_DIR = path.resolve(__dirname, \"../data\");", "const DATA_DIR = \"data\";")
    .replace("path.resolve(DATA_DIR, \"./mods\")", "\"data/mods\"")
    .replace("fs.readdirSync(MODS_DIR)", "require(\"format-data\").mods")
    .replace("require(filePath)", "require(\"format-data\").load(filePath)")
    .replace("require(`${DATA_DIR}/text/${name}`)", "require(\"format-data\").load(`data/text/${name}`)")
    .replace("require(path.resolve(DATA_DIR, \"aliases\"))", "require(\"format-data\").load(\"data/aliases\")")
    .replace("require(`${__dirname}/../config/custom-formats`)", "require(\"format-data\").load(\"config/custom-formats\")")
    .replace("require(`${__dirname}/../config/formats`)", "require(\"../config/formats\")")
    .replace(/require\(["`]\.\.\/(data\/[^"`]*)["`]\)/g, "require(\"format-data\").load(`$1`)");

/**
 * @param {string[]} files
 * @returns {string} a module with the files of a format. A file that the package has and the page has not is an error, never
 *   silently another generation's data.
 */
function dataModule(files) {
  const entries = files.map((file) => `${JSON.stringify(file.replace(/\.js$/, ""))}: () => require(${JSON.stringify(`./${file}`)}),`);
  return `
    const files = {${entries.join("\n")}};
    const missing = new Set(${JSON.stringify(absent(files))});
    exports.mods = ${JSON.stringify(readdirSync(inSimulator("data/mods")))};
    exports.load = (path) => {
      const file = files[path];
      if (file) return file();
      if (missing.has(path)) throw new Error("this page does not hold " + path + " of the simulator");
      throw Object.assign(new Error("no file " + path), { code: "MODULE_NOT_FOUND" });
    };`;
}

/** @param {string[]} files @returns {string[]} data files of the package that are left out, without their ending */
function absent(files) {
  const kept = new Set(files);
  const all = readdirSync(inSimulator("data"), { recursive: true, encoding: "utf8" });
  const paths = all.filter((path) => path.endsWith(".js")).map((path) => `data/${path.replaceAll("\\", "/")}`);
  return paths.filter((path) => !kept.has(path) && existsSync(inSimulator(path))).map((path) => path.replace(/\.js$/, ""));
}
