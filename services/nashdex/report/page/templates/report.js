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
// A large population's numbers are beside the page, so no link has them.
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
