// Tables marked data-sortable are sorted by any column; without this script they stand in the server's order.

const MISSING = "–";
const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
const point = new Intl.NumberFormat(document.documentElement.lang)
  .formatToParts(0.5).find((part) => part.type === "decimal").value;
const arrows = { none: "↕", ascending: "▲", descending: "▼" };
const places = new WeakMap(); // of the rows in the server's order
const chosen = new Map(); // by the table's place on the page: an exchanged table is sorted as the one before

const READ = {
  number: (cell) => numeral(cell.firstChild.textContent), // behind it may stand how it changed
  time: (cell) => Date.parse(cell.querySelector("time").dateTime),
  text: (cell) => cell.textContent.trim(),
};

// A number with the signs of the page's language.
function numeral(text) {
  const [digits, power = ""] = text.replaceAll("−", "-").split("×10");
  const signs = [...digits].filter((each) => each === point || /[-\d]/.test(each));
  const exponent = [...power].map((each) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(each)).map((at) => (at ? at - 1 : "-"));
  return Number(`${signs.join("").replace(point, ".")}e${exponent.join("") || 0}`);
}

function value(row, column, kind) {
  const cell = row.cells[column];
  return cell.textContent.trim() === MISSING ? null : READ[kind](cell);
}

function compare(one, other) {
  if (typeof one === "number") return one - other;
  return collator.compare(one, other);
}

// Array.sort is stable: equal ones keep the server's order, and those without a value come last either way.
function sorted(rows, column, kind, direction) {
  const sign = direction === "descending" ? -1 : 1;
  const values = new Map(rows.map((row) => [row, value(row, column, kind)]));
  return [...rows].sort((a, b) => {
    const [one, other] = [values.get(a), values.get(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * compare(one, other);
  });
}

// The head's cells in the order of the columns below: those over two rows first, then those of the last row.
function heads(table) {
  return [...table.tHead.querySelectorAll("th[data-sort]")];
}

function arrange(table, column, direction) {
  heads(table).forEach((head, place) => {
    const now = place === column ? direction : "none";
    head.setAttribute("aria-sort", now);
    head.querySelector(".sort").textContent = arrows[now];
  });
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !("stays" in row.dataset));
    const order = rows.sort((one, other) => places.get(one) - places.get(other));
    const kind = heads(table)[column]?.dataset.sort;
    body.append(...(direction === "none" ? order : sorted(order, column, kind, direction)));
  }
}

function next(head, table, column) {
  const first = head.dataset.first ?? "ascending";
  const steps = ["none", first, first === "ascending" ? "descending" : "ascending"];
  const now = head.getAttribute("aria-sort") ?? "none";
  const direction = steps[(steps.indexOf(now) + 1) % 3];
  chosen.set(tables().indexOf(table), [column, direction]);
  arrange(table, column, direction);
}

function button(head, table, column) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "sort";
  made.textContent = arrows.none;
  const name = head.querySelector("a, span").textContent.trim();
  made.setAttribute("aria-label", `${table.dataset.sortWord} ${name}`);
  made.addEventListener("click", () => next(head, table, column));
  head.append(" ", made);
  head.setAttribute("aria-sort", "none");
}

function tables() {
  return [...document.querySelectorAll("table[data-sortable]")];
}

function prepare() {
  tables().forEach((table, place) => {
    heads(table).forEach((head, column) => head.querySelector(".sort") ?? button(head, table, column));
    [...table.rows].forEach((row, at) => places.set(row, at));
    table.style.setProperty("--head", `${table.tHead.offsetHeight}px`);
    const [column, direction] = chosen.get(place) ?? [];
    if (direction) arrange(table, column, direction);
  });
}

prepare();
document.addEventListener("htmx:after:swap", prepare);
