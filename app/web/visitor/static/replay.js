// The contest replayed: every team's best as a timeline, up to the moment that the scrubber shows.
// Without this script the page has the table of who led. All numbers are those of the boards' history.

import { offset, tick, ticks, whole } from "./moments.js";
import { player, STILL } from "./player.js";

const place = document.querySelector("#replay");
const SECONDS = 18;
const LABELLED = 5;
const MARGIN = { top: 14, right: 150, bottom: 30, left: 46 };

function read(told, zone) {
  const first = Math.floor(Math.min(...told.teams.map((team) => Date.parse(team.steps[0].at))) / 1000) * 1000;
  const moved = offset(zone, first);
  const at = (text) => Date.parse(text) + moved;
  const teams = told.teams.map((team, index) => ({
    ...team, index, steps: team.steps.map((step) => ({ ...step, at: at(step.at) })),
  }));
  const second = place.dataset.second && at(place.dataset.second);
  const [leaders, own] = [told.leaders, told.own_ranks].map((list) => list.map((one) => ({ ...one, at: at(one.at) })));
  return { teams, leaders: told_apart(leaders), own, second };
}

// The first ones look different: each as long as it is one of them, and if it can be, as when it was before.
function told_apart(leaders) {
  const looks = new Map();
  let held = new Set();
  for (const one of leaders) {
    const top = one.first.slice(0, LABELLED).map(({ team }) => team);
    const free = new Set(d3.range(LABELLED));
    const take = (team, look) => { free.delete(look); looks.set(team, look); };
    const stays = (team) => held.has(team);
    top.filter(stays).forEach((team) => free.delete(looks.get(team)));
    for (const team of top.filter((each) => !stays(each))) take(team, free.has(looks.get(team)) ? looks.get(team) : d3.min(free));
    one.looks = new Map(top.map((team) => [team, looks.get(team)]));
    held = new Set(top);
  }
  return leaders;
}

// What stood last at a moment, of things in the order of time.
function last(things, at) {
  const found = d3.bisector((one) => one.at).right(things, at) - 1;
  return found < 0 ? null : things[found];
}

class Replay {
  constructor(data, element) {
    Object.assign(this, data);
    this.words = JSON.parse(element.dataset.words);
    this.race = element.querySelector(".race");
    this.list = element.querySelector(".places");
    this.time = element.querySelector(".moment time");
    this.zone = element.dataset.zoneName;
    this.value = element.dataset.value; // the value that ranks: `overall`, or `score` of a formula
    this.down = element.dataset.order === "descending" ? -1 : 1; // the best at the top
    this.path = element.dataset.teams;
    const times = this.teams.flatMap((team) => team.steps.map((step) => step.at));
    const [first, latest] = d3.extent(times);
    this.span = [first, latest + ((latest - first) / 50 || 60_000)]; // it begins with what was first
    this.at = this.span[1];
    this.lit = null;
  }

  // The picture anew, as wide as there is place.
  draw() {
    const width = Math.max(300, this.race.clientWidth);
    const narrow = width < 560;
    const height = narrow ? 360 : Math.min(560, Math.max(420, width * .5));
    const right = narrow ? 96 : MARGIN.right;
    this.letters = narrow ? 9 : 16;
    const values = this.teams.flatMap((team) => team.steps.map((step) => step[this.value])).filter((one) => one !== null);
    this.x = d3.scaleUtc(this.span, [MARGIN.left, width - right]);
    this.y = d3.scaleLinear(this.ends(values), [MARGIN.top, height - MARGIN.bottom]);
    this.bottom = height - MARGIN.bottom;
    const svg = d3.create("svg").attr("viewBox", [0, 0, width, height]).attr("role", "img")
      .attr("aria-label", this.words.picture).classed("many", this.teams.length > 100);
    this.axes(svg, width - right, narrow);
    const clip = svg.append("clipPath").attr("id", "past").append("rect")
      .attr("x", MARGIN.left).attr("y", 0).attr("height", this.bottom);
    const timeline = d3.line((step) => this.x(step.at), (step) => this.y(step[this.value]))
      .defined((step) => step[this.value] !== null).curve(d3.curveStepAfter);
    // What counts no longer ends where it did: the timeline goes on to there, the last one to the end.
    const far = (team) => team.steps.flatMap((step, place) => {
      const next = team.steps[place + 1];
      return next && next[this.value] !== null ? [step] : [step, { ...step, at: next ? next.at : this.span[1] }];
    });
    this.timelines = svg.append("g").attr("clip-path", "url(#past)").selectAll("path")
      .data(d3.sort(this.teams, (team) => team.own)).join("path")
      .attr("class", (team) => `timeline${team.own ? " own" : ""}${team.baseline ? " baseline" : ""}`)
      .attr("d", (team) => timeline(far(team)));
    this.line = svg.append("line").attr("class", "now").attr("y1", MARGIN.top).attr("y2", this.bottom);
    this.points = svg.append("g").selectAll("circle").data(d3.sort(this.teams, (team) => team.own)).join("circle")
      .attr("r", (team) => (team.own ? 5 : this.teams.length > 100 ? 2 : 3));
    this.names = svg.append("g");
    this.clip = clip;
    this.race.replaceChildren(svg.node());
    svg.on("pointermove", (event) => this.light(d3.pointer(event, svg.node())))
      .on("pointerleave", () => this.light(null));
    this.show(this.at);
  }

  // The best and almost the worst value, with a little room. `overall` lies between 0 and 1.
  ends(values) {
    const losses = values.map((value) => this.down * value);
    const best = d3.min(losses) ?? 0;
    const worst = d3.quantile(losses, .95) ?? 1;
    const room = Math.max(.005, (worst - best) * .06);
    if (this.value === "overall") return [Math.max(0, best - room), Math.min(1, worst + room)];
    return [best - room, worst + room].map((loss) => this.down * loss);
  }

  // As the tables of the boards have it.
  number(value) {
    if (this.value === "overall") return value.toFixed(4);
    return String(Number(value.toFixed(Math.abs(value) < 1000 ? 4 : 1))).replace("-", "−");
  }

  axes(svg, right, narrow) {
    const bottom = d3.axisBottom(this.x).tickValues(ticks(this.x, narrow ? 4 : 8)).tickSizeOuter(0).tickFormat(tick);
    svg.append("g").attr("transform", `translate(0,${this.bottom})`).call(bottom);
    const left = d3.axisLeft(this.y).ticks(6).tickSize(-(right - MARGIN.left)).tickSizeOuter(0);
    svg.append("g").attr("transform", `translate(${MARGIN.left},0)`).call(left).call((g) => g.select(".domain").remove());
    svg.append("text").attr("x", MARGIN.left).attr("y", 4).text(this.words.score);
    if (this.second > this.span[0] && this.second < this.span[1]) this.attacked(svg, this.x(this.second), right);
  }

  // Where the second phase begins: what happens after it others did.
  attacked(svg, at, right) {
    svg.append("line").attr("class", "second").attr("x1", at).attr("x2", at).attr("y1", MARGIN.top).attr("y2", this.bottom);
    const left = at > right - 160;
    svg.append("text").attr("class", "second").attr("x", at + (left ? -5 : 5)).attr("y", this.bottom - 6)
      .attr("text-anchor", left ? "end" : "start").text(this.words.second);
  }

  // Where a team stands at the moment; of those far below the picture one's own and the first are at its lower edge.
  height(team, top) {
    const step = last(team.steps, this.at);
    if (step === null || step[this.value] === null) return null;
    const at = this.y(step[this.value]);
    return at <= this.bottom ? at : team.own || top.has(team.index) ? this.bottom : null;
  }

  show(at) {
    this.at = at;
    const { first: leading = [], looks: top = new Map() } = last(this.leaders, at) ?? {};
    const first = new Map(leading.map((one) => [one.team, one.rank]));
    const now = this.x(at);
    this.clip.attr("width", Math.max(0, now - MARGIN.left));
    this.line.attr("x1", now).attr("x2", now);
    const look = (team) => top.get(team.index) ?? null;
    this.timelines.attr("data-look", look);
    this.points.attr("data-look", look).classed("own", (team) => team.own)
      .attr("cx", now).attr("cy", (team) => this.height(team, top) ?? 0)
      .attr("display", (team) => (this.height(team, top) === null ? "none" : null));
    this.call(now, top);
    this.standing(leading, first);
    this.time.textContent = `${whole(at, this.span[1] - this.span[0])} ${this.zone}`;
  }

  // Names stand beside the timelines, pushed apart where they would cover each other.
  call(now, top) {
    const said = this.teams.filter((team) => top.has(team.index) || team.own || team === this.lit)
      .map((team) => ({ team, at: this.height(team, top) })).filter((one) => one.at !== null);
    said.sort((one, other) => one.at - other.at);
    let above = -Infinity;
    for (const one of said) { one.y = Math.max(one.at, above + 15); above = one.y; }
    let below = this.bottom - 25; // above the name of the second phase
    for (const one of said.reverse()) { one.y = Math.min(one.y, below); below = one.y - 15; }
    this.names.selectAll("text").data(said).join("text").attr("class", (one) => `called${one.team.own ? " own" : ""}`)
      .attr("x", now + 12).attr("y", (one) => one.y + 4).text((one) => this.short(one.team.team));
    this.names.selectAll("line").data(said).join("line").attr("class", "leader_line")
      .attr("data-look", (one) => top.get(one.team.index) ?? null)
      .attr("x1", now + 4).attr("x2", now + 10).attr("y1", (one) => one.at).attr("y2", (one) => one.y);
  }

  // Wide characters take the place of two.
  short(name) {
    let room = this.letters;
    let text = "";
    for (const each of name) {
      room -= /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u.test(each) ? 1.8 : 1;
      if (room < 0) return `${text.trimEnd()}…`;
      text += each;
    }
    return text;
  }

  standing(leading, first) {
    const shared = (rank) => leading.filter((one) => one.rank === rank).length > 1;
    const lines = leading.map((one) => ({ team: this.teams[one.team], rank: `${one.rank}${shared(one.rank) ? "=" : ""}` }));
    const own = this.teams.find((team) => team.own);
    const rank = own && last(this.own, this.at)?.rank;
    if (rank && !first.has(own.index)) lines.push({ team: own, rank, apart: true });
    const row = d3.select(this.list).selectAll("li").data(lines).join((enter) => {
      const made = enter.append("li");
      ["span", "a", "span"].forEach((kind) => made.append(kind));
      return made;
    });
    row.attr("class", (one) => [one.team.own ? "own" : "", one.apart ? "apart" : ""].join(" "));
    row.select(":nth-child(1)").text((one) => one.rank);
    row.select(":nth-child(2)").text((one) => one.team.team).attr("href", (one) => (this.path ? this.path + one.team.team_id : null));
    row.select(":nth-child(3)").text((one) => {
      const value = last(one.team.steps, this.at)?.[this.value] ?? null;
      return value === null ? "–" : this.number(value);
    });
  }

  // The timeline nearest to the pointer is named.
  light(pointer) {
    const away = (team) => {
      const step = last(team.steps, Math.min(this.at, +this.x.invert(pointer[0])));
      const value = step?.[this.value] ?? null;
      return value === null ? Infinity : Math.abs(this.y(value) - pointer[1]);
    };
    const near = pointer && d3.least(this.teams, away);
    this.lit = near && away(near) < 14 ? near : null;
    this.timelines.classed("lit", (team) => team === this.lit);
    this.call(this.x(this.at), last(this.leaders, this.at)?.looks ?? new Map());
  }
}

function controls(element, replay) {
  const [button, slider] = [element.querySelector(".play"), element.querySelector("#moment")];
  const { words, span } = replay;
  const { set, play } = player(button, slider, words, 1000 * SECONDS, (share) => {
    replay.show(span[0] + share * (span[1] - span[0]));
    slider.setAttribute("aria-valuetext", replay.time.textContent);
  });
  set(1);
  if (!STILL.matches) play();
}

async function begin(element) {
  element.hidden = false; // its place is kept while it comes
  const answer = await fetch(element.dataset.history);
  const told = answer.ok ? await answer.json() : { teams: [] };
  element.hidden = !told.teams.length;
  if (element.hidden) return;
  const replay = new Replay(read(told, element.dataset.zone), element);
  replay.draw();
  let width = replay.race.clientWidth;
  new ResizeObserver(() => {
    if (replay.race.clientWidth === width) return;
    width = replay.race.clientWidth;
    replay.draw();
  }).observe(replay.race);
  controls(element, replay);
}

if (place) begin(place);
