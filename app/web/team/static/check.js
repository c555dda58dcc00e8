// What can be known of a release's files before they are sent. The server decides; this only spares a round.
// A finding is [severity, word, values]; severity "bad" would be refused, "warning" is taken in all the same.

import { megabytes } from "./files.js";
import { nameFindings, named, purchaseFindings } from "./months.js";

const SLICE = 1 << 20;
const [QUOTE, COMMA, LF, CR] = [0x22, 0x2c, 0x0a, 0x0d];
const LONGEST_HEADER = 1 << 16;
const INDEX = ["", "index", "Unnamed: 0"]; // what the column of a data frame's row labels is called
const DIRECTIONS = ["original_row", "anonymized_row"]; // of a permutation
const NAMED = 8;

/** Counts the rows and their cells while a file passes by; quoted cells may hold commas and line ends. */
export class Rows {
  constructor() {
    this.rows = 0; this.width = null; this.ragged = null; this.nul = false; this.quoted = false;
    this.cells = 1; this.blank = true; this.blanks = 0; this.last = 0;
  }

  read(bytes) {
    for (let place = 0; place < bytes.length; place += 1) {
      const byte = bytes[place];
      if (byte === 0) this.nul = true;
      if (byte === QUOTE) { this.quoted = !this.quoted; this.blank = false; }
      else if (this.quoted) { this.blank = false; }
      else if (byte === LF && this.last === CR) { /* the second half of one line end */ }
      else if (byte === LF || byte === CR) this.end();
      else { this.blank = false; if (byte === COMMA) this.cells += 1; }
      this.last = byte;
    }
  }

  end() {
    if (this.blank) this.blanks += 1;
    else this.count();
    this.cells = 1; this.blank = true;
  }

  count() {
    // Blank lines at the very end are no rows; this one was not the end.
    if (this.width === 1) this.rows += this.blanks;
    else if (this.blanks && this.width !== null && this.ragged === null) this.ragged = { row: this.rows + 1, found: 0 };
    this.blanks = 0;
    if (this.width === null) { this.width = this.cells; return; }
    this.rows += 1;
    if (this.cells !== this.width && this.ragged === null) this.ragged = { row: this.rows, found: this.cells };
  }

  finish() {
    if (!this.blank) this.count();
    else if (this.width === 1) this.rows += this.blanks;
    return this;
  }
}

/** The cells of one CSV line. */
export function cellsOf(line) {
  const cells = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/gy;
  for (let match = pattern.exec(line); match; match = pattern.exec(line)) {
    cells.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
    if (match[3] === "") break;
  }
  return cells;
}

function decoded(bytes, encoding) {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Reads a file in slices, so that the page stays alive and memory small. */
async function passBy(file, look) {
  for (let at = 0; at < file.size; at += SLICE) {
    look(new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer()), at + SLICE < file.size);
  }
}

/** Whether a spreadsheet was chosen in the place of a CSV file, by how such files begin. */
async function kind(file) {
  const [first, second, third, fourth] = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const zip = first === 0x50 && second === 0x4b && third === 3 && fourth === 4;
  const old = first === 0xd0 && second === 0xcf && third === 0x11 && fourth === 0xe0;
  return zip || old ? [["bad", "check_excel", {}]] : [];
}

async function opening(file, most) {
  const found = sizes(file, most);
  return found.length ? found : kind(file);
}

/** A table: `header` and how many rows it may have; `others`: the header lines of the secret. */
async function checkTable(file, expected) {
  const found = await opening(file, expected.most_bytes);
  if (found.length) return { found };
  const rows = new Rows();
  const text = new TextDecoder("utf-8", { fatal: true });
  let utf8 = true;
  await passBy(file, (bytes, stream) => {
    rows.read(bytes);
    if (!utf8) return;
    try { text.decode(bytes, { stream }); } catch { utf8 = false; }
  });
  rows.finish();
  const head = new Uint8Array(await file.slice(0, LONGEST_HEADER).arrayBuffer());
  if (expected.header.length) found.push(...headerFindings(head, expected, utf8)); // else any columns
  if (!utf8) found.push(["warning", "check_cp932", {}]);
  if (rows.nul) found.push(["bad", "check_nul", {}]);
  if (rows.quoted) found.push(["bad", "check_quote", {}]);
  if (!found.some(([severity]) => severity === "bad")) found.push(...rowFindings(rows, expected));
  return { found, rows: rows.rows, columns: rows.width };
}

function sizes(file, most) {
  if (file.size === 0) return [["bad", "check_empty", {}]];
  if (file.size > most) return [["bad", "check_large", { found: megabytes(file.size), expected: megabytes(most) }]];
  return [];
}

function headerFindings(head, { header: expected, others }, utf8) {
  let end = head.findIndex((byte) => byte === LF || byte === CR);
  if (end < 0) end = head.length;
  const line = decoded(head.subarray(0, end), utf8 ? "utf-8" : "shift_jis");
  if (line === null) return [];
  const cells = cellsOf(line);
  if (others.some((header) => header.join() === cells.join())) return [["bad", "check_swapped", {}]];
  const wrong = cells.flatMap((cell, place) => (cell === expected[place] ? [] : [place]));
  if (!wrong.length && cells.length === expected.length) return [];
  if (INDEX.includes(cells[0]) && cells.length === expected.length + 1 && expected.every((name, place) => name === cells[place + 1])) {
    return [["bad", "check_index", {}]];
  }
  return columnFindings(cells, expected, wrong);
}

function columnFindings(cells, expected, wrong) {
  const missing = expected.filter((name) => !cells.includes(name));
  const extra = cells.filter((name) => !expected.includes(name));
  const found = [];
  if (cells.length !== expected.length) {
    found.push(["bad", "check_columns", { found: cells.length, expected: expected.length }]);
  } else if (wrong.length === 1 || !(missing.length + extra.length)) {
    const [at] = wrong;
    return [["bad", "check_name", { row: at + 1, found: cells[at].slice(0, 80), expected: expected[at] }]];
  }
  if (missing.length) found.push(["bad", "check_missing", { names: namesOf(missing) }]);
  if (extra.length) found.push(["bad", "check_extra", { names: namesOf(extra) }]);
  return found;
}

function namesOf(names) {
  const shown = names.slice(0, NAMED).map((name) => name.slice(0, 40)).join(", ");
  return names.length > NAMED ? `${shown}, … (+${names.length - NAMED})` : shown;
}

function rowFindings(rows, expected) {
  if (rows.ragged) return [["bad", "check_cells", { ...rows.ragged, expected: rows.width }]];
  if (rows.rows < expected.fewest || rows.rows > expected.most) {
    return [["bad", "check_rows", { found: rows.rows, fewest: expected.fewest, expected: expected.most }]];
  }
  if (rows.rows < expected.required) {
    return [["warning", "check_few", { found: rows.rows, expected: expected.required }]];
  }
  return [];
}

/** A permutation against the rows of the table it belongs to (null: not known yet). */
async function checkPermutation(file, { originals, anonymized, most_bytes, tables }) {
  const found = await opening(file, most_bytes);
  if (found.length) return { found };
  const text = decoded(await file.arrayBuffer(), "utf-8");
  if (text === null) return { found: [["bad", "check_utf8", {}]] };
  const { header, direction, lines } = linesOf(text);
  if (!DIRECTIONS.includes(direction)) {
    const swapped = tables.some((columns) => columns.join() === cellsOf(header).join());
    return { found: [["bad", swapped ? "check_swapped" : "check_secret_header", {}]] };
  }
  const forward = direction === "original_row";
  const length = forward ? anonymized : originals;
  if (length !== null && lines.length !== length) {
    return { found: [["bad", "check_length", { found: lines.length, expected: length }]] };
  }
  return { found: numberFindings(lines, forward, originals, anonymized), rows: lines.length };
}

function linesOf(text) {
  const [header, ...lines] = text.replace(/[\r\n]+$/, "").split(/\r\n|\n|\r/);
  return { header, direction: header.trim().replace(/^"+|"+$/g, ""), lines };
}

const trimmed = (line) => line.replace(/^[ \t]+|[ \t]+$/g, "");

/** A line for each row of the target, 0 where it is left open, and a row as often as one likes. */
async function checkRows(file, { rows, originals, most_bytes }) {
  const found = await opening(file, most_bytes);
  if (found.length) return { found };
  const text = decoded(await file.arrayBuffer(), "utf-8");
  if (text === null) return { found: [["bad", "check_utf8", {}]] };
  const { direction, lines } = linesOf(text);
  if (direction !== "original_row") return { found: [["bad", "check_guess_header", {}]] };
  if (lines.length !== rows) return { found: [["bad", "check_length", { found: lines.length, expected: rows }]] };
  const numbers = lines.map(trimmed).map((line) => (/^[0-9]{1,9}$/.test(line) ? Number(line) : NaN));
  const wrong = numbers.findIndex(Number.isNaN);
  if (wrong >= 0) return { found: [["bad", "check_number", { row: wrong + 1 }]] };
  const beyond = numbers.findIndex((number) => number > originals);
  if (beyond >= 0) return { found: [["bad", "check_range", { row: beyond + 1, found: 0, expected: originals }]] };
  return { found: [], rows, answered: numbers.filter(Boolean).length };
}

/** A line for each individual below a header of one name: a number from 0 to 1. */
async function checkScores(file, { header: [name], rows, most_bytes }) {
  const found = await opening(file, most_bytes);
  if (found.length) return { found };
  const text = decoded(await file.arrayBuffer(), "utf-8");
  if (text === null) return { found: [["bad", "check_utf8", {}]] };
  const { direction, lines } = linesOf(text.replace(/^\uFEFF/, ""));
  if (direction !== name) return { found: [["bad", "check_name", { row: 1, found: direction.slice(0, 80), expected: name }]] };
  if (lines.length !== rows) return { found: [["bad", "check_length", { found: lines.length, expected: rows }]] };
  const wrong = lines.findIndex((line) => !isShare(line.replace(/^"(.*)"$/, "$1")));
  return wrong < 0 ? { found: [], rows } : { found: [["bad", "check_share", { row: wrong + 1 }]] };
}

const isShare = (cell) => /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(cell) && Number(cell) >= 0 && Number(cell) <= 1;

/** Whether rows are counted from 0: there is a row 0, and none that would be one too many. */
function fromZero(lines, highest) {
  const numbers = lines.map((line) => Number(trimmed(line)));
  return numbers.includes(0) && numbers.every((number) => number < highest);
}

function numberFindings(lines, forward, originals, anonymized) {
  const lowest = forward ? 1 : 0;
  const highest = forward ? originals : anonymized ?? originals;
  const seen = new Uint8Array(highest + 1);
  let kept = 0;
  for (const [place, line] of lines.entries()) {
    const written = trimmed(line);
    const row = place + 1;
    if (!/^[0-9]{1,9}$/.test(written)) return [["bad", "check_number", { row }]];
    const value = Number(written);
    if (value < lowest || value > highest) {
      if (value === 0 && fromZero(lines, highest)) return [["bad", "check_zero", {}]];
      return [["bad", "check_range", { row, found: lowest, expected: highest }]];
    }
    if (value !== 0 && seen[value]) return [["bad", "check_duplicate", { row, found: value }]];
    seen[value] = 1;
    if (value !== 0) kept += 1;
  }
  if (!forward && anonymized !== null && kept !== anonymized) {
    if (kept === anonymized - 1 && fromZero(lines, anonymized)) return [["bad", "check_zero", {}]];
    return [["bad", "check_kept", { found: kept, expected: anonymized }]];
  }
  return [];
}

/** A table of purchases under pseudonyms; cells that go over lines are the server's to look at. */
async function checkPurchases(file, expected) {
  const table = await checkTable(file, expected);
  const text = table.found.length ? null : decoded(await file.arrayBuffer(), "utf-8");
  const lines = text === null ? [] : linesOf(text).lines;
  return lines.length === table.rows ? { ...table, found: purchaseFindings(lines) } : table;
}

/** The pseudonym of every customer in every month. */
async function checkMonths(file, { originals, most_bytes }) {
  const found = await opening(file, most_bytes);
  if (found.length) return { found };
  const text = decoded(await file.arrayBuffer(), "utf-8");
  if (text === null) return { found: [["bad", "check_utf8", {}]] };
  const { header, lines } = linesOf(text.replace(/^\ufeff/, ""));
  return { found: nameFindings(header, lines, originals), rows: lines.length, answered: named(lines) };
}

/** Of a kind that is not known here: whether it is there, small enough and no spreadsheet. */
async function checkOpening(file, { most_bytes }) {
  return { found: await opening(file, most_bytes) };
}

// By kind of file: the check, and the words for one that is good.
const CHECKS = {
  table: [checkTable, "check_good"], permutation: [checkPermutation, "check_good_lines"], rows: [checkRows, "check_good_guess"],
  scores: [checkScores, "check_good_lines"],
  purchases: [checkPurchases, "check_good"], months: [checkMonths, "check_good_guess"],
};

/** What is wrong with a file of this kind, and the words for one that is good. */
export async function checkedAs(kind, file, expected) {
  const [check, good] = CHECKS[kind] ?? [checkOpening, "check_good"];
  return [await check(file, expected), good];
}
