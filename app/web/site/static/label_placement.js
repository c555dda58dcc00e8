// Labels of the scatter plot, placed without overlaps, the most important first.

import { clamp, coverLine, createBox, overlaps } from "./geometry.js";

const SIDES = [[-1, 1], [-1, 0], [1, -1], [1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]; // in order of preference
const RING_DISTANCES = [24, 40, 60, 84, 112, 144];
const COVERED_POINT_COST = 4; // for required labels; other labels may not cover or touch other points
const CROSSING_COST = 10; // of a leader line that crosses a label or a line
const TOUCH_DISTANCE = 5;
const LEADER_CLEARANCE = 4; // nothing counts as crossed this close to the mark
const LEADER_STEP = 4; // between the boxes that cover a leader line
const MAX_TOP_RANK = 10;
const MAX_CANDIDATES = 60;
const REQUIRED_SCALE = 1.12; // of the font size of required labels, as in charts.css

const isRequired = (mark) => mark.required || mark.matched;

// Places as many labels as fit. They avoid the obstacles and, unless they are required, all marks.
export function placeLabels(plot, obstacles) {
  const { data, area, isHome } = plot;
  const visible = data.marks.filter((mark) => mark.isInside || (mark.isArrow && isRequired(mark)));
  const candidates = selectCandidates(visible, isHome);
  const blocked = [...obstacles, ...candidates.filter(isRequired).map(({ box }) => box)];
  const limit = ((area.right - area.left) * (area.bottom - area.top)) / (isHome ? 40_000 : 14_000);
  const labels = [];
  for (const mark of candidates) {
    const label = labels.length < limit || isRequired(mark) ? placeLabel(plot, mark, visible, blocked) : null;
    if (!label) continue;
    labels.push(label);
    blocked.push(label.box, ...label.lineBoxes);
  }
  return labels;
}

// If there are many marks, those of the lowest priority get labels only after zooming.
function selectCandidates(visible, isHome) {
  const candidates = visible.filter((mark) => !isHome || visible.length < 20 || getPriority(mark) < 6);
  return d3.sort(candidates, getPriority, (mark) => mark.rank ?? Infinity).slice(0, MAX_CANDIDATES);
}

function getPriority({ matched, kind, required, rank, front }) {
  const isTop = rank !== null && rank <= MAX_TOP_RANK;
  return [matched, kind === "own", required, isTop, kind === "baseline", front, true].indexOf(true);
}

function truncate(text, maxWidth, measureText) {
  if (measureText(text) <= maxWidth) return text;
  const letters = [...text];
  const cut = (length) => `${letters.slice(0, length).join("").trimEnd()}…`;
  const lengths = d3.range(1, letters.length);
  return cut(d3.bisector((length) => measureText(cut(length))).right(lengths, maxWidth));
}

function placeLabel({ area, fontSize, measureText }, mark, visible, blocked) {
  const scale = isRequired(mark) ? REQUIRED_SCALE : 1;
  const measure = (text) => measureText(text) * scale + 2;
  const maxWidth = Math.min(280, 0.42 * (area.right - area.left)) - measure(mark.suffix);
  const text = truncate(mark.label, maxWidth, measure) + mark.suffix;
  const others = visible.filter((other) => other !== mark).map(({ box }) => box);
  const crossable = blocked.filter((box) => box !== mark.box);
  let [leastCost, best] = [Infinity, null];
  for (const position of iteratePositions(mark, measure(text), 1.25 * fontSize * scale)) {
    if (leastCost <= position.cost) break;
    if (!fits(position.box, area, fontSize) || blocked.some((box) => overlaps(box, position.box))) continue;
    const leader = position.isDistant ? createLeader(mark, position.box) : { line: "", lineBoxes: [] };
    const label = { text, kind: `${mark.kind}${isRequired(mark) ? " needed" : ""}`, ...position, ...leader };
    label.cost += computeCost(mark, label, others, crossable);
    if (label.cost < leastCost) [leastCost, best] = [label.cost, label];
  }
  return best;
}

function fits(box, area, fontSize) {
  return box.left >= area.left + 2 && box.right <= area.right + 0.8 * fontSize
    && box.top >= area.top - 2 && box.bottom <= area.bottom - 2;
}

function computeCost(mark, { box, lineBoxes, isDistant }, others, crossable) {
  const coveredCount = others.filter((other) => overlaps(box, other, isDistant ? 0 : TOUCH_DISTANCE)).length;
  if (coveredCount && !isRequired(mark)) return Infinity;
  const isCrossed = (other) => lineBoxes.some((lineBox) => overlaps(lineBox, other));
  const crossingCost = crossable.some(isCrossed) ? CROSSING_COST : 0;
  return coveredCount * COVERED_POINT_COST + crossingCost + others.filter(isCrossed).length;
}

// Positions beside the mark, the best first. Required labels may also be farther away, with a leader line.
function* iteratePositions(mark, width, height) {
  for (const [index, [right, down]] of SIDES.entries()) {
    const distance = mark.size + (right && down ? 0 : 4);
    const [x, y] = [mark.cx + right * (distance + width / 2), mark.cy + down * (distance + height / 2)];
    yield { cost: index / 100, box: createBox(x, y, width / 2, height / 2), isDistant: false };
  }
  for (const [distance, step] of isRequired(mark) ? d3.cross(RING_DISTANCES, d3.range(16)) : []) {
    const [angle, radius] = [(step * Math.PI) / 8, distance + mark.size];
    const [x, y] = [mark.cx + radius * Math.cos(angle), mark.cy + radius * Math.sin(angle)];
    for (const side of Math.abs(Math.cos(angle)) < 0.5 ? [0, -1, 1] : [Math.sign(Math.cos(angle))]) {
      const box = createBox(x + (side * width) / 2, y, width / 2, height / 2);
      yield { cost: 1 + distance / 25, box, isDistant: true };
    }
  }
}

// The line from the edge of the mark to the nearest point of its label, and boxes that cover it.
function createLeader({ cx, cy, size }, box) {
  const end = [clamp(cx, box.left, box.right), clamp(cy, box.top, box.bottom)];
  const length = Math.hypot(end[0] - cx, end[1] - cy) || 1;
  const start = d3.interpolateArray([cx, cy], end)(Math.min((size + 1) / length, 1));
  const shares = d3.range(size + LEADER_CLEARANCE, length, LEADER_STEP).map((distance) => distance / length);
  return { line: `M${start.join(" ")}L${end.join(" ")}`, lineBoxes: coverLine([cx, cy], end, shares, 1) };
}
