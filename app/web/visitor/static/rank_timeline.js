// Draws the rank of a team over time. Without this script, the table below it has the same steps.

import { offset, tick, ticks } from "./moments.js";

const element = document.querySelector("#rank_timeline");
const MARGIN = { top: 22, right: 16, bottom: 26, left: 40 };
const HEIGHT = 240;

// A mark where the team rose; others push it down in many small steps.
function rose(step, place, steps) {
  return step.rank !== null && !(steps[place - 1]?.rank <= step.rank);
}

function draw(container) {
  const words = JSON.parse(container.dataset.words);
  const entries = JSON.parse(container.dataset.ranks);
  if (!entries.length) return;
  const moved = offset(container.dataset.zone, entries[0][0]);
  const steps = entries.map(([at, rank, ranked]) => ({ at: at + moved, rank, ranked }));
  const width = Math.max(280, Math.min(960, container.clientWidth));
  const pad = (steps.at(-1).at - steps[0].at) / 30 || 60_000;
  const [begin, end] = [steps[0].at - pad, steps.at(-1).at + pad];
  const most = d3.max(steps, (step) => step.ranked);
  const x = d3.scaleUtc([begin, end], [MARGIN.left, width - MARGIN.right]);
  const y = d3.scaleLinear([1, Math.max(2, most)], [MARGIN.top, HEIGHT - MARGIN.bottom]);
  const svg = d3.create("svg").attr("viewBox", [0, 0, width, HEIGHT]).attr("role", "img").attr("aria-label", words.picture);
  const long = [...steps, { ...steps.at(-1), at: end }];
  const among = d3.area((step) => x(step.at), y(1), (step) => y(Math.max(1, step.ranked))).curve(d3.curveStepAfter);
  const line = d3.line((step) => x(step.at), (step) => y(step.rank)).defined((step) => step.rank !== null).curve(d3.curveStepAfter);
  svg.append("path").attr("class", "others").attr("d", among(long));
  svg.append("g").attr("transform", `translate(0,${HEIGHT - MARGIN.bottom})`)
    .call(d3.axisBottom(x).tickValues(ticks(x, width < 500 ? 4 : 8)).tickSizeOuter(0).tickFormat(tick));
  const ranks = [...new Set([1, ...y.ticks(4).filter(Number.isInteger), Math.max(2, most)])];
  svg.append("g").attr("transform", `translate(${MARGIN.left},0)`)
    .call(d3.axisLeft(y).tickValues(ranks).tickFormat(String).tickSize(0).tickPadding(8));
  svg.append("text").attr("x", 4).attr("y", 11).text(words.rank);
  svg.append("text").attr("x", width - MARGIN.right - 6).attr("y", y(Math.max(2, steps.at(-1).ranked)) - 6)
    .attr("text-anchor", "end").text(words.among);
  svg.append("path").attr("class", "line").attr("d", line(long));
  svg.append("g").selectAll("circle").data(steps.filter(rose)).join("circle")
    .attr("r", 3.5).attr("cx", (step) => x(step.at)).attr("cy", (step) => y(step.rank));
  container.replaceChildren(svg.node());
}

if (element) {
  element.hidden = false;
  draw(element);
}
