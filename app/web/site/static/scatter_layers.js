// The layers of the scatter plot. Layers that labels avoid return the boxes that they cover.

import { setAttributes } from "./elements.js";
import { coverLine, createBox, overlaps } from "./geometry.js";
import { placeLabels } from "./label_placement.js";

const SHAPES = { others: d3.symbolCircle, front: d3.symbolCircle, own: d3.symbolDiamond2, baseline: d3.symbolSquare };
const LEVEL_COUNT = 8;
const LEVEL_LABEL_POSITIONS = 24; // tried along a line

const localize = (text, decimal) => text.replace("-", "−").replace(".", decimal);

function drawPaths(group, paths) {
  group.selectAll("path").data(paths).join("path").attr("class", ([name]) => name).attr("d", ([, path]) => path);
}

function drawTexts(group, className, labels) {
  group.selectAll("text").data(labels).join("text").text(({ text }) => text).call(setAttributes, {
    class: ({ kind }) => `${className} middle ${kind}`, x: ({ box }) => box.x, y: ({ box }) => box.y, dy: ".34em",
  });
}

// Very small and very large values are written with powers of ten.
function chooseTickFormat(scale, ticks) {
  const largest = d3.max(scale.domain(), Math.abs);
  return largest > 1e-4 && largest < 1e5 ? scale.tickFormat(ticks.length) : d3.format("~e");
}

export function drawAxes({ axes, x, y, area: { left, right, top, bottom }, data, fontSize, measureText }) {
  const xTicks = x.ticks(Math.min(10, (right - left) / 70));
  const yTicks = y.ticks(Math.min(8, (bottom - top) / 45));
  const verticals = xTicks.map((tick) => `M${x(tick)} ${top}V${bottom}`);
  const horizontals = yTicks.map((tick) => `M${left} ${y(tick)}H${right}`);
  drawPaths(axes, [["grid", [...verticals, ...horizontals].join("")], ["axis", `M${left} ${top}V${bottom}H${right}`]]);
  const { words: { x_title, y_title, better }, decimal } = data;
  const [formatX, formatY] = [chooseTickFormat(x, xTicks), chooseTickFormat(y, yTicks)];
  const [tickY, titleY] = [bottom + 1.55 * fontSize, bottom + 2.9 * fontSize];
  const texts = [
    ...xTicks.map((tick) => ["tick middle", x(tick), tickY, localize(formatX(tick), decimal)]),
    ...yTicks.map((tick) => ["tick end", left - 6, y(tick) + 0.34 * fontSize, localize(formatY(tick), decimal)]),
    ["title", 2, top - 1.1 * fontSize, y_title],
    ["title end", right, titleY, x_title],
  ];
  const hint = `↙ ${better}`;
  if (measureText(hint) + measureText(x_title) + fontSize < right - left) texts.push(["better", left, titleY, hint]);
  axes.selectAll("text").data(texts).join("text").text(([, , , text]) => text)
    .call(setAttributes, { class: ([name]) => name, x: ([, textX]) => textX, y: ([, , textY]) => textY });
}

// The front as steps.
export function drawFront({ front, data, x, y, area }) {
  const marks = d3.sort(data.marks.filter((mark) => mark.front), (mark) => mark.x, (mark) => -mark.y);
  if (!marks.length) return [];
  const points = marks.map((mark) => [x(mark.x), y(mark.y)]);
  const steps = points.map(([pointX, pointY], index) => (index ? `H${pointX}V${pointY}` : `M${pointX} ${pointY}`));
  const [[startX, startY], [endX, endY]] = [points[0], points.at(-1)];
  const ends = `M${startX} ${startY}V${Math.min(area.top, startY)}M${endX} ${endY}H${Math.max(area.right, endX)}`;
  drawPaths(front, [["reach", ends], ["line", steps.join("")]]);
  return d3.pairs(points).flatMap(([[left, top], [right, bottom]]) => [
    { left, right, top: top - 1, bottom: top + 1 },
    { left: right - 1, right: right + 1, top, bottom },
  ]);
}

// Lines of equal overall score, which is the mean of both values, and the line of the leader.
export function drawLevels(plot, frontBoxes) {
  if (!plot.data.with_levels) return [];
  const lines = computeLevels(plot);
  const markBoxes = plot.data.marks.filter((mark) => mark.isInside).map((mark) => mark.box);
  const boxes = placeLevelLabels(plot, lines, [...frontBoxes, ...markBoxes]);
  const paths = lines.map(({ kind, start, end }) => [`equal ${kind}`, `M${start.join(" ")}L${end.join(" ")}`]);
  drawPaths(plot.levels, paths);
  drawTexts(plot.levels, "aside", lines.filter(({ box }) => box));
  return boxes;
}

// The line of the leader comes first. It replaces a level that is too close to it.
function computeLevels({ data: { leader, leader_text, decimal }, x, y }) {
  const [[left, right], [low, high]] = [x.domain(), y.domain()];
  const range = [(left + low) / 2, (right + high) / 2, LEVEL_COUNT];
  const [ticks, format] = [d3.ticks(...range), d3.tickFormat(...range)];
  const minDistance = 0.05 * (ticks[1] - ticks[0] || 1);
  const levels = ticks.filter((score) => leader === null || Math.abs(score - leader) > minDistance)
    .map((score) => ({ score, text: localize(format(score), decimal), kind: "" }));
  if (leader !== null) levels.unshift({ score: leader, text: leader_text, kind: "best" });
  return levels.flatMap((level) => {
    const ends = [Math.max(left, 2 * level.score - high), Math.min(right, 2 * level.score - low)];
    const [start, end] = ends.map((value) => [x(value), y(2 * level.score - value)]);
    return ends[0] < ends[1] ? [{ ...level, start, end }] : [];
  });
}

function placeLevelLabels(plot, lines, obstacles) {
  const boxes = [];
  const isFree = (box) => ![...obstacles, ...boxes].some((other) => overlaps(box, other));
  for (const line of lines) {
    line.box = listLevelLabelBoxes(plot, line).find(isFree);
    if (line.box) boxes.push(line.box);
    if (line.kind === "best") boxes.push(...coverLevel(line));
  }
  return boxes;
}

// From the lower right end of the line to its middle, or for the leader from the other end along all of it.
function listLevelLabelBoxes({ area, fontSize, measureText }, { start, end, text, kind }) {
  const [from, to, length] = kind === "best" ? [start, end, 1] : [end, start, 0.5];
  const shares = d3.range(1, length * LEVEL_LABEL_POSITIONS).map((index) => index / LEVEL_LABEL_POSITIONS);
  const boxes = coverLine(from, to, shares, measureText(text) / 2 + 3, fontSize / 2);
  return boxes.filter(({ left, right, top, bottom }) => (
    left > area.left && right < area.right && top > area.top && bottom < area.bottom - 2));
}

function coverLevel({ start, end }) {
  const count = Math.max(1, Math.round(Math.hypot(end[0] - start[0], end[1] - start[1]) / 4));
  return coverLine(start, end, d3.range(count + 1).map((index) => index / count), 2);
}

// The boxes in which the exact values of rounded scores lie. No score is below 0 or above 1.
export function drawRoundingBoxes({ roundingBoxes, data, x, y }) {
  const locate = (scale, score, error) => (
    [Math.max(0, score - error), Math.min(Math.max(1, score), score + error)].map((end) => scale(end)));
  const marks = data.marks.filter((mark) => mark.rounding_error);
  roundingBoxes.selectAll("rect").data(marks).join("rect").each(function place(mark) {
    const [left, right] = locate(x, mark.x, mark.rounding_error);
    const [bottom, top] = locate(y, mark.y, mark.rounding_error);
    d3.select(this).call(setAttributes, { x: left, y: top, width: right - left, height: bottom - top });
  });
}

function drawSymbol({ isArrow, kind, size }) {
  return d3.symbol(isArrow ? d3.symbolTriangle : SHAPES[kind], Math.PI * size ** 2)();
}

export function drawMarks({ marks, counts, state }) {
  const isFaint = (mark) => Boolean(state.query) && !mark.matched;
  marks.attr("d", drawSymbol)
    .attr("transform", (mark) => `translate(${mark.cx} ${mark.cy})${mark.isArrow ? `rotate(${mark.angle})` : ""}`)
    .classed("stack", (mark) => mark.names.length > 1 && !mark.isArrow)
    .classed("out", (mark) => !mark.isInside && !mark.isArrow)
    .classed("found", (mark) => mark.matched)
    .classed("faint", isFaint);
  counts.attr("x", (mark) => mark.cx).attr("y", (mark) => mark.cy)
    .classed("out", (mark) => !mark.isInside).classed("faint", isFaint);
}

export function drawLabels(plot, obstacles) {
  const labels = placeLabels(plot, obstacles);
  drawPaths(plot.labels, labels.filter(({ line }) => line).map(({ kind, line }) => [`leader ${kind}`, line]));
  drawTexts(plot.labels, "label", labels);
}
