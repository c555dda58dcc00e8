// Draws the charts of a page from their Vega-Lite specifications. Without this script, their tables remain.

import { hideTooltip, showTooltip } from "./tooltips.js";

const axis = {
  domainColor: "var(--quiet)", gridColor: "var(--line)", labelColor: "var(--quiet)", labelFontSize: 12.5,
  tickColor: "var(--line)", tickCount: 8, titleColor: "var(--ink)", titleFontSize: 12.5,
};
const config = {
  axis, background: null, view: { stroke: null },
  area: { aria: false, interpolate: "step-after" }, bar: { color: "var(--data-1)" },
  legend: { labelColor: "var(--ink)", labelFontSize: 12.5, labelLimit: 0 },
  line: { aria: false, color: "var(--data-1)", interpolate: "step-after" },
  point: { filled: true, opacity: 1 }, rule: { aria: false }, text: { aria: false, fontSize: 13, fontWeight: 600 },
};
const PRINT_WIDTH_PX = 680;
const views = new Map();

// The interpreter replaces the compiler of expressions, which the content security policy forbids.
async function loadLibrary() {
  await import("./vendor/vega-6.4.0.min.js");
  await import("./vendor/vega-lite-6.5.0.min.js");
  const { expressionInterpreter } = await import("./vendor/vega-interpreter-2.3.2.js");
  await document.fonts.ready; // texts are measured
  return { ...vega, ...vegaLite, expressionInterpreter };
}

// Places labels so that nothing overlaps. Vega can do this, but Vega-Lite has no words for it, so `usermeta` has them.
function placeLabels({ marks, usermeta = {} }) {
  // The width may be 0 during the layout. Vega places labels again only if a parameter changes, so this one depends on
  // all that moves them.
  const size = { signal: "[domain('x') && max(1, width), domain('y') && max(1, height)]" };
  for (const [name, placement] of Object.entries(usermeta)) {
    const transform = { type: "label", size, offset: [8], sort: { field: "datum.order" }, ...placement };
    marks.find((mark) => mark.name === `${name}_marks`).transform = [transform];
  }
}

function showText(_, event, item, text) {
  if (event && text) showTooltip(text, new DOMRect(event.clientX, event.clientY, 0, 0));
  else hideTooltip();
}

const fitToContainer = (view, container) => view.width(container.clientWidth).runAsync();

// Other scripts replace charts.
function updateViews(update) {
  for (const [container, view] of views) {
    if (container.isConnected) update(view, container);
    else views.delete(container);
  }
}

// Vega resets a view at a double click.
function prepareReset(button, container) {
  if (!button) return;
  button.onclick = () => container.firstChild.dispatchEvent(new MouseEvent("dblclick"));
  button.hidden = false;
}

async function drawChart(figure) {
  const container = figure.querySelector(".drawing");
  const { compile, expressionInterpreter, parse, View } = await loadLibrary();
  const chart = JSON.parse(figure.querySelector("script").textContent);
  const width = container.clientWidth;
  const height = Math.min(chart.height, 0.9 * width);
  const layout = { width, height, autosize: { type: "fit-x", contains: "padding" } };
  const { fontFamily: font } = getComputedStyle(container);
  const { spec } = compile({ ...chart, ...layout }, { config: { ...config, font } });
  placeLabels(spec);
  spec.description = figure.querySelector("figcaption").textContent;
  const options = { container, expr: expressionInterpreter, renderer: "svg", tooltip: showText };
  const view = await new View(parse(spec, null, { ast: true }), options).runAsync();
  views.set(container, view);
  new ResizeObserver(() => fitToContainer(view, container)).observe(container);
  prepareReset(figure.querySelector("button.reset"), container);
}

// Charts are drawn when they become visible, also if they were in a closed <details>.
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    drawChart(target);
  }
});

function observeCharts() {
  for (const { parentNode } of document.querySelectorAll(".chart > .drawing:empty")) observer.observe(parentNode);
}

observeCharts();
addEventListener("beforeprint", () => updateViews((view) => view.width(PRINT_WIDTH_PX).run()));
addEventListener("afterprint", () => updateViews(fitToContainer));
document.addEventListener("htmx:after:swap", observeCharts);
