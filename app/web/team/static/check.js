// What can be known of a release's files before they are sent. The server decides; this only spares a round.
// A finding is [severity, word, values]; severity "bad" would be refused, "warning" is taken in all the same.

import { cellsOf, INDEX, LISTED, Table } from "./cells.js";
import { megabytes } from "./files.js";
import { DELETED, nameFindings, named, purchaseFindings } from "./months.js";
import { guessFindings, linesOf, permutationFindings } from "./rows.js";

const SLICE = 1 << 20;
const HEAD = 1024;
const [LF, CR] = [0x0a, 0x0d];
const LONGEST_HEADER = 1_000_000;
const SEPARATORS = [[";", "check_semicolons"], ["\t", "check_tabs"]];
const NAMED = 8;
const ENCODINGS = ["utf-8", "shift_jis"];

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

/** Whether what was chosen is no text at all that is read here, by how such files begin. */
async function kind(file) {
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const begins = (...signs) => signs.every((sign, place) => head[place] === sign);
  if (begins(0x50, 0x4b, 3, 4)) return [["bad", holdsText(head) ? "check_zip" : "check_excel", {}]];
  if (begins(0xd0, 0xcf, 0x11, 0xe0)) return [["bad", "check_excel", {}]];
  return begins(0xff, 0xfe) || begins(0xfe, 0xff) || isUtf16(head) ? [["bad", "check_utf16", {}]] : [];
}

/** Whether the first file of an archive is a table: those of spreadsheets are not. */
function holdsText(head) {
  const name = String.fromCharCode(...head.slice(30, 30 + head[26] + 256 * head[27]));
  return /\.(csv|tsv|txt)$/i.test(name);
}

/** NULs that are halves of characters. */
function isUtf16(head) {
  const halves = [0, 0];
  head.forEach((byte, place) => { if (byte === 0) halves[place % 2] += 1; });
  const most = Math.max(...halves);
  return Math.min(...halves) === 0 && most > 1 && most * 8 > head.length;
}

async function opening(file, most) {
  const found = sizes(file, most);
  return found.length ? found : kind(file);
}

/** A table: its `header`, what its `cells` must be, and how many rows it may have; `others`: the header lines of the secret. */
async function checkTable(file, expected) {
  const found = await opening(file, expected.most_bytes);
  if (found.length) return { found };
  for (const encoding of ENCODINGS) {
    const read = await readAs(encoding, file, expected);
    if (read) return concluded(read, expected, encoding);
  }
  return { found: [["bad", "check_encoding", {}]] };
}

/** The header line and the rows below it; null if the file is not of this encoding. */
async function readAs(encoding, file, expected) {
  const text = new TextDecoder(encoding, { fatal: true });
  const read = { first: "", table: null, foreign: "" };
  let known = true;
  await passBy(file, (bytes, stream) => {
    if (!known) return;
    try { take(read, text.decode(bytes, { stream }), expected); } catch (problem) {
      if (!(problem instanceof TypeError)) throw problem;
      known = false;
    }
  });
  if (!known) return null;
  if (!read.table) below(read, read.first, expected);
  read.table.finish();
  return read;
}

function take(read, text, expected) {
  read.foreign ||= /[^,\s\x00-\x7f][^,\s]*/.exec(text)?.[0] ?? "";
  if (read.table) { read.table.read(text); return; }
  const all = read.first + text;
  const end = all.slice(0, LONGEST_HEADER).search(/[\r\n]/);
  if (end < 0 && all.length < LONGEST_HEADER) { read.first = all; return; }
  below(read, end < 0 ? all.slice(0, LONGEST_HEADER) : all.slice(0, end), expected);
  read.table.wasCR = all.charCodeAt(end) === CR;
  read.table.read(all.slice(end + 1));
}

function below(read, line, expected) {
  read.header = cellsOf(line);
  const header = expected.header.length ? expected.header : read.header; // else any columns
  read.table = new Table({ ...expected, header, rules: expected.cells });
}

function concluded({ header, table, foreign }, expected, encoding) {
  const counts = { rows: table.rows, columns: table.width };
  const told = encoding === "utf-8" ? [] : [["warning", "check_cp932", { text: foreign.slice(0, 40) }]];
  const named = expected.header.length ? headerFindings(header, expected) : [];
  if (named.length) return { found: [...named, ...told], ...counts };
  const faults = table.endless ? [] : table.faults();
  const shape = faults.some(({ listed }) => listed[0].column === undefined);
  const wrong = faults.flatMap(({ listed }) => listed).map(cellFinding);
  const number = table.endless || !shape ? rowFindings(table, expected) : [];
  const many = number.filter(([severity]) => severity === "bad" || !wrong.length);
  const bad = [...many, ...wrong].slice(0, LISTED).sort((one, other) => (one[2].row ?? 0) - (other[2].row ?? 0));
  const total = faults.reduce((sum, fault) => sum + fault.total, many.length);
  return { found: [...bad, ...told], more: total - bad.length, ids: table.ids, ...counts };
}

function cellFinding({ code, ...values }) {
  const comma = code === "not_a_number" && /^[+-]?[0-9]+,[0-9]+$/.test(values.value);
  return ["bad", comma ? "cell_decimal_comma" : `cell_${code}`, values];
}

function sizes(file, most) {
  if (file.size === 0) return [["bad", "check_empty", {}]];
  if (file.size > most) return [["bad", "check_large", { found: megabytes(file.size), expected: megabytes(most) }]];
  return [];
}

function headerFindings(cells, { header: expected, others }) {
  if (others.some((header) => header.join() === cells.join())) return [["bad", "check_swapped", {}]];
  const wrong = cells.flatMap((cell, place) => (cell === expected[place] ? [] : [place]));
  if (!wrong.length && cells.length === expected.length) return [];
  if (cells.join() === "") return [["bad", "check_no_header", {}]];
  if (INDEX.includes(cells[0]) && cells.length === expected.length + 1 && expected.every((name, place) => name === cells[place + 1])) {
    return [["bad", "check_index", {}]];
  }
  const separator = SEPARATORS.find(([sign]) => cells.length === 1 && expected.length > 1 && cells[0].includes(sign));
  return separator ? [["bad", separator[1], {}]] : columnFindings(cells, expected, wrong);
}

function columnFindings(cells, expected, wrong) {
  const missing = expected.filter((name) => !cells.includes(name));
  if (unnamed(cells, expected)) return [["bad", "check_unnamed", { names: namesOf(expected, ",") }]];
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

/** Whether the first line has as many cells as there are columns, and not one of their names. */
function unnamed(cells, expected) {
  const names = expected.map((name) => name.toLowerCase());
  return cells.length === expected.length && expected.length > 1 && !cells.some((cell) => names.includes(cell.toLowerCase()));
}

function namesOf(names, comma = ", ") {
  const shown = names.slice(0, NAMED).map((name) => name.slice(0, 40)).join(comma);
  return names.length > NAMED ? `${shown}${comma}… (+${names.length - NAMED})` : shown;
}

function rowFindings(table, expected) {
  const found = table.endless ? Math.max(table.rows, expected.most + 1) : table.rows;
  if (found < expected.fewest || found > expected.most) {
    if (expected.fewest === expected.most) return [["bad", "check_length", { found, expected: expected.most }]];
    const fewest = Math.max(expected.fewest, expected.required);
    return [["bad", "check_rows", { found, fewest, expected: expected.most }]];
  }
  if (table.rows < expected.required) {
    return [["warning", "check_few", { found: table.rows, expected: expected.required }]];
  }
  return [];
}

/** The text of a file with a line for each row; or what is wrong with it as a whole. */
async function lineText(file, { most_bytes, originals }) {
  const found = await opening(file, most_bytes);
  if (found.length) return { found };
  let ends = 0;
  await passBy(file, (bytes) => { for (const byte of bytes) if (byte === LF || byte === CR) ends += 1; });
  if (ends > 2 * (originals + 1000)) return { found: [["bad", "check_many_lines", {}]] };
  const text = decoded(await file.arrayBuffer(), "utf-8");
  if (text === null) return { found: [["bad", "check_utf8", {}]] };
  return text.includes("\0") ? { found: [["bad", "check_nul", {}]] } : { found, text };
}

async function checkPermutation(file, expected) {
  const { found, text } = await lineText(file, expected);
  const swapped = (header) => expected.tables.some((columns) => columns.join() === cellsOf(header).join());
  return found.length ? { found } : permutationFindings(text, { ...expected, swapped });
}

async function checkRows(file, expected) {
  const { found, text } = await lineText(file, expected);
  return found.length ? { found } : guessFindings(text, expected);
}

/** A table of purchases under pseudonyms; cells that go over lines are the server's to look at. */
async function checkPurchases(file, expected) {
  const table = await checkTable(file, { ...expected, deleted: DELETED });
  const whole = table.found.some(([severity, , { column }]) => severity === "bad" && column === undefined);
  const text = whole ? null : decoded(await file.arrayBuffer(), "utf-8");
  const lines = text === null ? [] : linesOf(text).lines;
  if (lines.length !== table.rows) return table;
  const { found, more } = purchaseFindings(lines);
  const all = [...table.found, ...found].sort((one, other) => (one[2].row ?? 0) - (other[2].row ?? 0));
  return { ...table, found: all.slice(0, LISTED), more: (table.more ?? 0) + more + Math.max(0, all.length - LISTED) };
}

/** The pseudonym of every customer in every month. */
async function checkMonths(file, expected) {
  const { found, text } = await lineText(file, expected);
  if (found.length) return { found };
  const { header, lines } = linesOf(text);
  return { ...nameFindings(header, lines, expected.originals), rows: lines.length, answered: named(lines) };
}

/** Of a kind that is not known here: whether it is there, small enough and no spreadsheet. */
async function checkOpening(file, { most_bytes }) {
  return { found: await opening(file, most_bytes) };
}

// By kind of file: the check, and the words for one that is good.
const CHECKS = {
  table: [checkTable, "check_good"], permutation: [checkPermutation, "check_good_lines"], rows: [checkRows, "check_good_guess"],
  scores: [checkTable, "check_good_lines"],
  purchases: [checkPurchases, "check_good"], months: [checkMonths, "check_good_guess"],
};

/** What is wrong with a file of this kind, and the words for one that is good. */
export async function checkedAs(kind, file, expected) {
  const [check, good] = CHECKS[kind] ?? [checkOpening, "check_good"];
  try {
    return [await check(file, expected), good];
  } catch (problem) {
    if (problem.name !== "NotReadableError") throw problem;
    return [{ found: [["bad", "check_changed", {}]] }, good]; // written to since, or taken away
  }
}
