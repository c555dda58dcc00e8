// The interactive scatter plot of utility loss and risk. It replaces the server's picture of the same data.

import { createElement, setAttributes } from "./elements.js";
import { clamp, createBox } from "./geometry.js";
import { drawAxes, drawFront, drawLabels, drawLevels, drawMarks, drawRoundingBoxes } from "./scatter_layers.js";
import { foldText } from "./text.js";
import { addTooltips } from "./tooltips.js";

const KINDS = ["others", "baseline", "front", "own"]; // from back to front
const MAX_ZOOM = 80;
const ZOOM_STEP = 1.7;
const MAX_PAN = 20; // pixels beyond the outermost mark
const MAX_MARKS_WITH_ARROWS = 8;
const states = new Map(); // zoom and search by figure; they outlive a replacement of the figure

export function createScatterPlot(figure) {
  const data = JSON.parse(figure.dataset.view);
  const query = new URLSearchParams(location.search).get("find") ?? "";
  const state = states.get(figure.id) ?? { transform: d3.zoomIdentity, query };
  states.set(figure.id, state);
  const container = figure.querySelector(".stage");
  const plot = { container, data, state, picture: createPicture(container.querySelector("svg")) };
  appendLayers(plot, `${figure.id}-inside`);
  search(plot, state.query);
  prepareControls(plot, figure.querySelector(".zoom_controls"));
  fitToContainer(plot);
  addTooltips(plot.picture.node());
  new ResizeObserver(() => fitToContainer(plot)).observe(container);
  addListeners(plot);
}

function createPicture(serverPicture) {
  const picture = d3.create("svg").attr("class", "picture level true").attr("tabindex", -1);
  for (const name of ["role", "aria-labelledby", "aria-describedby"]) {
    picture.attr(name, serverPicture.getAttribute(name));
  }
  serverPicture.replaceWith(picture.node());
  return picture;
}

// From back to front. The keyboard enters the picture at its last mark.
function appendLayers(plot, clipId) {
  const { picture, data: { marks } } = plot;
  plot.clip = picture.append("defs").append("clipPath").attr("id", clipId).append("rect");
  plot.axes = picture.append("g").attr("aria-hidden", true);
  const background = picture.append("g").attr("aria-hidden", true).attr("clip-path", `url(#${clipId})`);
  const layers = ["blurs", "series levels", "series points front"];
  [plot.roundingBoxes, plot.levels, plot.front] = layers.map((name) => background.append("g").attr("class", name));
  const groups = picture.selectAll(null).data(KINDS).join("g").attr("class", (kind) => `series points ${kind}`);
  plot.marks = groups.selectAll("path").data((kind) => marks.filter((mark) => mark.kind === kind)).join("path")
    .attr("role", "img").attr("aria-label", (mark) => mark.description);
  plot.marks.nodes().at(-1).setAttribute("tabindex", "0");
  const stacks = marks.filter((mark) => mark.names.length > 1);
  plot.counts = groups.selectAll("text").data((kind) => stacks.filter((mark) => mark.kind === kind)).join("text")
    .call(setAttributes, { class: "count middle", dy: ".34em", "aria-hidden": true })
    .text((mark) => mark.names.length);
  plot.labels = picture.append("g").attr("class", "names").attr("aria-hidden", true);
}

function prepareControls(plot, controls) {
  const [zoomInButton, zoomOutButton, resetButton, fullViewButton] = controls.querySelectorAll("button");
  zoomInButton.onclick = () => zoomBy(plot, ZOOM_STEP);
  zoomOutButton.onclick = () => zoomBy(plot, 1 / ZOOM_STEP);
  resetButton.onclick = () => zoomTo(plot, d3.zoomIdentity);
  fullViewButton.onclick = () => zoomTo(plot, computeFullView(plot));
  if (String(plot.data.full) === String(plot.data.home)) fullViewButton.remove();
  controls.hidden = false;
  plot.resetButton = resetButton;
}

function fitToContainer(plot) {
  const { container, picture, data: { home: [minX, maxX, minY, maxY] } } = plot;
  const [width, height] = [Math.round(container.clientWidth), Math.round(container.clientHeight)];
  if (!width || !height || (plot.width === width && plot.height === height)) return;
  picture.call(setAttributes, { viewBox: `0 0 ${width} ${height}`, width, height });
  Object.assign(plot, { width, height, ...measureFont(picture.node()) });
  const em = plot.fontSize;
  const [left, right, top, bottom] = [4 * em, width - 1.7 * em, 2.2 * em, height - 3.3 * em];
  plot.area = { left, right, top, bottom };
  plot.homeX = d3.scaleLinear([minX, maxX], [left, right]);
  plot.homeY = d3.scaleLinear([minY, maxY], [bottom, top]);
  plot.clip.call(setAttributes, { x: left, y: top, width: right - left, height: bottom - top });
  addZoom(plot);
}

function measureFont(element) {
  const { fontSize, fontFamily } = getComputedStyle(element);
  const context = createElement("canvas").getContext("2d");
  context.font = `600 ${fontSize} ${fontFamily}`;
  return { fontSize: parseFloat(fontSize), measureText: (text) => context.measureText(text).width };
}

function addZoom(plot) {
  const { picture, homeX, homeY, state, data, area: { left, right, top, bottom } } = plot;
  const [minX, maxX, minY, maxY] = data.full;
  plot.zoom = d3.zoom()
    .filter((event) => startsZoom(event, plot))
    .scaleExtent([Math.min(1, computeFullView(plot).k), MAX_ZOOM])
    .extent([[left, top], [right, bottom]])
    .translateExtent([
      [Math.min(homeX(minX), left) - MAX_PAN, Math.min(homeY(maxY), top) - MAX_PAN],
      [Math.max(homeX(maxX), right) + MAX_PAN, Math.max(homeY(minY), bottom) + MAX_PAN],
    ])
    .on("zoom", ({ transform }) => {
      state.transform = transform;
      draw(plot);
    });
  picture.call(plot.zoom).call(plot.zoom.transform, state.transform);
}

// The wheel zooms with a key or in a focused picture, and otherwise scrolls the page. So does a single finger
// unless the picture is enlarged.
function startsZoom(event, { picture, state }) {
  const isFocused = picture.node().contains(document.activeElement);
  if (event.type === "wheel") return event.ctrlKey || event.metaKey || isFocused;
  if (event.type === "touchstart") return event.touches.length > 1 || state.transform.k > 1;
  return !event.button && !event.ctrlKey;
}

function animate({ picture }) {
  const isMotionReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return isMotionReduced ? picture : picture.transition().duration(250);
}

const zoomTo = (plot, transform) => animate(plot).call(plot.zoom.transform, transform);
const zoomBy = (plot, factor) => animate(plot).call(plot.zoom.scaleBy, factor);

// The view of all marks, also of those that are arrows at the edge of the first view.
function computeFullView({ data: { full: [minX, maxX, minY, maxY] }, homeX, homeY, area }) {
  const scaleX = (area.right - area.left) / (homeX(maxX) - homeX(minX));
  const scaleY = (area.bottom - area.top) / (homeY(minY) - homeY(maxY));
  const k = Math.min(scaleX, scaleY, 1);
  return d3.zoomIdentity.translate(area.left - k * homeX(minX), area.bottom - k * homeY(minY)).scale(k);
}

function draw(plot) {
  const { state: { transform, query }, picture, data, homeX, homeY } = plot;
  plot.x = transform.rescaleX(homeX);
  plot.y = transform.rescaleY(homeY);
  plot.isHome = transform.k === 1 && Math.hypot(transform.x, transform.y) < 1;
  plot.resetButton.disabled = plot.isHome;
  picture.style("touch-action", transform.k > 1 ? "none" : "pan-x pan-y").classed("sought", Boolean(query));
  for (const mark of data.marks) locateMark(plot, mark);
  drawAxes(plot);
  const frontBoxes = drawFront(plot);
  const levelBoxes = drawLevels(plot, frontBoxes);
  drawRoundingBoxes(plot);
  drawMarks(plot);
  drawLabels(plot, [...levelBoxes, ...frontBoxes]);
  picture.node().dispatchEvent(new Event("moved"));
}

// Important marks outside the visible area become arrows at its edge.
function locateMark({ x, y, area, isHome, data }, mark) {
  const [cx, cy] = [x(mark.x), y(mark.y)];
  const right = (cx > area.right + 1) - (cx < area.left - 1);
  const down = (cy > area.bottom + 1) - (cy < area.top - 1);
  mark.isInside = !right && !down;
  const isImportant = isHome || mark.required || mark.matched || data.marks.length <= MAX_MARKS_WITH_ARROWS;
  mark.isArrow = !mark.isInside && isImportant;
  mark.angle = (Math.atan2(down, right) * 180) / Math.PI + 90;
  mark.cx = mark.isArrow ? clamp(cx, area.left, area.right) : cx;
  mark.cy = mark.isArrow ? clamp(cy, area.top, area.bottom) : cy;
  mark.size = computeSize(mark);
  mark.box = createBox(mark.cx, mark.cy, mark.size);
}

function computeSize({ isArrow, names, kind, required }) {
  const isOwn = kind === "own";
  if (isArrow) return 6;
  if (names.length > 1) return (6.5 + 2.2 * String(names.length).length) * (isOwn ? 1.3 : 1);
  if (isOwn) return 8;
  return required ? 6 : 4.5;
}

function search({ state, data }, text) {
  state.query = foldText(text);
  for (const mark of data.marks) {
    mark.matched = Boolean(state.query) && mark.names.some((name) => foldText(name).includes(state.query));
  }
}

function addListeners(plot) {
  const node = plot.picture.node();
  const showMatches = ({ detail }) => {
    if (!node.isConnected) return document.removeEventListener("anoncup:find", showMatches);
    search(plot, detail.text);
    return draw(plot);
  };
  document.addEventListener("anoncup:find", showMatches);
  node.addEventListener("keydown", (event) => zoomByKey(plot, event));
  node.addEventListener("focusin", ({ target }) => showMark(plot, d3.select(target).datum()));
}

function zoomByKey(plot, event) {
  const factor = { "+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP }[event.key];
  if ((!factor && event.key !== "0") || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (factor) zoomBy(plot, factor);
  else zoomTo(plot, d3.zoomIdentity);
}

// Moves a mark into view when it receives the focus.
function showMark({ picture, zoom, homeX, homeY }, mark) {
  if (mark?.names && !mark.isInside && !mark.isArrow) picture.call(zoom.translateTo, homeX(mark.x), homeY(mark.y));
}
