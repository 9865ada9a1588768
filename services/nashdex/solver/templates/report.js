// Gives the links to embedded pages their content. Nothing is fetched.
const pages = JSON.parse(document.getElementById("replay-pages").textContent);
for (const link of document.querySelectorAll("a[data-page]")) {
  link.href = URL.createObjectURL(new Blob([pages[link.dataset.page]], { type: "text/html" }));
}
const numbers = document.getElementById("report-json").textContent;
for (const link of document.querySelectorAll("a[data-numbers]")) {
  link.href = URL.createObjectURL(new Blob([numbers], { type: "application/json" }));
}
