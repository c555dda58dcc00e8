// Files that say of every row which row of the original it is: the secret of a release, and a guess at it.
import { INDEX, LISTED } from "./cells.js";

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

/** What programs write beside the one column that is asked for. */
function columnFindings(header) {
  const cells = header.split(/[,;\t]/).map((cell) => cell.replace(/^[ \t"]+|[ \t"]+$/g, ""));
  if (cells.length === 1 || !cells.some((cell) => DIRECTIONS.includes(cell))) return [];
  if (cells.length === 2 && INDEX.includes(cells[0]) && header.includes(",")) return [["bad", "check_index", {}]];
  return [["bad", "check_one_column", { found: cells.length }]];
}

/** A line for each row of the target, 0 where it is left open, and a row as often as one likes. */
export function guessFindings(text, { rows, originals }) {
  const { header: first, direction, lines } = linesOf(text);
  const header = direction === "original_row" ? [] : [["bad", "check_guess_header", {}]];
  if (!direction) return { found: [...columnFindings(first), ...header].slice(0, 1) };
  const length = lines.length === rows ? [] : [["bad", "check_length", { found: lines.length, expected: rows }]];
  const numbers = numbersOf(lines);
  const wrong = wrongRows(numbers, NOWHERE, originals, (place) => ({ value: trimmed(lines[place]).slice(0, 80) }));
  const found = [...header, ...length, ...wrong.found];
  const answered = numbers.filter((number) => number > 0).length;
  const counts = { rows: lines.length, answered };
  if (!found.length) return { found: doubtful(numbers, answered, originals), ...counts };
  return { found: found.slice(0, LISTED), more: Math.max(0, found.length - LISTED) + wrong.more, ...counts };
}

/** What is no error, and yet hardly meant: it would cost a guess. */
function doubtful(numbers, answered, originals) {
  if (!answered) return [["warning", "check_no_answer", {}]];
  const once = answered === numbers.length - 1 && new Set(numbers).size === numbers.length;
  return once && fromZero(numbers, originals) ? [["warning", "check_guess_zero", {}]] : [];
}

/** A permutation against the rows of the table it belongs to (null: not known yet). What stands in it is not repeated. */
export function permutationFindings(text, { originals, anonymized, swapped }) {
  const { header, direction, lines } = linesOf(text);
  if (!DIRECTIONS.includes(direction)) {
    const other = swapped(header) ? "check_swapped" : "check_secret_header";
    return { found: [...columnFindings(header), ["bad", other, {}]].slice(0, 1) };
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

function wrongRows(numbers, lowest, highest, more) {
  const wrong = (number) => !(number >= lowest && number <= highest);
  return listed(numbers, wrong, (number, place) => numberFinding(number, place, lowest, highest, more(place)));
}

function numberFinding(number, place, lowest, highest, more = {}) {
  const at = { ...where(place), ...more };
  return Number.isNaN(number) ? ["bad", "check_number", at] : ["bad", "check_range", { ...at, found: lowest, expected: highest }];
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
  const outside = (number) => !(number >= lowest && number <= highest);
  if (forward && numbers.some(outside) && fromZero(numbers, highest)) return zero;
  const seen = new Uint8Array(highest + 1);
  const again = (number) => number !== 0 && seen[number]++ > 0;
  const wrong = listed(numbers, (number) => outside(number) || again(number), (number, place) => (
    outside(number) ? numberFinding(number, place, lowest, highest) : ["bad", "check_duplicate", where(place)]));
  if (wrong.found.length) return wrong;
  const kept = numbers.filter(Boolean).length;
  if (forward || anonymized === null || kept === anonymized) return { found: [] };
  if (kept === anonymized - 1 && fromZero(numbers, anonymized)) return zero;
  return { found: [["bad", "check_kept", { found: kept, expected: anonymized }]] };
}
