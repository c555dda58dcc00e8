// A field for a file: where it is dropped, which one was chosen, and what is found in it.

const number = new Intl.NumberFormat(document.documentElement.lang);
const tenths = new Intl.NumberFormat(document.documentElement.lang, {
  minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false,
});
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
export function show(input, words, { found, rows, ...counts }, good) {
  const bad = found.some(([severity]) => severity === "bad");
  const box = document.getElementById(`${input.id}-problems`);
  box.replaceChildren();
  if (found.length) {
    const list = document.createElement("ul");
    list.className = "error";
    for (const [severity, word, values] of found) {
      const item = document.createElement("li");
      if (severity === "warning") item.className = "warning";
      item.textContent = phrase(words[word], values);
      list.append(item);
    }
    box.append(list);
  }
  mark(input, bad ? "wrong" : found.length ? "warned" : "");
  const known = !bad && rows !== undefined;
  const sign = found.length ? "" : "✓ ";
  document.getElementById(`${input.id}-checked`).textContent = known ? sign + phrase(words[good], { rows, ...counts }) : "";
  return !bad;
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
