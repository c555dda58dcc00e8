// Replays how guesses improved the rates of the matrix.

import { createButton, createElement, setAttributes } from "./elements.js";
import { draw } from "./matrix_view.js";
import { createPlayer, reducedMotion, SLIDER_STEPS } from "./player.js";
import { fillTemplate, stripIsolates } from "./text.js";
import { findLatest, isShort } from "./time_axis.js";

const DURATION_MS = 20_000;
const BAR_COUNT = 60;
const BAR_HEIGHT = 24;
const EMPTY_CELL = { text: "", tenths: null };

const { lang } = document.documentElement;
const countFormat = new Intl.NumberFormat(lang);
const rateFormat = new Intl.NumberFormat(lang, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

// Formats a rate like the table: 0 and 1 only if they are exact.
function formatRate(rate) {
  if (rate === 0 || rate === 1) return String(rate);
  if (rate < 0.005) return `<${rateFormat.format(0.01)}`;
  return rate < 0.995 ? rateFormat.format(rate) : `>${rateFormat.format(0.99)}`;
}

// The states of each cell of the matrix in their order.
function parseHistory(history, matrix, question) {
  const cellsByAttacker = new Map(history.rows.map(({ attacker, cells }) => [stripIsolates(attacker), cells]));
  const indexByTarget = new Map(history.targets.map(({ target }, index) => [stripIsolates(target), index]));
  const parseStep = (step) => {
    const rate = question ? step.by_question?.[question] ?? null : step.rate;
    const cell = rate === null ? EMPTY_CELL : { text: formatRate(rate), tenths: Math.floor(rate * 10 + 0.5) };
    return { at: Date.parse(step.at), cell };
  };
  return matrix.rows.map((row) => matrix.targets.map((target) => {
    const cells = row.isBuiltIn ? [] : cellsByAttacker.get(row.name) ?? [];
    return d3.sort((cells[indexByTarget.get(target.name)] ?? []).map(parseStep), ({ at }) => at);
  }));
}

// Returns a function that shows the matrix at a moment, until all cells have their final state again.
function createReplay(view, histories, [start, end]) {
  const { rows } = view.matrix;
  const finalCells = rows.map((row) => row.cells);
  return (now) => {
    const attackedCells = [];
    const getState = (row, column) => {
      const latest = findLatest(histories[row][column], now);
      if (latest) attackedCells.push({ row, column, at: latest.at });
      return latest?.cell ?? EMPTY_CELL;
    };
    view.isReplaying = now < end;
    rows.forEach((row, index) => {
      const cells = finalCells[index].map((_, column) => getState(index, column));
      row.cells = view.isReplaying && !row.isBuiltIn ? cells : finalCells[index];
    });
    const isRecent = ({ at }) => at > now - (end - start) / BAR_COUNT;
    view.recentCells = view.isReplaying && !reducedMotion.matches ? attackedCells.filter(isRecent) : [];
    draw(view);
    return attackedCells.length;
  };
}

// Draws bars behind the slider that show when attacks came.
function drawHistogram(container, times, [start, end]) {
  const thresholds = d3.range(1, BAR_COUNT).map((index) => start + (index / BAR_COUNT) * (end - start));
  const bins = d3.bin().domain([start, end + 1]).thresholds(thresholds)(times);
  const scale = d3.scaleLinear([0, d3.max(bins, (bin) => bin.length)], [0, BAR_HEIGHT]);
  const viewBox = [0, 0, bins.length, BAR_HEIGHT];
  d3.select(container).append("svg")
    .call(setAttributes, { class: "arrivals", "aria-hidden": true, viewBox, preserveAspectRatio: "none" })
    .selectAll("rect").data(bins).join("rect").attr("x", (_, index) => index + 0.1).attr("width", 0.8)
    .attr("y", (bin) => BAR_HEIGHT - scale(bin.length)).attr("height", (bin) => scale(bin.length));
}

function startReplay(view, container, button, histories, zone) {
  const { words } = view;
  const times = histories.flat(2).map(({ at }) => at);
  const period = d3.extent(times);
  const timeStyle = isShort(period[1] - period[0]) ? "medium" : "short";
  const timeFormat = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle });
  const track = createElement("div", { className: "track" });
  const slider = createElement("input", { type: "range", min: 0, max: SLIDER_STEPS, ariaLabel: words.moment });
  const output = createElement("output");
  drawHistogram(track, times, period);
  track.append(slider);
  container.append(track, output);
  container.classList.add("playing");
  const all = countFormat.format(histories.flat().filter((states) => states.length).length);
  const showMoment = createReplay(view, histories, period);
  const { set, play } = createPlayer(button, slider, words, DURATION_MS, (share) => {
    const now = d3.interpolateNumber(...period)(share);
    const n = countFormat.format(showMoment(now));
    slider.ariaValueText = timeFormat.format(now);
    output.textContent = `${slider.ariaValueText} · ${fillTemplate(words.pairs, { n, all })}`;
  });
  set(0);
  play();
}

// The history of all attacks is large, so it is loaded only on request.
export function offerReplay(view, { attacks, question, zone }) {
  const { figure, matrix, words } = view;
  const container = createElement("div", { className: "attacks" });
  const button = createButton(words.replay, null, { className: "second" });
  container.append(button);
  figure.querySelector(".matrix_bar").append(container);
  const start = (history) => startReplay(view, container, button, parseHistory(history, matrix, question), zone);
  button.onclick = async () => {
    button.disabled = true;
    await d3.json(attacks).then(start).catch(() => button.replaceChildren(words.failed));
    button.disabled = false;
  };
}
