// Makes the charts of a page interactive: tooltips, legends, and scripts that replace a picture.

import { addTooltips } from "./tooltips.js";

const prepared = new WeakSet();

// A legend entry highlights its series while the pointer is on it, and after a press until the next one.
function prepareLegend(figure) {
  const entries = [...figure.querySelectorAll(".legend .key")];
  let pressed = null;
  const highlight = (entry) => {
    for (const { classList } of figure.querySelectorAll(".picture .series")) {
      classList.toggle("dim", entry !== null && !classList.contains(entry.dataset.series));
    }
  };
  for (const entry of entries) {
    entry.ariaPressed = "false";
    entry.disabled = false;
    entry.onpointerenter = entry.onfocus = () => highlight(entry);
    entry.onpointerleave = entry.onblur = () => highlight(pressed);
    entry.onclick = () => {
      pressed = pressed === entry ? null : entry;
      for (const other of entries) other.ariaPressed = String(other === pressed);
      highlight(pressed);
    };
  }
}

function prepareCharts() {
  for (const figure of document.querySelectorAll(".chart")) {
    if (prepared.has(figure)) continue;
    prepared.add(figure);
    prepareLegend(figure);
    figure.querySelectorAll("svg.picture[role=group]").forEach(addTooltips);
  }
}

prepareCharts();
// Other scripts insert and replace charts.
new MutationObserver(prepareCharts).observe(document.body, { childList: true, subtree: true });
