// Shows the matrix of attacks as a picture above its table, which unfolds on request.

import { createButton, createElement } from "./elements.js";
import { readMatrix } from "./matrix_table.js";
import { rebuild, resetZoom, zoomIn, zoomOut } from "./matrix_view.js";

const hidesPicture = matchMedia("(max-width: 40rem), print");
const unfoldedFigures = new Set(); // ids; they outlive a replacement of the figure
let resizeObserver = null; // of the current figure

function addControls(view) {
  const { figure, words } = view;
  const controls = createElement("div", { className: "matrix_bar" });
  const addButton = (text, onclick, properties) => {
    const button = createButton(text, onclick, { className: "second zoom", ...properties });
    controls.append(button);
    return button;
  };
  addButton("+", () => zoomIn(view), { ariaLabel: words.enlarge });
  addButton("−", () => zoomOut(view), { ariaLabel: words.reduce });
  addButton(words.whole, () => resetZoom(view));
  const toggle = () => showTable(figure, tableButton, !unfoldedFigures.has(figure.id));
  const tableButton = addButton(words.table, toggle, { className: "second" });
  controls.append(createElement("p", { textContent: words.help }));
  figure.querySelector(":scope > .wide").before(controls);
  showTable(figure, tableButton, unfoldedFigures.has(figure.id));
}

function showTable(figure, button, isUnfolded) {
  figure.classList.toggle("unfolded", isUnfolded);
  button.ariaExpanded = String(isUnfolded);
  if (isUnfolded) unfoldedFigures.add(figure.id);
  else unfoldedFigures.delete(figure.id);
}

function rebuildIfResized(view) {
  if (hidesPicture.matches || (view.box && view.box.clientWidth === view.boxWidth)) return;
  rebuild(view);
}

function prepareMatrix() {
  const container = document.querySelector("#standings[data-words]");
  const figure = container?.querySelector(".chart:has(.heat)");
  if (!figure || figure.classList.contains("drawn")) return;
  figure.querySelectorAll(".matrix_bar, .matrix_view").forEach((element) => element.remove());
  figure.classList.add("drawn");
  const matrix = readMatrix(figure.querySelector(".heat"));
  const view = { figure, matrix, words: JSON.parse(container.dataset.words) };
  addControls(view);
  resizeObserver?.disconnect();
  resizeObserver = new ResizeObserver(() => rebuildIfResized(view));
  resizeObserver.observe(figure);
  rebuildIfResized(view);
}

prepareMatrix();
document.addEventListener("htmx:after:swap", prepareMatrix);
