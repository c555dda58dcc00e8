// Purchases under pseudonyms that hold for a month, and files that name each customer's, as far as a browser knows them.
import { cellsOf } from "./check.js";

export const DELETED = "DEL";
const PSEUDONYM = /^[A-Za-z0-9_-]+$/;
const DATE = /^([0-9]{4})[-/]([0-9]{1,2})[-/][0-9]{1,2}$/;
const MONTH = /^[0-9]{4}-[0-9]{2}$/;

/** Rows headed customer, invoice, date, …: what is deleted is empty, half is left, a pseudonym is of one month. */
export function purchaseFindings(lines) {
  const months = new Map();
  let gone = 0;
  for (const [place, line] of lines.entries()) {
    const row = place + 1;
    const [name, ...others] = cellsOf(line);
    if (name === DELETED) {
      if (others.some(Boolean)) return [["bad", "check_deleted", { row }]];
      gone += 1;
    } else {
      const [, year, month] = DATE.exec(others[1]) ?? [];
      const key = `${year}-${month?.padStart(2, "0")}`;
      if (year && (months.get(name) ?? key) !== key) return [["bad", "check_two_months", { row }]];
      if (year) months.set(name, key);
    }
  }
  const most = Math.floor(lines.length / 2);
  return gone > most ? [["bad", "check_half", { found: gone, expected: most }]] : [];
}

/** A line for each customer, headed customer and the months: a pseudonym or DEL in each. */
export function nameFindings(header, lines, customers) {
  const [first, ...months] = cellsOf(header);
  const sorted = months.every((month, place) => MONTH.test(month) && (place === 0 || months[place - 1] < month));
  if (first !== "customer" || !months.length || !sorted) return [["bad", "check_months_header", {}]];
  if (lines.length !== customers) return [["bad", "check_length", { found: lines.length, expected: customers }]];
  const seen = new Set();
  for (const [place, line] of lines.entries()) {
    const row = place + 1;
    const [name, ...named] = cellsOf(line);
    if (named.length !== months.length) return [["bad", "cell_ragged_row", { row, found: named.length + 1, expected: months.length + 1 }]];
    if (!named.every((cell) => PSEUDONYM.test(cell))) return [["bad", "check_pseudonym", { row }]];
    if (seen.has(name)) return [["bad", "check_customer_again", { row }]];
    seen.add(name);
  }
  return [];
}

/** Of how many customers a pseudonym is named. */
export function named(lines) {
  return lines.filter((line) => cellsOf(line).slice(1).some((cell) => cell !== DELETED)).length;
}
