// A field for a file: where it is dropped, which one was chosen, and what is found in it.

const number = new Intl.NumberFormat(document.documentElement.lang);
const tenths = new Intl.NumberFormat(document.documentElement.lang, {
  minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false,
});
const ALIKE = { cells: 3, lines: 5 };
const plural = new Intl.PluralRules(document.documentElement.lang);

export function megabytes(bytes) {
  return tenths.format(bytes / 2 ** 20);
}

/** A text with its values; one that counts has a form for each plural category of what was found. */
export function phrase(text, values) {
  const form = typeof text === "string" ? text : text[plural.select(values.found ?? values.rows)];
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number.format(value) : String(value);
  });
}

/** What was found, below the field; false if something of it would be refused. */
export function show(input, words, { found, rows, columns, more, ...counts }, good) {
  const bad = found.some(([severity]) => severity === "bad");
  const box = document.getElementById(`${input.id}-problems`);
  box.replaceChildren();
  if (found.length) {
    const list = document.createElement("ul");
    list.className = "error";
    const told = found.filter(fewAlike());
    const rest = (more ?? 0) + found.length - told.length;
    list.append(...told.map((finding) => line(words, finding)));
    if (rest) list.append(line(words, ["bad", "check_more", { more: rest }]));
    box.append(list);
  }
  mark(input, bad ? "wrong" : found.length ? "warned" : "");
  const known = !bad && rows !== undefined;
  const sign = found.length ? "" : "✓ ";
  const values = { rows, columns: phrase(words.check_good_columns, { found: columns ?? 0 }), ...counts };
  document.getElementById(`${input.id}-checked`).textContent = known ? sign + phrase(words[good], values) : "";
  return !bad;
}

/** Of what is wrong in the same way in the same column, the first few: ten lines of it say no more. */
function fewAlike() {
  const times = new Map();
  return ([, word, { column }]) => {
    const kind = `${word} ${column}`;
    times.set(kind, (times.get(kind) ?? 0) + 1);
    return times.get(kind) <= ALIKE[column === undefined ? "lines" : "cells"];
  };
}

function line(words, [severity, word, values]) {
  const item = document.createElement("li");
  if (severity === "warning") item.className = "warning";
  const what = phrase(words[word], values);
  item.textContent = values.column === undefined ? what : phrase(words.check_cell, { ...values, what });
  if (values.line !== undefined) item.append(place(words, values));
  return item;
}

/** Where an editor finds it, and what stands there, as the server says both. */
function place(words, { line: number, value }) {
  const said = document.createElement("span");
  said.className = "quiet";
  const [before, after] = words.aside.split("{text}");
  said.textContent = before + phrase(words.check_line, { line: number });
  if (value) {
    const code = document.createElement("code");
    code.dir = "auto";
    code.textContent = visible(value);
    said.append(words.colon, code);
  }
  said.append(after);
  return said;
}

/** With a picture of each control character in its place. */
function visible(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f\x7f]/g, (sign) => (sign === "\x7f" ? "␡" : String.fromCharCode(0x2400 + sign.charCodeAt(0))));
}

export function mark(input, kind) {
  const { classList } = input.closest(".file");
  for (const each of ["wrong", "warned"]) classList.toggle(each, each === kind);
  if (kind === "wrong") input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** The name of the file in the page's own words: the browser speaks the reader's other language. */
export function named(input) {
  const [file] = input.files;
  input.closest(".drop").querySelector(".chosen").textContent = file?.name ?? "";
}

/** Makes the whole box take a file; `changed` is told of each new one. */
export function droppable(input, changed) {
  const box = input.closest(".file");
  box.closest("form").classList.add("ready");
  input.addEventListener("change", () => { named(input); changed(input); });
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
  named(input);
}

/** The SHA-256 of a file, as the receipt of an upload has it; null where the browser keeps it from the page. */
export async function digestOf(file) {
  if (!crypto.subtle) return null; // without HTTPS
  const found = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(found)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
