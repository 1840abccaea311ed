"use strict";
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
    });
  }
}

/** Shows only the rows that contain what is searched for. */
function makeSearchable(region) {
  const search = region.querySelector("input");
  if (!search) return;
  const body = region.querySelector("tbody");
  const count = region.querySelector("output");
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted === "" ? "" : `${shown} of ${body.rows.length} rows`;
  });
}

for (const region of document.querySelectorAll(".table")) {
  makeSortable(region);
  makeSearchable(region);
}
