// Purchases under pseudonyms that hold for a month, and files that name each customer's, as far as a browser knows them.
import { cellsOf, Findings, INDEX } from "./cells.js";

export const DELETED = "DEL";
const PSEUDONYM = /^[A-Za-z0-9_-]+$/;
const DATE = /^([0-9]{4})[-/]([0-9]{1,2})[-/][0-9]{1,2}$/;
const MONTH = /^[0-9]{4}-[0-9]{2}$/;

const where = (place) => ({ row: place + 1, line: place + 2 });

/** Rows headed customer, invoice, date, …: what is deleted is empty, half is left, a pseudonym is of one month. */
export function purchaseFindings(lines) {
  const gone = lines.filter((line) => cellsOf(line)[0] === DELETED).length;
  const most = Math.floor(lines.length / 2);
  const findings = new Findings();
  if (gone > most) findings.add("check_half", { found: gone, expected: most });
  const months = new Map();
  for (const [place, line] of lines.entries()) {
    const [name, ...others] = cellsOf(line);
    if (name === DELETED) {
      if (others.some(Boolean)) findings.add("check_deleted", where(place));
    } else if (!ofOneMonth(months, name, others[1])) findings.add("check_two_months", where(place));
  }
  return findings;
}

/** Whether a pseudonym stands in the month in which it stood first. */
function ofOneMonth(months, name, date) {
  const [, year, month] = DATE.exec(date) ?? [];
  if (!year) return true; // what is no date is told as such
  const key = `${year}-${month.padStart(2, "0")}`;
  if (!months.has(name)) months.set(name, key);
  return months.get(name) === key;
}

/** A line for each customer, headed customer and the months: a pseudonym or DEL in each. */
export function nameFindings(header, lines, customers) {
  const [first, ...months] = cellsOf(header);
  const sorted = months.every((month, place) => MONTH.test(month) && (place === 0 || months[place - 1] < month));
  const findings = new Findings();
  if (first !== "customer" || !months.length || !sorted) {
    findings.add(INDEX.includes(first) && months[0] === "customer" ? "check_index" : "check_months_header", {});
    return findings;
  }
  if (lines.length !== customers) findings.add("check_length", { found: lines.length, expected: customers });
  const rows = lines.map(cellsOf);
  if (!ragged(rows, months.length + 1, findings)) cellFindings(rows, months, findings);
  return findings;
}

/** Whether a row has more or fewer cells than it must: then it is not known what stands where. */
function ragged(rows, expected, findings) {
  let wrong = false;
  rows.forEach((row, place) => {
    if (row.length === expected) return;
    wrong = true;
    findings.add("cell_ragged_row", { ...where(place), found: row.length, expected });
  });
  return wrong;
}

/** A pseudonym beside its customer is what others shall find out: it is not repeated. */
function cellFindings(rows, months, findings) {
  const seen = new Set();
  rows.forEach(([name, ...cells], place) => {
    if (seen.has(name)) findings.add("check_customer_again", where(place));
    seen.add(name);
    cells.forEach((cell, month) => {
      if (!PSEUDONYM.test(cell)) findings.add("cell_not_a_pseudonym", { column: months[month], ...where(place) });
    });
  });
}

/** Of how many customers a pseudonym is named. */
export function named(lines) {
  return lines.filter((line) => cellsOf(line).slice(1).some((cell) => cell !== DELETED)).length;
}
