"use strict";
// Sorts a table by a column when its heading is pressed, and shows only the rows that contain what is searched for.
for (const region of document.querySelectorAll(".table")) {
  const body = region.querySelector("tbody");
  const headings = [...region.querySelectorAll("th")];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const numeric = heading.classList.contains("n");
      const before = heading.getAttribute("aria-sort");
      const direction = before === "ascending" || (numeric && before === null) ? "descending" : "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
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
      body.append(...[...body.rows].sort(compare));
    });
  });
  const search = region.querySelector("input");
  if (search) {
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
}
