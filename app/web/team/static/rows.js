// Files that say of every row which row of the original it is: the secret of a release, and a guess at it.
import { LISTED } from "./cells.js";

const ROW_NUMBER = /^[0-9]{1,9}$/;
const HEADER = /^[ \t]*("?)([a-z_]+)\1[ \t]*$/;
const DIRECTIONS = ["original_row", "anonymized_row"]; // of a permutation
const NOWHERE = 0;

const trimmed = (line) => line.replace(/^[ \t]+|[ \t]+$/g, "");

/** The header line, the name in it ("" if it is none), and the lines below it. */
export function linesOf(text) {
  const [header, ...lines] = text.replace(/[\r\n]+$/, "").split(/\r\n|\n|\r/);
  return { header, direction: HEADER.exec(header)?.[2] ?? "", lines };
}

/** A line for each row of the target, 0 where it is left open, and a row as often as one likes. */
export function guessFindings(text, { rows, originals }) {
  const { direction, lines } = linesOf(text);
  const header = direction === "original_row" ? [] : [["bad", "check_guess_header", {}]];
  if (!direction) return { found: header };
  const length = lines.length === rows ? [] : [["bad", "check_length", { found: lines.length, expected: rows }]];
  const numbers = numbersOf(lines);
  const wrong = wrongRows(numbers, NOWHERE, originals, (place) => ({ value: trimmed(lines[place]).slice(0, 80) }));
  const found = [...header, ...length, ...wrong.found];
  return { found: found.slice(0, LISTED), more: Math.max(0, found.length - LISTED) + wrong.more, rows: lines.length, answered: numbers.filter((number) => number > 0).length };
}

/** A permutation against the rows of the table it belongs to (null: not known yet). What stands in it is not repeated. */
export function permutationFindings(text, { originals, anonymized, swapped }) {
  const { header, direction, lines } = linesOf(text);
  if (!DIRECTIONS.includes(direction)) {
    return { found: [["bad", swapped(header) ? "check_swapped" : "check_secret_header", {}]] };
  }
  const forward = direction === "original_row";
  const length = forward ? anonymized : originals;
  if (length !== null && lines.length !== length) {
    return { found: [["bad", "check_length", { found: lines.length, expected: length }]] };
  }
  return { rows: lines.length, ...numberFindings(numbersOf(lines), forward, originals, anonymized) };
}

/** NaN for what is no row number. */
function numbersOf(lines) {
  return lines.map(trimmed).map((line) => (ROW_NUMBER.test(line) ? Number(line) : NaN));
}

function wrongRows(numbers, lowest, highest, more = () => ({})) {
  const wrong = (number) => !(number >= lowest && number <= highest);
  return listed(numbers, wrong, (number, place) => (
    Number.isNaN(number)
      ? ["bad", "check_number", { ...where(place), ...more(place) }]
      : ["bad", "check_range", { ...where(place), ...more(place), found: lowest, expected: highest }]));
}

/** A finding for each of the first wrong numbers, and how many there are `more`. */
function listed(numbers, isWrong, finding) {
  const found = [];
  let total = 0;
  numbers.forEach((number, place) => {
    if (!isWrong(number, place)) return;
    total += 1;
    if (total <= LISTED) found.push(finding(number, place));
  });
  return { found, more: total - found.length };
}

const where = (place) => ({ row: place + 1, line: place + 2 });

/** Whether rows are counted from 0: there is a row 0, and none that would be one too many. */
const fromZero = (numbers, highest) => numbers.includes(0) && numbers.every((number) => number < highest);

function numberFindings(numbers, forward, originals, anonymized) {
  const lowest = forward ? 1 : 0;
  const highest = forward ? originals : anonymized ?? originals;
  const zero = { found: [["bad", "check_zero", {}]] };
  const wrong = wrongRows(numbers, lowest, highest);
  if (wrong.found.length) return forward && fromZero(numbers, highest) ? zero : wrong;
  const seen = new Uint8Array(highest + 1);
  const again = listed(numbers, (number) => number !== 0 && seen[number]++ > 0, (_, place) => ["bad", "check_duplicate", where(place)]);
  if (again.found.length) return again;
  const kept = numbers.filter(Boolean).length;
  if (forward || anonymized === null || kept === anonymized) return { found: [] };
  if (kept === anonymized - 1 && fromZero(numbers, anonymized)) return zero;
  return { found: [["bad", "check_kept", { found: kept, expected: anonymized }]] };
}
