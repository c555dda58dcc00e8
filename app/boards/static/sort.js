// Sorts tables marked with data-sortable by any column: first one way, then the other, then as the server did.

import { createButton } from "./elements.js";

const MISSING = "–";
const ARROWS = { none: "↕", ascending: "▲", descending: "▼" };
const EXPONENT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const { lang } = document.documentElement;
const collator = new Intl.Collator(lang, { numeric: true });
const numberParts = new Intl.NumberFormat(lang).formatToParts(0.5);
const decimalSeparator = numberParts.find(({ type }) => type === "decimal").value;
const serverOrder = new WeakMap(); // position by row
const sortings = new Map(); // [column, direction] by the position of the table; it outlives a replacement of the table

const READERS = {
  number: (cell) => parseNumber(cell.firstChild.textContent), // without the change that may follow
  time: (cell) => Date.parse(cell.querySelector("time").dateTime),
  text: (cell) => cell.textContent.trim(),
};

// Parses a number in the language of the page, such as 1,234.5 or −1.2×10⁻³.
function parseNumber(text) {
  const [digits, exponent = "⁰"] = text.replaceAll("−", "-").split("×10");
  const significand = [...digits].filter((sign) => sign === decimalSeparator || /[-\d]/.test(sign)).join("");
  const power = [...exponent].map((sign) => (sign === "⁻" ? "-" : EXPONENT_DIGITS.indexOf(sign))).join("");
  return Number(`${significand.replace(decimalSeparator, ".")}e${power}`);
}

const listTables = () => [...document.querySelectorAll("table[data-sortable]")];
// Cells that span both rows of the header come first.
const listHeaders = (table) => [...table.tHead.querySelectorAll("th[data-sort]")];

function readValue(row, column, kind) {
  const cell = row.cells[column];
  return cell.textContent.trim() === MISSING ? null : READERS[kind](cell);
}

// Rows without a value come last in both directions. Equal rows keep the server's order.
function sortRows(rows, column, kind, direction) {
  const sign = direction === "descending" ? -1 : 1;
  const values = new Map(rows.map((row) => [row, readValue(row, column, kind)]));
  return rows.sort((rowA, rowB) => {
    const [a, b] = [values.get(rowA), values.get(rowB)];
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (kind === "text" ? collator.compare(a, b) : a - b);
  });
}

function sortTable(table, column, direction) {
  const headers = listHeaders(table);
  headers.forEach((header, index) => {
    header.ariaSort = index === column ? direction : "none";
    header.querySelector(".sort").textContent = ARROWS[header.ariaSort];
  });
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !("stays" in row.dataset));
    rows.sort((a, b) => serverOrder.get(a) - serverOrder.get(b));
    body.append(...(direction === "none" ? rows : sortRows(rows, column, headers[column].dataset.sort, direction)));
  }
}

function changeDirection(table, column) {
  const header = listHeaders(table)[column];
  const first = header.dataset.first ?? "ascending";
  const directions = ["none", first, first === "ascending" ? "descending" : "ascending"];
  const direction = directions[(directions.indexOf(header.ariaSort ?? "none") + 1) % directions.length];
  sortings.set(listTables().indexOf(table), [column, direction]);
  sortTable(table, column, direction);
}

function addSortButton(table, header, column) {
  if (header.querySelector(".sort")) return;
  const ariaLabel = `${table.dataset.sortWord} ${header.querySelector("a, span").textContent.trim()}`;
  const button = createButton(ARROWS.none, () => changeDirection(table, column), { className: "sort", ariaLabel });
  header.append(" ", button);
  header.ariaSort = "none";
}

function prepareTables() {
  listTables().forEach((table, position) => {
    listHeaders(table).forEach((header, column) => addSortButton(table, header, column));
    [...table.rows].forEach((row, index) => serverOrder.set(row, index));
    table.style.setProperty("--head", `${table.tHead.offsetHeight}px`);
    if (sortings.has(position)) sortTable(table, ...sortings.get(position));
  });
}

prepareTables();
document.addEventListener("htmx:after:swap", prepareTables);
