// Labels of the scatter plot, placed without overlaps, the most important first.

import { clamp, coverLine, createBox, overlaps } from "./geometry.js";

const SIDES = [[-1, 1], [-1, 0], [1, -1], [1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]; // in order of preference
const RING_DISTANCES = [24, 40, 60, 84, 112, 144];
const COVERED_POINT_COST = 4; // for required labels; other labels may not cover or touch other points
const CROSSING_COST = 10; // of a leader line that crosses a label or a line
const TOUCH_DISTANCE = 5;
const LEADER_CLEARANCE = 4; // nothing counts as crossed this close to the mark
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

export function truncate(text, maxWidth, measureText) {
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
    const cost = position.cost + computeCost(mark, position, others, crossable);
    if (cost < leastCost) [leastCost, best] = [cost, position];
  }
  if (!best) return null;
  const leader = best.isDistant ? createLeader(mark, best.box) : { line: "", lineBoxes: [] };
  return { box: best.box, text, kind: `${mark.kind}${isRequired(mark) ? " needed" : ""}`, ...leader };
}

function fits(box, area, fontSize) {
  return box.left >= area.left + 2 && box.right <= area.right + 0.8 * fontSize
    && box.top >= area.top - 2 && box.bottom <= area.bottom - 2;
}

function computeCost(mark, { box, isDistant }, others, crossable) {
  const coveredCount = others.filter((other) => overlaps(box, other, isDistant ? 0 : TOUCH_DISTANCE)).length;
  if (coveredCount && !isRequired(mark)) return Infinity;
  const crosses = (other) => leaderCrosses(mark, box, other);
  const crossingCost = isDistant && crossable.some(crosses) ? CROSSING_COST : 0;
  const crossedCount = isDistant ? others.filter(crosses).length : 0;
  return coveredCount * COVERED_POINT_COST + crossingCost + crossedCount;
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

// The leader line as a vector from the center of the mark to the nearest point of its label.
function measureLeader({ cx, cy }, box) {
  const [right, down] = [clamp(cx, box.left, box.right) - cx, clamp(cy, box.top, box.bottom) - cy];
  return { right, down, length: Math.hypot(right, down) || 1 };
}

// Whether a leader line crosses another box (algorithm of Liang and Barsky).
function leaderCrosses(mark, box, other) {
  const { right, down, length } = measureLeader(mark, box);
  let [first, last] = [Math.min((mark.size + LEADER_CLEARANCE) / length, 1), 1];
  const axes = [[mark.cx, right, other.left, other.right], [mark.cy, down, other.top, other.bottom]];
  for (const [start, direction, low, high] of axes) {
    if (direction) {
      const ends = [(low - start) / direction, (high - start) / direction];
      [first, last] = [Math.max(first, Math.min(...ends)), Math.min(last, Math.max(...ends))];
    } else if (start <= low || start >= high) return false;
  }
  return first < last;
}

function createLeader(mark, box) {
  const { right, down, length } = measureLeader(mark, box);
  const [center, end] = [[mark.cx, mark.cy], [mark.cx + right, mark.cy + down]];
  const start = d3.interpolateArray(center, end)(Math.min((mark.size + 1) / length, 1));
  const shares = d3.range(1 / 8, 1, 1 / 8).filter((share) => share * length >= mark.size + LEADER_CLEARANCE);
  return { line: `M${start.join(" ")}L${end.join(" ")}`, lineBoxes: coverLine(center, end, shares, 1) };
}
