// A CSV file below its header line, read as the server reads it: what it would refuse, by row and column.
// A fault is { code, row, column, line, value } and what its sentence says besides.

export const LISTED = 20; // as the server lists them; all are counted
export const INDEX = ["", "index", "Unnamed: 0"]; // what the column of a data frame's row labels is called
const LONGEST_CELL = 1000;
const LONGEST_VALUE = 80;
const MOST_QUANTITY = 1e12;
const MAX_ROWS = 1_000_000;
const [QUOTE, COMMA, LF, CR] = [0x22, 0x2c, 0x0a, 0x0d];
const [START, PLAIN, QUOTED, CLOSED] = [0, 1, 2, 3];

// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
const NUMBER = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const DATE = /^([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})$/;
const TIME = /^([0-9]{1,2}):[0-5][0-9]$/;
const PSEUDONYM = /^[A-Za-z0-9_-]+$/;

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

/** What is wrong, row by row: the first of it, and how much `more` there is. */
export class Findings {
  constructor() { Object.assign(this, { found: [], more: 0 }); }

  add(word, values) {
    if (this.found.length < LISTED) this.found.push(["bad", word, values]);
    else this.more += 1;
  }
}

function isDate(cell) {
  const [, year, , month, day] = (DATE.exec(cell) ?? []).map(Number);
  if (!year || month < 1 || month > 12) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day >= 1 && day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}

function isTime(cell) {
  const found = TIME.exec(cell);
  return found !== null && Number(found[1]) < 24;
}

function ofNumber(cell) {
  if (cell === "") return "missing_value";
  if (!NUMBER.test(cell)) return "not_a_number";
  return Number.isFinite(Number(cell)) ? null : "not_finite";
}

function ofQuantity(cell) {
  if (!/^[0-9]+$/.test(cell) || Number(cell) < 1) return "not_a_quantity";
  return Number(cell) > MOST_QUANTITY ? "too_large" : null;
}

/** By kind of rule: the codes of what can be wrong, in the order in which they are told, and how a cell is judged. */
const NUMBERS = ["missing_value", "not_a_number", "not_finite"];
const RULES = {
  number: [NUMBERS, ofNumber],
  range: [[...NUMBERS, "out_of_range"], (cell, { least, most }) =>
    ofNumber(cell) ?? (Number(cell) < least || Number(cell) > most ? "out_of_range" : null)],
  price: [[...NUMBERS, "negative_price"], (cell) => ofNumber(cell) ?? (Number(cell) < 0 ? "negative_price" : null)],
  quantity: [["not_a_quantity", "too_large"], ofQuantity],
  date: [["not_a_date"], (cell) => (isDate(cell) ? null : "not_a_date")],
  birthday: [["not_a_birthday"], (cell) => (cell === "" || isDate(cell) ? null : "not_a_birthday")],
  time: [["not_a_time"], (cell) => (isTime(cell) ? null : "not_a_time")],
  pseudonym: [["not_a_pseudonym"], (cell) => (PSEUDONYM.test(cell) ? null : "not_a_pseudonym")],
  among: [["unknown_value"], (cell, { set }) => (set.has(cell) ? null : "unknown_value")],
  known: [["unknown_customer"], (cell, { set }) => (!set || set.has(cell) ? null : "unknown_customer")],
  unique: [["duplicate_customer"], (cell, { seen }) => (seen.size === seen.add(cell).size ? "duplicate_customer" : null)],
};

/** Faults of one kind in one column: the first of them, and how many there are. */
class Faults {
  constructor(code, more = {}) { Object.assign(this, { code, more, listed: [], total: 0 }); }

  add(row, line, more) {
    this.total += 1;
    if (this.listed.length < LISTED) this.listed.push({ code: this.code, row, line, ...this.more, ...more });
  }
}

/** What the cells of a column must be; `ids`: by file and column, what stands in them. */
class Column {
  constructor(name, rules, ids) {
    this.name = name;
    this.filled = rules.some(({ kind }) => kind === "filled");
    this.judged = rules.filter(({ kind }) => kind in RULES).map((rule) => this.rule(rule, ids));
    this.faults = {};
    for (const code of ["control_character", "cell_too_long", "empty_cell"]) this.faults[code] = new Faults(code, { column: name });
  }

  rule({ kind, least, most, values, of }, ids) {
    const [codes, judge] = RULES[kind];
    const set = kind === "known" ? ids?.[of]?.[this.name] : new Set(values ?? []);
    const own = { least, most, set, seen: new Set() };
    const faults = Object.fromEntries(codes.map((code) => [code, new Faults(code, { column: this.name, least, most })]));
    return { kind, own, faults, judge };
  }

  text(cell, row, line) {
    if (CONTROL.test(cell)) this.add(this.faults.control_character, cell, row, line);
    if (cell.length > LONGEST_CELL && [...cell].length > LONGEST_CELL) this.add(this.faults.cell_too_long, cell, row, line);
    if (this.filled && cell === "") this.add(this.faults.empty_cell, cell, row, line);
  }

  judge(cell, row, line) {
    for (const { judge, own, faults } of this.judged) {
      const code = judge(cell, own);
      if (code !== null) this.add(faults[code], cell, row, line);
    }
  }

  add(faults, cell, row, line) { faults.add(row, line, { value: cell.slice(0, LONGEST_VALUE) }); }

  get typed() { return this.judged.flatMap(({ faults }) => Object.values(faults)); }
  get ids() { return this.judged.find(({ kind }) => kind === "unique")?.own.seen; }
}

/** The rows of a table, fed as text piece by piece. `rules`: [column, rules] in the order in which they are told,
 *  null where nothing is known of cells; `deleted`: what stands first in a row that is deleted. */
export class Table {
  constructor({ header, rules, ids, deleted, most }) {
    const known = new Map(rules ?? []);
    this.width = header.length;
    this.columns = rules ? header.map((name) => new Column(name, known.get(name) ?? [], ids)) : null;
    this.order = [...known.keys()];
    Object.assign(this, { deleted, gone: false, most });
    // Where it reads: rows that are complete, the line, and the line on which the row began.
    Object.assign(this, { rows: 0, line: 2, begun: 2, cells: 0, blank: true, blanks: 0, state: START, held: "", wasCR: false });
    Object.assign(this, { afterQuote: null, open: null, marks: [0, 0], ends: [0, 0] });
    this.ragged = new Faults("ragged_row");
    this.blankLines = new Faults("blank_line");
  }

  read(text) {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const sign = text.charCodeAt(at);
      if (sign === LF && this.wasCR) { // the second half of one line end
        if (this.state !== QUOTED) from = at + 1;
        this.wasCR = false;
        this.marks[0] += 1;
        continue;
      }
      this.wasCR = sign === CR;
      const lineEnd = sign === LF || sign === CR;
      if (this.state === QUOTED) {
        if (sign === QUOTE) { this.held += text.slice(from, at); from = at + 1; this.state = CLOSED; }
      } else if (lineEnd || sign === COMMA) {
        if (lineEnd && this.blank) this.blanks += 1;
        else this.cell(this.held + text.slice(from, at));
        if (lineEnd && !this.blank) this.endRow();
        from = at + 1;
      } else if (this.state === START) {
        this.begin();
        if (sign === QUOTE) { this.state = QUOTED; from = at + 1; } else this.state = PLAIN;
      } else if (this.state === CLOSED) {
        if (sign === QUOTE) { this.held += '"'; this.state = QUOTED; from = at + 1; } else this.textAfterQuote(at);
        if (this.state === PLAIN) from = at;
      }
      if (lineEnd) { this.line += 1; this.marks[sign === LF ? 0 : 1] += 1; }
    }
    this.held += text.slice(from);
  }

  /** Something stands on the line: blank ones above it are lines of the table. */
  begin() {
    if (!this.blank) return;
    this.blank = false;
    this.takeBlanks();
    this.begun = this.line;
  }

  takeBlanks() {
    for (this.begun = this.line - this.blanks; this.blanks; this.blanks -= 1, this.begun += 1) {
      if (this.width === 1) this.judge(0, "");
      else if (!this.afterQuote) this.blankLines.add(this.rows + 1, this.begun);
      this.rows += 1;
    }
  }

  textAfterQuote() {
    this.afterQuote ??= { code: "text_after_quote", row: this.rows + 1, line: this.begun };
    this.state = PLAIN;
  }

  cell(text) {
    this.begin();
    if (this.cells < this.width) this.judge(this.cells, text);
    this.cells += 1;
    this.held = "";
    this.state = START;
  }

  judge(place, cell) {
    const column = this.columns?.[place];
    if (!column) return;
    column.text(cell, this.rows + 1, this.begun);
    if (place === 0) this.gone = this.deleted !== undefined && cell === this.deleted;
    if (!this.gone) column.judge(cell, this.rows + 1, this.begun);
  }

  endRow() {
    this.rows += 1;
    if (this.cells !== this.width) this.ragged.add(this.rows, this.begun, { found: this.cells, expected: this.width });
    this.cells = 0;
    this.blank = true;
    this.ends = [...this.marks];
  }

  finish() {
    if (this.state === QUOTED) this.unclosed();
    else if (!this.blank) { this.cell(this.held); this.endRow(); }
    else if (this.width === 1) { this.takeBlanks(); this.ends = this.marks; }
    return this;
  }

  /** A quotation mark is open at the end. */
  unclosed() {
    const found = { code: "unclosed_quote" };
    this.ends = this.marks;
    if (this.cells + 1 === this.width) this.open = { ...found, row: this.rows + 1, line: this.begun };
    else this.ragged.add(this.rows + 1, this.begun, found);
  }

  /** Whether the file has far more lines than it may have rows: the server reads no such file. */
  get endless() { return Math.max(...this.ends) + 1 > Math.min(MAX_ROWS + 1, 2 * (this.most + 1000)); }

  /** What is wrong, as far as the server tells at once: the shape of the table, or else what stands in it. */
  faults() {
    if (this.ragged.total) return [this.ragged];
    const quote = this.afterQuote ?? this.open;
    const shape = [this.blankLines, { listed: [quote], total: quote ? 1 : 0 }].filter(({ total }) => total);
    if (shape.length || !this.columns) return shape;
    const texts = this.columns.flatMap((column) => Object.values(column.faults)).filter(({ total }) => total);
    return texts.length ? texts : this.typed();
  }

  typed() {
    const columns = this.order.map((name) => this.columns.find((column) => column.name === name)).filter(Boolean);
    return columns.flatMap((column) => column.typed).filter(({ total }) => total);
  }

  /** By column, what stands in those in which nothing stands twice. */
  get ids() {
    return Object.fromEntries((this.columns ?? []).filter((column) => column.ids).map((column) => [column.name, column.ids]));
  }
}
