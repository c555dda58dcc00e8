// Reads the matrix of attacks from its table.

import { stripIsolates } from "./text.js";

function readHeading(cell) {
  return {
    name: stripIsolates(cell.querySelector("span").firstChild.textContent),
    note: cell.querySelector("small")?.textContent ?? "",
    text: cell.textContent.trim(),
    isOwn: cell.classList.contains("own"),
  };
}

// The rate as text, and in tenths for its color, or null if there was no guess.
function readRate(cell) {
  const tenths = /heat-(\d+)/.exec(cell.className)?.[1];
  return { text: cell.textContent, tenths: tenths ? Number(tenths) : null };
}

// The first two cells of each row are its heading and its mean.
export function readMatrix(table) {
  const [headings, means] = table.tHead.rows;
  const columnMeans = [...means.cells].slice(1).map(readRate);
  return {
    mean: columnMeans[0],
    targets: [...headings.cells].slice(2)
      .map((cell, index) => ({ ...readHeading(cell), mean: columnMeans[index + 1] })),
    rows: [...table.tBodies[0].rows].map((row) => {
      const [heading, mean, ...cells] = row.cells;
      return { ...readHeading(heading), mean: readRate(mean), cells: cells.map(readRate) };
    }),
  };
}
