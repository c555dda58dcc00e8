// The matrix of attacks as a picture that fits the page, with zoom and tooltips. The arrow keys move a cursor.

import { createElement, setAttributes } from "./elements.js";
import { clamp } from "./geometry.js";
import { fillTemplate } from "./text.js";
import { placeTooltip } from "./tooltips.js";

const MEAN_WIDTH = 40; // of the column of means
const MEAN_HEIGHT = 20; // of the row of means
const MAX_HEADER_HEIGHT = 104;
const MAX_CELL_WIDTH = 260;
const MAX_TARGETS_WITH_LONG_NAMES = 24;
// The least size in pixels of cells with a number, a name, a horizontal name of the target, and a gap.
const NUMBER_SIZE = { width: 28, height: 11 };
const NAME_SIZE = 9;
const HORIZONTAL_NAME_SIZE = 62;
const GAP_SIZE = 5;
const ZOOM_STEP = 1.5;

// An estimate for letters of 12 pixels.
const estimateWidth = ({ text }) => 16 + d3.sum(text, (letter) => (letter > "\u2e7f" ? 12 : 6.8));

// Cells are as large as the page allows, but flat if there are many rows.
function computeLayout(boxWidth, { targets, rows }) {
  const isSmall = targets.length <= MAX_TARGETS_WITH_LONG_NAMES;
  const nameWidth = Math.min(isSmall ? 320 : 190, boxWidth * 0.24, d3.max(rows, estimateWidth));
  const left = nameWidth + MEAN_WIDTH;
  const cellWidth = Math.min(MAX_CELL_WIDTH, (boxWidth - left - 1) / targets.length);
  const cellHeight = Math.max(rows.length > 80 ? 2 : 14, Math.min(isSmall ? 34 : 28, 720 / rows.length));
  const targetWidth = d3.max(targets, estimateWidth);
  const isHorizontal = cellWidth >= HORIZONTAL_NAME_SIZE;
  const nameHeight = isHorizontal ? 16 * Math.ceil(targetWidth / cellWidth) + 4 : targetWidth;
  const headerHeight = Math.min(cellWidth < NAME_SIZE ? MAX_HEADER_HEIGHT / 2 : MAX_HEADER_HEIGHT, nameHeight);
  const [top, maxZoom] = [headerHeight + MEAN_HEIGHT, Math.max(1, 64 / cellWidth, 24 / cellHeight)];
  const [width, height] = [cellWidth * targets.length, cellHeight * rows.length];
  return { left, top, width, height, nameWidth, headerHeight, cellWidth, cellHeight, maxZoom };
}

// Builds the picture again for the current width of the figure.
export function rebuild(view) {
  const { figure, matrix, words } = view;
  const properties = { className: "matrix_view", tabIndex: 0, role: "application", ariaLabel: words.keys };
  view.box?.remove();
  view.box = createElement("div", properties);
  figure.querySelector(":scope > .wide").before(view.box);
  view.boxWidth = view.box.clientWidth;
  view.layout = computeLayout(view.boxWidth, matrix);
  view.cursor = null;
  appendPictures(view);
  appendNames(view);
  view.tooltip = createElement("div", { className: "matrix_tip", role: "status" });
  view.box.append(view.tooltip);
  addBrush(view);
  addZoom(view);
  addListeners(view);
  resetZoom(view);
}

function appendPictures(view) {
  const { left, top, width, height } = view.layout;
  const svg = d3.select(view.box).append("svg")
    .call(setAttributes, { "aria-hidden": true, width: left + width + 1, height: top + height + 1 });
  const append = (name, box) => svg.append("svg").attr("class", name).call(setAttributes, box);
  const [meanX, meanWidth] = [left - MEAN_WIDTH, MEAN_WIDTH - 4];
  const [meanY, meanHeight] = [top - MEAN_HEIGHT, MEAN_HEIGHT - 4];
  view.rowMeans = append("means", { x: meanX, y: top, width: meanWidth, height });
  view.mean = append("means", { x: meanX, y: meanY, width: meanWidth, height: meanHeight });
  view.columnMeans = append("means", { x: left, y: meanY, width, height: meanHeight });
  const grid = append("grid", { x: left, y: top, width, height });
  [view.cells, view.marks, view.surface] = d3.range(3).map(() => grid.append("g"));
}

function appendNames(view) {
  const { left, top, width, height, nameWidth, headerHeight } = view.layout;
  const append = (kind, x, y, boxWidth, boxHeight) => d3.select(view.box).append("div")
    .attr("class", `matrix_names ${kind}`).attr("aria-hidden", true)
    .style("inset", `${y}px auto auto ${x}px`).style("width", `${boxWidth}px`).style("height", `${boxHeight}px`);
  view.rowNames = append("down", 0, top, nameWidth, height);
  view.targetNames = append("across", left, 0, width, headerHeight);
  append("down", 0, headerHeight, nameWidth, MEAN_HEIGHT).append("div").text(view.words.mean);
}

// The indices of the rows or columns in view.
function listVisible(scale, count) {
  const [first, last] = scale.range().map(scale.invert);
  return d3.range(Math.max(0, Math.floor(first)), Math.min(count, Math.ceil(last)));
}

function draw(view) {
  const { matrix: { rows, targets, mean }, cursor, x, y } = view;
  const [width, height] = [x(1) - x(0), y(1) - y(0)];
  const [columns, lines] = [listVisible(x, targets.length), listVisible(y, rows.length)];
  const place = (cell, left, top) => ({ ...cell, x: left, y: top });
  const cells = d3.cross(lines, columns, (row, column) => place(rows[row].cells[column], x(column), y(row)));
  drawCells(view.cells, cells, width, height);
  drawCells(view.rowMeans, lines.map((row) => place(rows[row].mean, 0, y(row))), MEAN_WIDTH - 3, height);
  const columnMeans = columns.map((column) => place(targets[column].mean, x(column), 0));
  drawCells(view.columnMeans, columnMeans, width, MEAN_HEIGHT - 3);
  drawCells(view.mean, [place(mean, 0, 0)], MEAN_WIDTH - 3, MEAN_HEIGHT - 3);
  drawNames(view.rowNames, lines, rows, cursor?.row, y, "top");
  drawNames(view.targetNames, columns, targets, cursor?.column, x, "left");
  view.targetNames.classed("turned", width < HORIZONTAL_NAME_SIZE);
  drawMarks(view);
  updateTooltip(view);
  view.box.classList.toggle("near", isEnlarged(view));
}

// Draws one path for all cells of a color, because thousands of elements would be slow.
function drawCells(container, cells, width, height) {
  const groups = d3.groups(cells, ({ tenths }) => tenths);
  container.selectAll("path.cells").data(groups, ([tenths]) => tenths).join("path")
    .attr("class", ([tenths]) => `${tenths === null ? "vacant" : `heat-${tenths}`} cells`)
    .attr("d", ([tenths, group]) => (tenths === null ? createDashes : createRectangles)(group, width, height));
  const hasNumbers = width >= NUMBER_SIZE.width && height >= NUMBER_SIZE.height;
  const numbers = hasNumbers ? cells.filter(({ tenths }) => tenths !== null) : [];
  container.selectAll("text").data(numbers).join("text").text(({ text }) => text)
    .attr("x", ({ x }) => x + width / 2).attr("y", ({ y }) => y + height / 2)
    .style("font-size", `${Math.min(height > 24 ? 13 : 11, height - 1)}px`);
}

function createRectangles(cells, width, height) {
  const gap = width > GAP_SIZE && height > GAP_SIZE ? 1 : 0.25;
  const [w, h] = [(width - gap).toFixed(2), (height - gap).toFixed(2)];
  return cells.map(({ x, y }) => `M${x.toFixed(2)},${y.toFixed(2)}h${w}v${h}h-${w}z`).join("");
}

function createDashes(cells, width, height) {
  if (width < GAP_SIZE || height < GAP_SIZE) return "";
  return cells.map(({ x, y }) => `M${(x + width / 2 - 2).toFixed(2)},${(y + height / 2).toFixed(2)}h4`).join("");
}

function drawNames(container, indices, headings, cursor, scale, side) {
  const size = scale(1) - scale(0);
  container.style("--size", `${size}px`).selectAll("div")
    .data(size >= NAME_SIZE ? indices : [], (index) => index)
    .join((enter) => enter.append("div").each(function write(index) {
      const { name, note } = headings[index];
      this.append(`${name} `, createElement("small", { textContent: note }));
    }))
    .style(side, (index) => `${scale(index)}px`)
    .classed("own", (index) => headings[index].isOwn)
    .classed("at", (index) => index === cursor);
}

const listOwn = (headings) => d3.range(headings.length).filter((index) => headings[index].isOwn);

// The position of a row, a column or a cell in the grid.
function locate({ x, y, layout }, { row, column }) {
  const [left, right] = column === undefined ? [0, layout.width] : [x(column), x(column + 1)];
  const [top, bottom] = row === undefined ? [0, layout.height] : [y(row), y(row + 1)];
  return { left, right, top, bottom };
}

function drawMarks(view) {
  const { matrix, cursor } = view;
  const mark = (kind, position) => ({ kind, ...locate(view, position) });
  const marks = [
    ...listOwn(matrix.rows).map((row) => mark("mine", { row })),
    ...listOwn(matrix.targets).map((column) => mark("mine", { column })),
  ];
  const { row, column } = cursor ?? {};
  if (cursor) marks.push(mark("cross", { row }), mark("cross", { column }), mark("spot", cursor));
  view.marks.selectAll("rect").data(marks).join("rect").call(setAttributes, {
    class: ({ kind }) => kind, x: ({ left }) => left, y: ({ top }) => top,
    width: ({ left, right }) => Math.max(0.5, right - left - 0.5),
    height: ({ top, bottom }) => Math.max(0.5, bottom - top - 0.5),
  });
}

function updateTooltip(view) {
  const { matrix, layout, cursor, tooltip, words, boxWidth } = view;
  if (!cursor) return tooltip.replaceChildren();
  const { text: attacker, cells } = matrix.rows[cursor.row];
  const { text: target } = matrix.targets[cursor.column];
  const { text: rate, tenths } = cells[cursor.column];
  const text = fillTemplate(words.cell, { attacker, target, value: tenths === null ? words.vacant : rate });
  if (tooltip.textContent !== text) tooltip.textContent = text;
  const { left, right, top, bottom } = locate(view, cursor);
  const [x, y] = [layout.left, layout.top];
  return placeTooltip(tooltip, { left: x + left, right: x + right, top: y + top, bottom: y + bottom }, boxWidth, 0);
}

const isEnlarged = ({ surface }) => d3.zoomTransform(surface.node()).k > 1.001;

// Dragging moves an enlarged picture. One finger scrolls the page, two enlarge.
function addZoom(view) {
  const { layout: { width, height, maxZoom }, matrix } = view;
  const homeX = d3.scaleLinear([0, matrix.targets.length], [0, width]);
  const homeY = d3.scaleLinear([0, matrix.rows.length], [0, height]);
  const startsZoom = (event) => {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    if (event.touches) return event.touches.length === 2 || isEnlarged(view);
    return !event.button && (isEnlarged(view) || event.type === "dblclick");
  };
  const extent = [[0, 0], [width, height]];
  view.zoom = d3.zoom().extent(extent).translateExtent(extent).scaleExtent([1, maxZoom]).filter(startsZoom)
    .on("zoom", ({ transform }) => {
      view.x = transform.rescaleX(homeX);
      view.y = transform.rescaleY(homeY);
      draw(view);
    });
  view.surface.call(view.zoom);
}

// Dragging enlarges a part of the whole picture.
function addBrush(view) {
  const { surface, layout: { width, height } } = view;
  const startsBrush = (event) => !event.button && !event.ctrlKey && !isEnlarged(view);
  const brush = d3.brush().extent([[0, 0], [width, height]]).touchable(false).filter(startsBrush);
  brush.on("end", ({ selection }) => {
    if (!selection) return;
    surface.call(brush.move, null);
    const [[left, top], [right, bottom]] = selection;
    if (right - left < 4 || bottom - top < 4) return;
    surface.call(view.zoom.scaleTo, Math.min(width / (right - left), height / (bottom - top)));
    surface.call(view.zoom.translateTo, (left + right) / 2, (top + bottom) / 2);
  });
  surface.call(brush);
}

function addListeners(view) {
  const { surface, box } = view;
  const pointAtCell = (event) => setCursor(view, findCell(view, d3.pointer(event, surface.node())));
  surface.on("click.cell", pointAtCell).on("pointermove.cell", (event) => {
    if (event.pointerType !== "touch") pointAtCell(event);
  });
  box.addEventListener("pointerleave", () => {
    if (document.activeElement !== box) hideCursor(view);
  });
  box.addEventListener("blur", () => hideCursor(view));
  box.addEventListener("focus", () => {
    if (!view.cursor && box.matches(":focus-visible")) moveCursor(view, 0, 0);
  });
  box.addEventListener("keydown", (event) => handleKey(view, event));
}

function findCell({ matrix, x, y }, [left, top]) {
  const [row, column] = [Math.floor(y.invert(top)), Math.floor(x.invert(left))];
  return matrix.rows[row] && matrix.targets[column] ? { row, column } : null;
}

function setCursor(view, cursor) {
  if (cursor?.row === view.cursor?.row && cursor?.column === view.cursor?.column) return;
  view.cursor = cursor;
  draw(view);
}

function centerCursor({ surface, zoom, cursor, layout }) {
  surface.call(zoom.translateTo, (cursor.column + 0.5) * layout.cellWidth, (cursor.row + 0.5) * layout.cellHeight);
}

// Moves the cursor to the nearest existing cell, and this cell into view.
function moveCursor(view, row, column) {
  const { rows, targets } = view.matrix;
  setCursor(view, { row: clamp(row, 0, rows.length - 1), column: clamp(column, 0, targets.length - 1) });
  const { left, right, top, bottom } = locate(view, view.cursor);
  const isOutside = left < 0 || top < 0 || right > view.layout.width + 1 || bottom > view.layout.height + 1;
  if (isOutside) centerCursor(view);
  view.tooltip.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// Zooms around the cursor if there is one.
function zoomBy(view, factor) {
  view.surface.call(view.zoom.scaleBy, factor);
  if (view.cursor) centerCursor(view);
}

export const zoomIn = (view) => zoomBy(view, ZOOM_STEP);
export const zoomOut = (view) => zoomBy(view, 1 / ZOOM_STEP);
export const resetZoom = (view) => view.surface.call(view.zoom.transform, d3.zoomIdentity);

const hideCursor = (view) => setCursor(view, null);
const ACTIONS = { "+": zoomIn, "-": zoomOut, 0: resetZoom, Escape: hideCursor };
const MOVES = { // in rows and columns
  ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0],
  ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity],
};

function handleKey(view, event) {
  const [action, move] = [ACTIONS[event.key], MOVES[event.key]];
  if ((!action && !move) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (action) return action(view);
  const { row, column } = view.cursor ?? { row: 0, column: 0 };
  return moveCursor(view, row + move[0], column + move[1]);
}
