// The attacks arriving on the matrix, once everything is revealed: a cell lights up when a guess made its best better.

import { brief } from "./moments.js";
import { player, STEPS, STILL } from "./player.js";

const { d3 } = window;
const LASTS = 20_000; // milliseconds, from the first attack to the last
const BARS = 60;

const bare = (name) => name.replace(/[\u2068\u2069]/g, "").trim();
const count = new Intl.NumberFormat(document.documentElement.lang);
const point = count.formatToParts(0.5).find(({ type }) => type === "decimal").value;

// As the table writes rates: 0 and 1 only where they are exact.
function written(rate) {
  const said = rate === 0 || rate === 1 ? String(rate) : rate < 0.005 ? "<0.01" : rate >= 0.995 ? ">0.99" : rate.toFixed(2);
  return said.replace(".", point);
}

const lit = (rate) => (rate === null ? { step: null, text: "" } : { step: Math.floor(rate * 10 + 0.5), text: written(rate) });

// What changed, in its order: [milliseconds, row, column, rate], of the rows and columns of the matrix.
function events(history, model, question) {
  const rows = new Map(model.rows.map((row, at) => [row.builtIn ? null : row.name, at]));
  const columns = new Map(model.targets.map((target, at) => [target.name, at]));
  const rate = (step) => (question ? step.by_question?.[question] ?? null : step.rate);
  const found = history.rows.flatMap(({ attacker, cells }) => cells.flatMap((steps, at) => steps.map((step) => (
    [Date.parse(step.at), rows.get(bare(attacker)), columns.get(bare(history.targets[at].target)), rate(step)]))));
  return found.filter(([, row, column]) => row !== undefined && column !== undefined).sort((one, other) => one[0] - other[0]);
}

function buildTimeline(view, made) {
  const { rows } = view().model;
  const final = rows.map((row) => row.cells);
  const [first, last] = [made[0][0], made.at(-1)[0]];
  const moment = d3.scaleLinear([0, 1], [first, last]);
  const times = made.map(([at]) => at);
  const pairs = new Set(made.map(([, row, column]) => `${row} ${column}`)).size;
  let done = made.length;

  function rewind() {
    rows.forEach((row, at) => { row.cells = row.builtIn ? final[at] : final[at].map(() => lit(null)); });
    done = 0;
  }

  function show(share) {
    const now = share >= 1 ? last : moment(share);
    const upto = d3.bisectRight(times, now);
    if (upto < done || share >= 1 || done === made.length) rewind();
    for (; done < upto; done += 1) {
      const [, row, column, rate] = made[done];
      rows[row].cells[column] = lit(rate);
    }
    const over = share >= 1;
    if (over) rows.forEach((row, at) => { row.cells = final[at]; });
    const since = d3.bisectRight(times, now - (last - first) / BARS);
    Object.assign(view(), { partial: !over, fresh: over || STILL.matches ? [] : made.slice(since, upto).map(([, row, column]) => [row, column]) });
    view().draw();
    const seen = new Set(made.slice(0, upto).map(([, row, column]) => `${row} ${column}`)).size;
    return { now, seen, pairs };
  }

  return { show, times };
}

// When the attacks came: bars behind the slider.
function arrivals(place, times) {
  const bins = d3.bin().domain([times[0], times.at(-1) + 1]).thresholds(d3.range(1, BARS).map((at) => (
    times[0] + at / BARS * (times.at(-1) - times[0]))))(times);
  const tall = d3.scaleLinear([0, d3.max(bins, (bin) => bin.length)], [0, 24]);
  d3.select(place).append("svg").attr("class", "arrivals").attr("aria-hidden", "true")
    .attr("viewBox", `0 0 ${bins.length} 24`).attr("preserveAspectRatio", "none")
    .selectAll("rect").data(bins).join("rect").attr("x", (_, at) => at + 0.1).attr("width", 0.8)
    .attr("y", (bin) => 24 - tall(bin.length)).attr("height", (bin) => tall(bin.length));
}

function controls(place, { show, times }, { words, zone }) {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: brief(times.at(-1) - times[0]) ? "medium" : "short" });
  const track = Object.assign(document.createElement("div"), { className: "track" });
  const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: STEPS, value: 0 });
  slider.setAttribute("aria-label", words.moment);
  const said = document.createElement("output");
  const button = place.querySelector("button");
  arrivals(track, times);
  track.append(slider);
  place.append(track, said);
  place.classList.add("playing");
  const { set, play } = player(button, slider, words, LASTS, (share) => {
    const { now, seen, pairs } = show(share);
    const at = format.format(now);
    slider.setAttribute("aria-valuetext", at);
    said.textContent = `${at} · ${words.pairs.replace("{n}", count.format(seen)).replace("{all}", count.format(pairs))}`;
  });
  set(0);
  play();
}

// A button; the history of all attacks is large, and fetched when somebody wants it.
export function offerReplay(figure, view, { address, question, words, zone }) {
  const place = Object.assign(document.createElement("div"), { className: "attacks" });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "second", textContent: words.replay });
  place.append(button);
  figure.querySelector(".matrix_bar").append(place);
  button.onclick = async () => {
    button.disabled = true;
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(answer.status);
      const made = events(await answer.json(), view().model, question);
      controls(place, buildTimeline(view, made), { words, zone });
    } catch {
      button.textContent = words.failed;
    } finally {
      button.disabled = false;
    }
  };
}
