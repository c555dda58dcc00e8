// Draws the rank of a team over time. Without this script, the table below it has the same steps.

import { setAttributes } from "./elements.js";
import { clamp } from "./geometry.js";
import { computeOffset, drawTimeAxis } from "./time_axis.js";

const container = document.querySelector("#rank_timeline");
const MARGIN = { top: 22, right: 16, bottom: 26, left: 40 };
const HEIGHT = 240;

// Only rises are marked, because other teams push a team down in many small steps.
function isRise(step, index, steps) {
  return step.rank !== null && !(steps[index - 1]?.rank <= step.rank);
}

function draw(entries, words) {
  const offset = computeOffset(container.dataset.zone, entries[0][0]);
  const steps = entries.map(([at, rank, rankedCount]) => ({ at: at + offset, rank, rankedCount }));
  const [start, last] = [steps[0].at, steps.at(-1)];
  const padding = (last.at - start) / 30 || 60_000;
  const extended = [...steps, { ...last, at: last.at + padding }];
  const lowestRank = Math.max(2, d3.max(steps, (step) => step.rankedCount));
  const width = clamp(container.clientWidth, 280, 960);
  const [right, bottom] = [width - MARGIN.right, HEIGHT - MARGIN.bottom];
  const x = d3.scaleUtc([start - padding, last.at + padding], [MARGIN.left, right]);
  const y = d3.scaleLinear([1, lowestRank], [MARGIN.top, bottom]);
  const svg = d3.create("svg")
    .call(setAttributes, { viewBox: [0, 0, width, HEIGHT], role: "img", "aria-label": words.picture });
  const area = d3.area((step) => x(step.at), y(1), (step) => y(Math.max(1, step.rankedCount)));
  svg.append("path").attr("class", "others").attr("d", area.curve(d3.curveStepAfter)(extended));
  drawTimeAxis(svg, x, bottom, width < 500 ? 4 : 8);
  const ranks = [...new Set([1, ...y.ticks(4).filter(Number.isInteger), lowestRank])];
  svg.append("g").attr("transform", `translate(${MARGIN.left},0)`)
    .call(d3.axisLeft(y).tickValues(ranks).tickFormat(String).tickSize(0).tickPadding(8));
  svg.append("text").attr("x", 4).attr("y", 11).text(words.rank);
  const amongY = y(Math.max(2, last.rankedCount)) - 6;
  svg.append("text").call(setAttributes, { x: right - 6, y: amongY, "text-anchor": "end" }).text(words.among);
  const line = d3.line((step) => x(step.at), (step) => y(step.rank)).defined((step) => step.rank !== null);
  svg.append("path").attr("class", "line").attr("d", line.curve(d3.curveStepAfter)(extended));
  svg.append("g").selectAll("circle").data(steps.filter(isRise)).join("circle")
    .attr("r", 3.5).attr("cx", (step) => x(step.at)).attr("cy", (step) => y(step.rank));
  container.replaceChildren(svg.node());
}

if (container) {
  container.hidden = false;
  const entries = JSON.parse(container.dataset.ranks);
  if (entries.length) draw(entries, JSON.parse(container.dataset.words));
}
