// Give the links to embedded pages their content. Nothing is fetched.
const pages = JSON.parse(document.getElementById("replay-pages").textContent);
for (const link of document.querySelectorAll("a[data-page]")) {
  link.href = URL.createObjectURL(new Blob([pages[link.dataset.page]], { type: "text/html" }));
}
// The board is one page for all battles: each link's page is its two halves with the battle between them.
const board = document.getElementById("board");
if (board) {
  const [before, after] = JSON.parse(board.textContent).map((half) => new Blob([half]));
  for (const link of document.querySelectorAll("a[data-board]")) {
    const battle = JSON.stringify(pages[link.dataset.board]).replaceAll("<", "\\u003c");
    link.href = URL.createObjectURL(new Blob([before, battle, after], { type: "text/html" }));
  }
}
// Where the report's parts are beside the page, no link has its numbers.
const numbers = document.getElementById("report-json")?.textContent;
for (const link of document.querySelectorAll("a[data-numbers]")) {
  link.href = URL.createObjectURL(new Blob([numbers], { type: "application/json" }));
}

// Printing does not unfold anything by itself.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details.table")) folded.open = true;
});

// The line above the heat map shows the numbers of the cell under the pointer or under the keyboard's focus.
const readout = document.querySelector(".readout");
const rows = [...document.querySelectorAll("table.matrix tbody tr")].map((row) => [...row.querySelectorAll("td")]);
const names = rows.map((row) => row[0].parentElement.querySelector("th").lastChild.textContent.trim());
function show(cell) {
  const y = rows.findIndex((row) => row.includes(cell));
  if (y >= 0) readout.textContent = cell.title ? `${names[y]} against ${names[rows[y].indexOf(cell)]}: ${cell.title}` : names[y];
}
const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
for (const cell of rows.flat()) cell.tabIndex = -1;
if (rows.length) rows[0][0].tabIndex = 0;
const matrix = document.querySelector("table.matrix tbody");
let pointed = "";
matrix.addEventListener("mouseover", (event) => {
  const place = `${event.clientX} ${event.clientY}`;
  // Ignore cells that scroll past a resting pointer.
  if (place !== pointed) show(event.target.closest("td"));
  pointed = place;
});
matrix.addEventListener("focusin", (event) => show(event.target.closest("td")));
matrix.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td"), move = moves[event.key];
  if (event.key === "Enter" && event.target === cell) cell.querySelector("a")?.click();
  if (!cell || !move) return;
  event.preventDefault();
  const y = rows.findIndex((row) => row.includes(cell)), next = rows[y + move[0]]?.[rows[y].indexOf(cell) + move[1]];
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

// Every pair of policies, one point each. The numbers are in this page, or in a script beside it that calls this function.
function reportCells(found) {
  const size = found.policies.length, exact = found.exact.length > 0;
  const place = (i, j) => (i * (2 * size - i - 1)) / 2 + j - i - 1;
  function cell(row, column) {
    const k = row < column ? place(row, column) : place(column, row), sign = row < column ? 1 : -1;
    if (exact) return { strength: sign * found.exact[k], text: (sign * found.exact[k]).toPrecision(4) };
    const [wins, losses] = sign > 0 ? [found.wins[k], found.losses[k]] : [found.losses[k], found.wins[k]];
    const [low, high] = sign > 0 ? [found.low[k], found.high[k]] : [1 - found.high[k], 1 - found.low[k]];
    const games = wins + found.draws[k] + losses;
    if (!games) return { strength: 0, text: "not played" };
    const score = (wins + found.draws[k] / 2) / games;
    return {
      strength: 2 * score - 1,
      text: `${score.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}): ${wins} wins, ${found.draws[k]} draws, ${losses} losses in ${games} battles, as sure as ${found.effective_battles[k].toFixed(0)} independent ones`,
    };
  }
  const sizes = found.exact.map(Math.abs).sort((a, b) => a - b), largest = exact ? sizes[Math.floor(sizes.length * 0.95)] || 1 : 1;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).split(" ").map(Number);
  const [win, lose] = [colour("--win"), colour("--lose")];
  const canvas = document.querySelector(".all-pairs canvas"), status = document.querySelector(".all-pairs [role=status]");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d"), image = context.createImageData(size, size);
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      if (row === column) continue;
      const strength = Math.max(-1, Math.min(1, cell(row, column).strength / largest));
      image.data.set([...(strength > 0 ? win : lose), 255 * Math.abs(strength)], 4 * (row * size + column));
    }
  context.putImageData(image, 0, 0);
  let row = 0, column = 1;
  function tell() {
    status.textContent = row === column ? found.names[row] : `${found.names[row]} against ${found.names[column]}: ${cell(row, column).text}`;
  }
  const inside = (number) => Math.max(0, Math.min(size - 1, number));
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    column = inside(Math.floor(((event.clientX - box.left) / box.width) * size));
    row = inside(Math.floor(((event.clientY - box.top) / box.height) * size));
    tell();
  });
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    [row, column] = [inside(row + move[0]), inside(column + move[1])];
    tell();
  });
  canvas.hidden = status.hidden = false;
  status.textContent = "Point at a place, or move with the arrow keys, to see the number. Rows and columns are by falling rating.";
}
document.querySelector(".all-pairs button")?.addEventListener("click", (event) => {
  const button = event.target, held = document.getElementById("report-cells");
  button.disabled = true;
  if (held) return reportCells(JSON.parse(held.textContent));
  const script = document.createElement("script"), status = document.querySelector(".all-pairs [role=status]");
  script.src = "report_cells.js";
  script.addEventListener("error", () => {
    status.hidden = button.disabled = false;
    status.textContent = "report_cells.js is not beside this page. 'nashdex report RUN --output FILE.html' writes a page that holds it.";
  });
  document.head.append(script);
});
