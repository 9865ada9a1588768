/**
 * Prints docs/reference/observation.md; `make docs` writes it and a test compares.
 */
import { pathToFileURL } from "node:url";
import { Encoder } from "../src/encoder/encoder.js";

/** Formats that share a layout are in one group. */
const FORMATS = [["gen1randombattle", "gen1ou"], ["gen9randombattle"]];

const INTRODUCTION = `# The observation

At each decision, a policy sees a row of numbers. The battle gateway's encoder writes it from the state of its tracker,
which reads only the protocol lines that the seat may see and the seat's own request ([tracker](tracker.md)).
\`make docs\` makes this page from the encoder; the handshake sends the same layout as data
([gateway](gateway.md), "The space").

Blocks follow one another without gaps, and so do the rows of a block and the fields of a row. A *category* is an index
into a vocabulary, 0 for none or unknown; every other value is a number, scaled to about −1…1. Unknown values are
marked, never guessed: an unknown row is all zero, and if 0 could also be a value, a \`known\` field distinguishes the two.

Rows of \`own\` keep the order of the team in the first request; rows of \`opponent\` are in the order of appearance. Row
4·p + m of the moves is move m of Pokémon p. State that an active Pokémon loses when it leaves (boosts, volatiles) is in
\`field\`, once per side, because no other Pokémon can have it.

Actions have poke-env's numbers for singles: 0–5 switch to own row 0–5, 6–9 use the active Pokémon's moves in the
order of its rows, then by generation the same four with Mega Evolution, Z-move, Dynamax and Terastallization. A single
move that is not its own (Struggle, a recharge) is action 6; in Team Preview, a switch names the leader. A developer
increases the version with each change of the layout; its digest changes with the simulator's data.
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
        `Offset ${block.offset}, ${block.rows} ${block.rows === 1 ? "row" : "rows"} of ${block.stride} numbers.\n`,
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
