// Replays the contest: the best score of every team over time, up to the moment that the slider shows.
// Without this script the page has a table of the leaders.

import { setAttributes } from "./elements.js";
import { clamp } from "./geometry.js";
import { truncate } from "./label_placement.js";
import { createPlayer, reducedMotion } from "./player.js";
import { computeOffset, drawTimeAxis, findLatest, formatTime } from "./time_axis.js";

const DURATION_MS = 18_000;
const STYLE_COUNT = 5; // as many of the first teams have colors and labels
const MARGIN = { top: 14, right: 150, bottom: 30, left: 46 };
const LABEL_DISTANCE = 15;
const REACH_PX = 14; // the pointer selects the nearest timeline within this distance
const WIDE_LETTERS = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u;

const countLetters = (text) => d3.sum(text, (letter) => (WIDE_LETTERS.test(letter) ? 1.8 : 1));

function parseHistory(history, { zone, second }) {
  const startedAt = d3.min(history.teams, (team) => Date.parse(team.steps[0].at));
  const offset = computeOffset(zone, Math.floor(startedAt / 1000) * 1000);
  const parseTime = (text) => Date.parse(text) + offset;
  const parseTimes = (entries) => entries.map((entry) => ({ ...entry, at: parseTime(entry.at) }));
  return {
    teams: history.teams.map((team, index) => ({ ...team, index, steps: parseTimes(team.steps) })),
    leaders: assignStyles(parseTimes(history.leaders)),
    ownRanks: parseTimes(history.own_ranks),
    secondPhaseStart: second && parseTime(second),
  };
}

// A team keeps its style while it is among the first. It has the style again later unless another team has it then.
function assignStyles(leaders) {
  const styles = new Map();
  let previous = [];
  for (const entry of leaders) {
    const top = entry.first.slice(0, STYLE_COUNT).map(({ team }) => team);
    const staying = d3.intersection(top, previous);
    const free = d3.difference(d3.range(STYLE_COUNT), Array.from(staying, (team) => styles.get(team)));
    for (const team of d3.difference(top, staying)) {
      const style = free.has(styles.get(team)) ? styles.get(team) : d3.min(free);
      free.delete(style);
      styles.set(team, style);
    }
    entry.styles = new Map(top.map((team) => [team, styles.get(team)]));
    previous = top;
  }
  return leaders;
}

// Moves overlapping labels down, then up if they reach the bottom.
function separateLabels(labels, bottom) {
  labels.sort((a, b) => a.y - b.y);
  let [min, max] = [-Infinity, bottom];
  for (const label of labels) {
    label.labelY = Math.max(label.y, min);
    min = label.labelY + LABEL_DISTANCE;
  }
  for (const label of labels.reverse()) {
    label.labelY = Math.min(label.labelY, max);
    max = label.labelY - LABEL_DISTANCE;
  }
}

class Replay {
  constructor(history, root) {
    const { words, zoneName, value, order, teams } = root.dataset;
    Object.assign(this, history, { zoneName, valueName: value, teamsPath: teams, words: JSON.parse(words) });
    this.sign = order === "descending" ? -1 : 1;
    [this.container, this.list, this.time] = [".race", ".places", "time"].map((name) => root.querySelector(name));
    const [start, end] = d3.extent(this.teams.flatMap((team) => team.steps), (step) => step.at);
    this.period = [start, end + ((end - start) / 50 || 60_000)];
    this.at = this.period[1];
    this.highlighted = null;
  }

  // The value by which the board ranks: "overall", or "score" of a formula.
  getValue(step) {
    return step?.[this.valueName] ?? null;
  }

  draw() {
    const width = Math.max(300, this.container.clientWidth);
    const isNarrow = width < 560;
    const height = isNarrow ? 360 : clamp(width * 0.5, 420, 560);
    const right = width - (isNarrow ? 96 : MARGIN.right);
    this.maxLabelLetters = isNarrow ? 10 : 17;
    this.bottom = height - MARGIN.bottom;
    this.x = d3.scaleUtc(this.period, [MARGIN.left, right]);
    this.y = d3.scaleLinear(this.computeDomain(), [MARGIN.top, this.bottom]);
    const svg = d3.create("svg").classed("many", this.teams.length > 100)
      .call(setAttributes, { viewBox: [0, 0, width, height], role: "img", "aria-label": this.words.picture });
    this.drawAxes(svg, right, isNarrow);
    this.drawSecondPhase(svg, right);
    this.drawTeams(svg);
    this.container.replaceChildren(svg.node());
    svg.on("pointermove", (event) => this.highlight(d3.pointer(event, svg.node())))
      .on("pointerleave", () => this.highlight(null));
    this.show(this.at);
  }

  // From the best to almost the worst value, with some padding. "overall" lies between 0 and 1.
  computeDomain() {
    const steps = this.teams.flatMap((team) => team.steps).filter((step) => this.getValue(step) !== null);
    const losses = steps.map((step) => this.sign * this.getValue(step));
    const [best, worst] = [d3.min(losses) ?? 0, d3.quantile(losses, 0.95) ?? 1];
    const padding = Math.max(0.005, (worst - best) * 0.06);
    if (this.valueName === "overall") return [Math.max(0, best - padding), Math.min(1, worst + padding)];
    return [this.sign * (best - padding), this.sign * (worst + padding)];
  }

  drawAxes(svg, right, isNarrow) {
    drawTimeAxis(svg, this.x, this.bottom, isNarrow ? 4 : 8);
    const axis = d3.axisLeft(this.y).ticks(6).tickSize(MARGIN.left - right).tickSizeOuter(0);
    const group = svg.append("g").attr("transform", `translate(${MARGIN.left},0)`).call(axis);
    group.select(".domain").remove();
    svg.append("text").attr("x", MARGIN.left).attr("y", 4).text(this.words.score);
  }

  drawSecondPhase(svg, right) {
    const [start, end] = this.period;
    if (!(this.secondPhaseStart > start && this.secondPhaseStart < end)) return;
    const x = this.x(this.secondPhaseStart);
    svg.append("line").call(setAttributes, { class: "second", x1: x, x2: x, y1: MARGIN.top, y2: this.bottom });
    const [anchor, offset] = x > right - 160 ? ["end", -5] : ["start", 5];
    svg.append("text").text(this.words.second)
      .call(setAttributes, { class: "second", x: x + offset, y: this.bottom - 6, "text-anchor": anchor });
  }

  drawTeams(svg) {
    const teams = d3.sort(this.teams, (team) => team.own);
    const line = d3.line((step) => this.x(step.at), (step) => this.y(this.getValue(step)))
      .defined((step) => this.getValue(step) !== null).curve(d3.curveStepAfter);
    this.clip = svg.append("clipPath").attr("id", "past").append("rect")
      .call(setAttributes, { x: MARGIN.left, y: 0, height: this.bottom });
    this.timelines = svg.append("g").attr("clip-path", "url(#past)").selectAll("path").data(teams).join("path")
      .attr("class", "timeline").classed("own", (team) => team.own).classed("baseline", (team) => team.baseline)
      .attr("d", (team) => line(this.extendSteps(team.steps)));
    this.now = svg.append("line").call(setAttributes, { class: "now", y1: MARGIN.top, y2: this.bottom });
    this.points = svg.append("g").selectAll("circle").data(teams).join("circle")
      .classed("own", (team) => team.own).attr("r", (team) => (team.own ? 5 : teams.length > 100 ? 2 : 3));
    this.labels = svg.append("g");
  }

  // A value holds until the next step, even if that has no value, or until the end of the picture.
  extendSteps(steps) {
    return d3.pairs([...steps, { at: this.period[1] }]).flatMap(([step, next]) => (
      this.getValue(next) === null ? [step, { ...step, at: next.at }] : [step]));
  }

  getStyles() {
    return findLatest(this.leaders, this.at)?.styles ?? new Map();
  }

  // The height of a team at the moment. The reader's team and the first teams never leave the picture.
  computeY(team) {
    const value = this.getValue(findLatest(team.steps, this.at));
    const y = value === null ? Infinity : this.y(value);
    const isKept = value !== null && (team.own || this.getStyles().has(team.index));
    return y <= this.bottom ? y : isKept ? this.bottom : null;
  }

  show(at) {
    this.at = at;
    const x = this.x(at);
    const styles = this.getStyles();
    this.clip.attr("width", Math.max(0, x - MARGIN.left));
    this.now.attr("x1", x).attr("x2", x);
    for (const marks of [this.timelines, this.points]) {
      marks.attr("data-look", (team) => styles.get(team.index) ?? null);
    }
    this.points.attr("cx", x).attr("cy", (team) => this.computeY(team) ?? 0)
      .attr("display", (team) => (this.computeY(team) === null ? "none" : null));
    this.drawLabels();
    this.drawRanking();
    this.time.textContent = `${formatTime(at, this.period[1] - this.period[0])} ${this.zoneName}`;
  }

  drawLabels() {
    const [x, styles] = [this.x(this.at), this.getStyles()];
    const labels = this.teams.filter((team) => styles.has(team.index) || team.own || team === this.highlighted)
      .map((team) => ({ team, y: this.computeY(team) })).filter(({ y }) => y !== null);
    separateLabels(labels, this.bottom - 25); // above the label of the second phase
    this.labels.selectAll("text").data(labels).join("text")
      .attr("class", "called").classed("own", ({ team }) => team.own)
      .attr("x", x + 12).attr("y", ({ labelY }) => labelY + 4)
      .text(({ team }) => truncate(team.team, this.maxLabelLetters, countLetters));
    this.labels.selectAll("line").data(labels).join("line").attr("class", "leader_line")
      .attr("data-look", ({ team }) => styles.get(team.index) ?? null)
      .attr("x1", x + 4).attr("x2", x + 10).attr("y1", ({ y }) => y).attr("y2", ({ labelY }) => labelY);
  }

  // The first teams, and below them the reader's team.
  listRanking() {
    const leaders = findLatest(this.leaders, this.at)?.first ?? [];
    const isShared = (rank) => leaders.filter((leader) => leader.rank === rank).length > 1;
    const lines = leaders.map(({ team, rank }) => (
      { team: this.teams[team], rank: `${rank}${isShared(rank) ? "=" : ""}` }));
    const own = this.teams.find((team) => team.own);
    const rank = own && findLatest(this.ownRanks, this.at)?.rank;
    return rank && !lines.some(({ team }) => team === own) ? [...lines, { team: own, rank, isApart: true }] : lines;
  }

  drawRanking() {
    const rows = d3.select(this.list).selectAll("li").data(this.listRanking()).join((enter) => {
      const row = enter.append("li");
      for (const name of ["span", "a", "span"]) row.append(name);
      return row;
    });
    rows.classed("own", ({ team }) => team.own).classed("apart", ({ isApart }) => isApart);
    rows.select(":nth-child(1)").text(({ rank }) => rank);
    rows.select(":nth-child(2)").text(({ team }) => team.team)
      .attr("href", ({ team }) => (this.teamsPath ? this.teamsPath + team.team_id : null));
    rows.select(":nth-child(3)").text(({ team }) => this.formatValue(findLatest(team.steps, this.at)));
  }

  // Formats a value like the tables of the boards.
  formatValue(step) {
    const value = this.getValue(step);
    if (value === null) return "–";
    if (this.valueName === "overall") return value.toFixed(4);
    return String(Number(value.toFixed(Math.abs(value) < 1000 ? 4 : 1))).replace("-", "−");
  }

  // Highlights the timeline that is nearest to the pointer.
  highlight(pointer) {
    const computeDistance = (team) => {
      const value = this.getValue(findLatest(team.steps, Math.min(this.at, this.x.invert(pointer[0]))));
      return value === null ? Infinity : Math.abs(this.y(value) - pointer[1]);
    };
    const nearest = pointer && d3.least(this.teams, computeDistance);
    this.highlighted = nearest && computeDistance(nearest) < REACH_PX ? nearest : null;
    this.timelines.classed("lit", (team) => team === this.highlighted);
    this.drawLabels();
  }
}

function addControls(root, replay) {
  const [button, slider] = root.querySelectorAll(".play, #moment");
  const { set, play } = createPlayer(button, slider, replay.words, DURATION_MS, (share) => {
    replay.show(d3.interpolateNumber(...replay.period)(share));
    slider.ariaValueText = replay.time.textContent;
  });
  set(1);
  if (!reducedMotion.matches) play();
}

async function start(root) {
  root.hidden = false; // keeps its space while the history is loading
  const history = await d3.json(root.dataset.history).catch(() => ({ teams: [] }));
  root.hidden = !history.teams.length;
  if (root.hidden) return;
  const replay = new Replay(parseHistory(history, root.dataset), root);
  replay.draw();
  new ResizeObserver(() => replay.draw()).observe(replay.container);
  addControls(root, replay);
}

const replayRoot = document.querySelector("#replay");
if (replayRoot) start(replayRoot);
