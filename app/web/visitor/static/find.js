// The rows of the board in whose names a text is found, as it is typed; without this script the server looks.
// Pictures listen to "anoncup:find" and get the text.

import { folded } from "./fold.js";

const form = document.querySelector("form.find");
const field = form?.elements.find;

function rows() {
  return [...document.querySelectorAll("#standings table.ranks tbody tr:not([data-stays])")];
}

// What marks the reader's own row is no part of its name.
function name(row) {
  const parts = [...row.querySelector("th").childNodes].filter((part) => !part.classList?.contains("tag"));
  return folded(parts.map((part) => part.textContent).join(""));
}

function show() {
  const wanted = folded(field.value);
  const all = rows();
  for (const row of all) row.hidden = !name(row).includes(wanted);
  const found = all.filter((row) => !row.hidden).length;
  const said = form.dataset.find.replace("{found}", found).replace("{all}", all.length);
  form.querySelector("output").textContent = wanted ? said : "";
}

// The address says what is looked for: it can be sent to somebody, and is there after a reload.
function look() {
  show();
  const address = new URL(location.href);
  if (field.value) address.searchParams.set("find", field.value);
  else address.searchParams.delete("find");
  history.replaceState(history.state, "", address);
  tell();
}

function tell() {
  document.dispatchEvent(new CustomEvent("anoncup:find", { detail: { text: field.value } }));
}

if (field) {
  form.classList.add("at_once");
  field.addEventListener("input", look);
  form.addEventListener("submit", (event) => { event.preventDefault(); look(); });
  document.addEventListener("htmx:after:swap", () => { show(); tell(); });
  if (field.value) { show(); tell(); }
}
