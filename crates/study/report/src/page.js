"use strict";
// Tables can be read without this: it adds sorting by a click on a heading, and a filter.
for (const holder of document.querySelectorAll(".table")) {
  const table = holder.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];

  // What a cell is sorted by; null for a value that does not exist.
  const key = (row, column, isNumber) => {
    const text = row.cells[column].textContent;
    if (!isNumber) return text;
    const number = Number.parseFloat(text);
    return Number.isNaN(number) ? null : number;
  };

  const sort = (column) => {
    const heading = headings[column];
    const isNumber = heading.classList.contains("number");
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    headings.forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const compare = (a, b) => {
      const [x, y] = [key(a, column, isNumber), key(b, column, isNumber)];
      if (x === null || y === null) return (x === null) - (y === null);
      return direction * (isNumber ? x - y : x.localeCompare(y, "en", { numeric: true }));
    };
    body.append(...[...body.rows].sort(compare));
  };

  if (rows.length > 1) {
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.querySelector(".name").childNodes);
      heading.querySelector(".name").append(button);
      button.addEventListener("click", () => sort(column));
    });
  }

  const fewest = 8;
  if (rows.length > fewest) {
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "Filter rows";
    box.setAttribute("aria-label", `Filter rows of ${holder.querySelector(".title, summary").textContent}`);
    const count = document.createElement("span");
    count.setAttribute("aria-live", "polite");
    const filter = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length > 0 ? `${shown} of ${rows.length} rows` : "";
    };
    box.addEventListener("input", filter);
    holder.querySelector(".under").prepend(box, count);
  }
}
