/** Variations of a battle: a tree of lines, each of which leaves another one at some step. */

/**
 * @typedef {object} Line
 * @property {any} record with all its steps, the ones before it left its parent too; or a logged battle
 * @property {number} parent place of the line that it leaves; -1 for the battle itself
 * @property {number} at number of the parent's steps before it leaves
 * @property {number} turn in which it leaves
 */

/** @param {any} record @returns {Line[]} the battle alone */
export const onlyLine = (record) => [{ record, parent: -1, at: 0, turn: 0 }];

/** @param {any[][]} one @param {any[][]} other @returns {number} how many steps are the same */
function numCommon(one, other) {
  const differs = one.findIndex((answers, i) => JSON.stringify(answers) !== JSON.stringify(other[i]));
  return differs < 0 ? one.length : differs;
}

/**
 * @param {Line[]} lines
 * @param {number} parent line that was played on from
 * @param {number[]} turns of its steps
 * @param {any} record
 * @returns {{lines: Line[], shown: number}} with the line, unless it differs from none of them
 */
export function withLine(lines, parent, turns, record) {
  const { steps, resigned } = record;
  const known = lines.findIndex(({ record: other }) => numCommon(steps, other.steps) === steps.length && (resigned === null || (resigned === other.resigned && steps.length === other.steps.length)));
  if (known >= 0) return { lines, shown: known };
  const at = numCommon(record.steps, lines[parent].record.steps);
  const turn = turns[at] ?? turns[turns.length - 1] ?? 0;
  return { lines: [...lines, { record, parent, at, turn }], shown: lines.length };
}

/** @param {Line[]} lines @returns {string[]} a name for each */
export function inWordsOf(lines) {
  return lines.map(({ record, parent, turn }, i) => (parent < 0 ? "1: the battle" : `${i + 1}: from turn ${turn} of line ${parent + 1}, ${record.players.join(" against ")}`));
}

/** @param {Line[]} lines @returns {any} the battle's record with its variations, as a file has them */
export function recordOf(lines) {
  const variations = lines.slice(1).map(({ record: { steps, players, resigned, helped }, parent, at, turn }) => ({ parent, at, turn, steps: steps.slice(at), players, resigned, helped }));
  return variations.length ? { ...lines[0].record, variations } : lines[0].record;
}

/**
 * @param {any} battle of the page's file, or a logged one
 * @param {(record: any) => any} read checks a whole record
 * @returns {Line[]}
 */
export function linesOf(battle, read) {
  const { variations = [], ...record } = battle;
  const lines = onlyLine(record);
  for (const { parent, at, turn, steps, players, resigned, helped } of variations) {
    const before = lines[parent]?.record.steps.slice(0, at);
    lines.push({ record: read({ ...record, log: "", steps: before.concat(steps), players, resigned, helped }), parent, at, turn });
  }
  return lines;
}
