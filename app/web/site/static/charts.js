// Pictures of data come to life: their marks say what they stand for, an entry of the legend brings out its series,
// and what takes over from a picture is loaded where there is one.

import { enliven, hide, show } from "./marks.js";

function bringOut(figure, name) {
  for (const series of figure.querySelectorAll(".picture .series")) {
    series.classList.toggle("dim", Boolean(name) && !series.classList.contains(name));
  }
}

function explain(figure) {
  const entries = [...figure.querySelectorAll(".legend .key")];
  const pressed = () => entries.find((each) => each.getAttribute("aria-pressed") === "true")?.dataset.series;
  const press = (entry) => {
    const on = pressed() !== entry.dataset.series;
    for (const each of entries) each.setAttribute("aria-pressed", String(on && each === entry));
    bringOut(figure, on ? entry.dataset.series : "");
  };
  for (const entry of entries) {
    entry.setAttribute("aria-pressed", "false");
    entry.disabled = false;
    entry.onpointerenter = entry.onfocus = () => bringOut(figure, entry.dataset.series);
    entry.onpointerleave = entry.onblur = () => bringOut(figure, pressed());
    entry.onclick = () => press(entry);
  }
}

function point({ target }) {
  const cell = target.closest?.(".heat td");
  if (!cell) return hide();
  const column = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent.trim();
  const said = `${cell.parentNode.cells[0].textContent.trim()} → ${column}: ${cell.textContent}`;
  return show(said, cell.getBoundingClientRect());
}

async function explore(figure) {
  await import("./vendor/d3-7.9.2.min.js");
  const view = await import("./scatter_plot.js");
  view.explore(figure);
}

const known = new WeakSet();
function discover() {
  for (const figure of document.querySelectorAll(".chart")) {
    if (known.has(figure)) continue;
    known.add(figure);
    explain(figure);
    if (figure.dataset.view) explore(figure);
    else figure.querySelectorAll("svg.picture[role=group]").forEach(enliven);
  }
}

discover();
new MutationObserver(discover).observe(document.body, { childList: true, subtree: true }); // parts are exchanged
addEventListener("pointerover", point);
