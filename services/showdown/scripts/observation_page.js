/**
 * Prints docs/observation.md: `node scripts/observation_page.js > ../../docs/observation.md`. A test compares the two.
 */
import { pathToFileURL } from "node:url";
import { Encoder } from "../src/encoder/encoder.js";

/** Formats that share a layout stand together. */
const FORMATS = [["gen1randombattle", "gen1ou"], ["gen9randombattle"]];

const INTRODUCTION = `# The observation

What a policy sees at a decision: a row of numbers, written by the battle gateway's encoder from what its tracker
knows. The tracker follows the protocol's lines that the seat may see and the seat's own request, and nothing else
([docs/tracker.md](tracker.md)). This page is made from the encoder (\`node scripts/observation_page.js\` in \`services/showdown\`);
the handshake sends the same as data ([docs/gateway.md](gateway.md), "The space").

Blocks lie one after another, rows of a block likewise, fields of a row likewise. A *category* is an index into a
vocabulary, 0 for none or unknown; everything else is a number, scaled to about −1…1. What is unknown is marked as
such and never guessed: a row that says nothing is all zero, and where 0 would be a value, a \`known\` field tells.

Rows of \`own\` stand in the order of the team in the first request and never move; rows of \`opponent\` in the order of
appearance. Row 4·p + m of the moves is move m of Pokémon p. What clings to an active Pokémon and ends when it leaves
(boosts, volatiles) stands in \`field\`, once a side, because no other Pokémon can have it.

Actions are numbered as poke-env numbers those of singles: 0–5 switch to own row 0–5, 6–9 use the active Pokémon's
moves in the order of its rows, then by generation the same four with Mega Evolution, Z-move, Dynamax and
Terastallization. A single move that is none of its own (Struggle, a recharge) is action 6; in Team Preview, a switch
names the leader. The version is counted up by hand with the layout, and its digest changes with the simulator's data.
`;

/** @returns {string} the page */
export function layoutPage() {
  const parts = [INTRODUCTION];
  for (const formats of FORMATS) {
    const { space } = Encoder.forFormat(formats[0]);
    const vocabularies = Object.entries(space.vocabularies).map(([name, size]) => `${name} ${size}`);
    parts.push(
      `## ${formats.join(", ")}\n`,
      `Version \`${space.version}\`, ${space.observation_size} numbers, ${space.num_actions} actions ` +
        `(${space.actions.join(", ")}). Vocabularies: ${vocabularies.join(", ")}.\n`,
    );
    for (const block of space.blocks) {
      parts.push(
        `### ${formats[0]}: ${block.name}\n`,
        `From ${block.offset}, ${block.rows} ${block.rows === 1 ? "row" : "rows"} of ${block.stride}.\n`,
        "| offset | size | field | meaning |\n|---|---|---|---|",
        ...block.fields.map(
          ({ offset, size, name, vocabulary, description }) =>
            `| ${offset} | ${size} | \`${name}\` | ${vocabulary ? `*${vocabulary}*: ` : ""}${description} |`,
        ),
        "",
      );
    }
  }
  return `${parts.join("\n").trimEnd()}\n`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.stdout.write(layoutPage());
