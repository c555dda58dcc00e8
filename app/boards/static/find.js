// Shows only the rows of a board whose names contain the text in the search field. Charts get the text by the event
// "anoncup:find". Without this script the server searches.

import { fillTemplate, foldText } from "./text.js";

const form = document.querySelector("form.find");

// The name in a row, without the tags beside it.
function readName(row) {
  const nodes = [...row.querySelector("th").childNodes].filter((node) => !node.classList?.contains("tag"));
  return foldText(nodes.map((node) => node.textContent).join(""));
}

function search() {
  const text = form.elements.find.value;
  const query = foldText(text);
  const rows = [...document.querySelectorAll("#standings table.ranks tbody tr:not([data-stays])")];
  for (const row of rows) row.hidden = !readName(row).includes(query);
  const counts = { found: rows.filter((row) => !row.hidden).length, all: rows.length };
  form.querySelector("output").textContent = query ? fillTemplate(form.dataset.find, counts) : "";
  document.dispatchEvent(new CustomEvent("anoncup:find", { detail: { text } }));
}

// The address contains the text, so that it can be shared and reloaded.
function updateAddress() {
  const address = new URL(location.href);
  const text = form.elements.find.value;
  if (text) address.searchParams.set("find", text);
  else address.searchParams.delete("find");
  history.replaceState(history.state, "", address);
}

if (form) {
  form.classList.add("at_once");
  form.addEventListener("input", () => {
    search();
    updateAddress();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("htmx:after:swap", search);
  if (form.elements.find.value) search();
}
