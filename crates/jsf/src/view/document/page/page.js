"use strict";
/** The rows of a table that are shown at first; each press of "Show more" shows so many times as many. */
const FIRST_ROWS = 50;
const TIMES_MORE = 4;

/** Sorts the rows of a table by the column whose heading says so. */
function sortRows(region) {
  const headings = [...region.querySelectorAll("th")];
  const column = headings.findIndex((heading) => heading.hasAttribute("aria-sort"));
  if (column < 0) return;
  const numeric = headings[column].classList.contains("n");
  const sign = headings[column].getAttribute("aria-sort") === "ascending" ? 1 : -1;
  const key = (row) => {
    const cell = row.cells[column];
    return numeric ? Number.parseFloat(cell.dataset.value ?? "NaN") : cell.textContent;
  };
  const compare = (left, right) => {
    const [one, other] = [key(left), key(right)];
    if (!numeric) return sign * one.localeCompare(other, undefined, { numeric: true });
    if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other);
    return sign * (one - other);
  };
  const body = region.querySelector("tbody");
  body.append(...[...body.rows].sort(compare));
}

/** Sorts a table by a column when its heading is pressed. */
function makeSortable(region) {
  const headings = [...region.querySelectorAll("th")];
  for (const heading of headings) {
    heading.querySelector("button")?.addEventListener("click", () => {
      const numeric = heading.classList.contains("n");
      const before = heading.getAttribute("aria-sort");
      const direction = before === "ascending" || (numeric && before === null) ? "descending" : "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      sortRows(region);
      showRows(region);
    });
  }
}

/** Shows the first rows of those that contain what is searched for. */
function showRows(region) {
  const rows = region.querySelector("tbody").rows;
  const wanted = (region.querySelector("input")?.value ?? "").toLowerCase();
  const most = Number(region.dataset.most ?? FIRST_ROWS);
  let found = 0;
  for (const row of rows) {
    const isFound = wanted === "" || row.textContent.toLowerCase().includes(wanted);
    found += isFound ? 1 : 0;
    row.hidden = !isFound || found > most;
  }
  const count = region.querySelector("output");
  if (count) count.textContent = wanted === "" ? "" : `${found} of ${rows.length} rows`;
  const more = region.querySelector(".more");
  if (more) {
    more.hidden = found <= most;
    more.textContent = `Show more (${found - most} rows)`;
  }
}

/** Puts a button below a table of more rows than are shown at first. */
function makeGrowing(region) {
  if (region.querySelector(".more") || region.querySelector("tbody").rows.length <= FIRST_ROWS) return;
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  more.addEventListener("click", () => {
    region.dataset.most = TIMES_MORE * Number(region.dataset.most ?? FIRST_ROWS);
    showRows(region);
    if (more.hidden) region.focus();
  });
  region.querySelector("table").after(more);
}

/** Opens the tables that take the place of charts on a narrow screen. */
function openForCharts(root) {
  if (!matchMedia("(max-width: 40rem)").matches) return;
  for (const chart of root.querySelectorAll("figure.wide")) {
    const table = chart.parentElement.querySelector("details:has(.table)");
    if (table) table.open = true;
  }
}

/** Puts the column of what changes beside the names on a narrow screen, where few columns are seen at once. */
function putEffectSecond(region) {
  if (!matchMedia("(max-width: 40rem)").matches) return;
  const headings = [...region.querySelectorAll("th")];
  const column = headings.findIndex((heading) => heading.classList.contains("effect"));
  if (column < 2) return;
  for (const row of region.querySelectorAll("tr")) row.cells[1].before(row.cells[column]);
}

for (const region of document.querySelectorAll(".table")) {
  if (!region.querySelector("tbody")) continue;
  putEffectSecond(region);
  makeSortable(region);
  makeGrowing(region);
  region.querySelector("input")?.addEventListener("input", () => showRows(region));
  showRows(region);
}
openForCharts(document);
