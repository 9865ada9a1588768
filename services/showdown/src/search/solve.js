/**
 * A game in which a player does not know which of K worlds it is in and the opponent does: maximise the mean over worlds
 * of the value against the opponent's best answer in each. The player has one mixture, the opponent one for each world.
 * Regret matching+ with alternating updates and linear averaging (Tammelin et al., "Solving heads-up limit Texas
 * Hold'em", IJCAI 2015).
 */

/**
 * @param {number[][][]} payoffs by world, own choice and the opponent's choice; the opponents' choices may differ in number
 * @param {number} [iterations]
 * @returns {{mixture: number[], values: number[]}} the own mixture, and each own choice's value against the opponents' mixtures
 */
export function solveWorlds(payoffs, iterations = 400) {
  const num = payoffs[0].length;
  const regrets = new Float64Array(num);
  const sum = new Float64Array(num);
  const own = new Float64Array(num);
  const foes = payoffs.map((rows) => new Float64Array(rows[0].length));
  const foeRegrets = payoffs.map((rows) => new Float64Array(rows[0].length));
  const foeSums = payoffs.map((rows) => new Float64Array(rows[0].length));
  const values = new Float64Array(num);
  for (let iteration = 1; iteration <= iterations; iteration++) {
    match(regrets, own);
    for (let a = 0; a < num; a++) sum[a] += iteration * own[a];
    for (const [world, rows] of payoffs.entries()) {
      const costs = rows[0].map((_, b) => rows.reduce((total, row, a) => total + own[a] * row[b], 0));
      const foe = foes[world];
      match(foeRegrets[world], foe);
      const mean = costs.reduce((total, cost, b) => total + foe[b] * cost, 0);
      for (let b = 0; b < foe.length; b++) foeRegrets[world][b] = Math.max(0, foeRegrets[world][b] + mean - costs[b]);
      match(foeRegrets[world], foe);
      for (let b = 0; b < foe.length; b++) foeSums[world][b] += iteration * foe[b];
    }
    choiceValues(payoffs, foes, values);
    const mean = values.reduce((total, value, a) => total + own[a] * value, 0);
    for (let a = 0; a < num; a++) regrets[a] = Math.max(0, regrets[a] + values[a] - mean);
  }
  const answers = foeSums.map((weights) => {
    const total = weights.reduce((one, other) => one + other, 0);
    return weights.map((weight) => weight / total);
  });
  choiceValues(payoffs, answers, values);
  const total = sum.reduce((one, other) => one + other, 0);
  return { mixture: Array.from(sum, (weight) => weight / total), values: [...values] };
}

/** @param {number[][][]} payoffs @param {Float64Array[]} foes @param {Float64Array} values receives each own choice's mean value */
function choiceValues(payoffs, foes, values) {
  for (let a = 0; a < values.length; a++) {
    let total = 0;
    for (const [world, rows] of payoffs.entries()) {
      const row = rows[a];
      const foe = foes[world];
      for (let b = 0; b < foe.length; b++) total += foe[b] * row[b];
    }
    values[a] = total / payoffs.length;
  }
}

/** @param {Float64Array} regrets none negative @param {Float64Array} mixture receives the mixture in proportion to them */
function match(regrets, mixture) {
  let total = 0;
  for (const regret of regrets) total += regret;
  for (let at = 0; at < mixture.length; at++) mixture[at] = total > 0 ? regrets[at] / total : 1 / mixture.length;
}
