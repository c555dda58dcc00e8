// The scatter plot of utility loss and risk with its Pareto front, explored: drawn in the pixels that there are,
// closer where it is crowded, with as many names as there is room for. What stands where comes from the figure; the
// server's picture stays where no script runs.

import { folded } from "./fold.js";
import { enliven } from "./marks.js";
import { around, clamp, meets, names } from "./names.js";

const { d3 } = globalThis;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const KINDS = ["others", "baseline", "front", "own"];
const CLOSEST = 80;
const STEP = 1.7;
const PLACES = 24; // along a line where it may say its score
const before = new Map(); // by figure: what is looked at and looked for outlives an exchange of the page's parts

const svgElement = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
const signed = (text, decimal) => text.replace("-", "−").replace(".", decimal);

export function explore(figure) {
  const data = JSON.parse(figure.dataset.view);
  const stage = figure.querySelector(".stage");
  const still = stage.querySelector("svg");
  const asked = new URLSearchParams(location.search).get("find") ?? "";
  const kept = before.get(figure.id) ?? { transform: d3.zoomIdentity, wanted: asked };
  before.set(figure.id, kept);
  const picture = d3.select(svgElement("svg"));
  for (const name of ["role", "aria-labelledby", "aria-describedby"]) picture.attr(name, still.getAttribute(name));
  picture.attr("class", "picture level true").attr("tabindex", -1);
  const plot = { figure, stage, data, kept, picture, size: null };
  prepare(plot);
  still.replaceWith(picture.node());
  stage.before(lens(plot));
  resize(plot);
  enliven(picture.node());
  new ResizeObserver(() => resize(plot)).observe(stage);
  listen(plot);
}

// The parts, from the back to the front.
function prepare(plot) {
  const { picture, data, figure } = plot;
  const clip = `${figure.id}-inside`;
  plot.clip = picture.append("defs").append("clipPath").attr("id", clip).append("rect");
  plot.frame = picture.append("g").attr("aria-hidden", true);
  plot.back = picture.append("g").attr("aria-hidden", true).attr("clip-path", `url(#${clip})`);
  for (const kind of ["blurs", "series levels", "series points front"]) plot.back.append("g").attr("class", kind);
  const groups = picture.selectAll(null).data(KINDS).enter().append("g").attr("class", (kind) => `series points ${kind}`);
  plot.marks = groups.selectAll("path")
    .data((kind) => data.marks.filter((one) => one.kind === kind))
    .enter().append("path")
    .attr("role", "img").attr("aria-label", (one) => one.said);
  plot.counts = groups.selectAll("text")
    .data((kind) => data.marks.filter((one) => one.kind === kind && one.names.length > 1))
    .enter().append("text").attr("class", "count middle").attr("dy", ".34em").attr("aria-hidden", true)
    .text((one) => one.names.length);
  const last = plot.marks.nodes().at(-1);
  last.setAttribute("tabindex", "0");
  plot.names = picture.append("g").attr("class", "names").attr("aria-hidden", true);
  for (const one of data.marks) one.found = false;
  find(plot, plot.kept.wanted);
}

// Buttons, which keys do as well.
function lens(plot) {
  const { words } = plot.data;
  const bar = Object.assign(document.createElement("div"), { className: "lens" });
  const button = (name, sign, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: "second", textContent: sign });
    if (sign !== words[name]) made.setAttribute("aria-label", words[name]);
    made.title = words[name];
    made.dataset.lens = name;
    made.onclick = act;
    bar.append(made);
    return made;
  };
  button("closer", "+", () => scale(plot, STEP));
  button("farther", "−", () => scale(plot, 1 / STEP));
  plot.back_home = button("home", "↺", () => go(plot, d3.zoomIdentity));
  if (plot.data.whole.some((end, at) => end !== plot.data.home[at])) {
    button("whole", words.whole, () => go(plot, all(plot)));
  }
  const hint = Object.assign(document.createElement("span"), { className: "hint", textContent: words.hint });
  bar.append(hint);
  return bar;
}

function resize(plot) {
  const { stage, picture, data } = plot;
  const wide = Math.round(stage.clientWidth);
  const tall = Math.round(stage.clientHeight);
  if (!wide || !tall || (plot.size?.wide === wide && plot.size.tall === tall)) return;
  plot.size = { wide, tall };
  picture.attr("viewBox", `0 0 ${wide} ${tall}`).attr("width", wide).attr("height", tall);
  const style = getComputedStyle(picture.node());
  plot.letter = parseFloat(style.fontSize);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 ${style.fontSize} ${style.fontFamily}`;
  plot.width = (text) => pen.measureText(text).width;
  const { letter } = plot;
  plot.room = { left: 4 * letter, right: wide - 1.7 * letter, top: 2.2 * letter, bottom: tall - 3.3 * letter };
  const { room } = plot;
  const [left, right, low, high] = data.home;
  plot.x0 = d3.scaleLinear([left, right], [room.left, room.right]);
  plot.y0 = d3.scaleLinear([low, high], [room.bottom, room.top]);
  plot.clip.attr("x", room.left).attr("y", room.top)
    .attr("width", room.right - room.left).attr("height", room.bottom - room.top);
  zooming(plot);
}

// The wheel scrolls the page unless a key is held or the picture was entered; so do fingers, one by one.
function zooming(plot) {
  const { picture, room } = plot;
  const node = picture.node();
  const least = Math.min(1, all(plot).k);
  const [left, right, low, high] = plot.data.whole;
  const far = 20;
  const may = (event) => {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey || node.contains(document.activeElement);
    if (event.type === "touchstart") return event.touches.length > 1 || plot.kept.transform.k > 1;
    return !event.button && !event.ctrlKey;
  };
  plot.zoom = d3.zoom().filter(may).scaleExtent([least, CLOSEST])
    .extent([[room.left, room.top], [room.right, room.bottom]])
    .translateExtent([
      [Math.min(plot.x0(left), room.left) - far, Math.min(plot.y0(high), room.top) - far],
      [Math.max(plot.x0(right), room.right) + far, Math.max(plot.y0(low), room.bottom) + far],
    ])
    .on("zoom", ({ transform }) => {
      plot.kept.transform = transform;
      draw(plot);
    });
  picture.call(plot.zoom);
  picture.call(plot.zoom.transform, plot.kept.transform);
}

const calm = (plot) => (STILL.matches ? plot.picture : plot.picture.transition().duration(250));
const go = (plot, transform) => calm(plot).call(plot.zoom.transform, transform);
const scale = (plot, by) => calm(plot).call(plot.zoom.scaleBy, by);

// Every point, those too that stand as arrows at the edge.
function all({ data, x0, y0, room }) {
  const [left, right, low, high] = data.whole;
  const k = Math.min(
    (room.right - room.left) / (x0(right) - x0(left)),
    (room.bottom - room.top) / (y0(low) - y0(high)),
    1,
  );
  return d3.zoomIdentity.translate(room.left - k * x0(left), room.bottom - k * y0(low)).scale(k);
}

function draw(plot) {
  const { kept, picture, room, x0, y0 } = plot;
  const { transform } = kept;
  plot.x = transform.rescaleX(x0);
  plot.y = transform.rescaleY(y0);
  plot.home = transform.k === 1 && Math.hypot(transform.x, transform.y) < 1;
  plot.back_home.disabled = plot.home;
  picture.style("touch-action", transform.k > 1 ? "none" : "pan-x pan-y");
  for (const one of plot.data.marks) place(plot, one);
  axes(plot);
  const steps = front(plot);
  const texts = [...levels(plot, steps), ...steps];
  blurs(plot);
  points(plot);
  names(plot, texts, room);
  picture.node().dispatchEvent(new Event("moved"));
}

// Where a point is seen: inside, at the edge as an arrow, or not.
function place({ x, y, room, home, data }, one) {
  one.cx = x(one.x);
  one.cy = y(one.y);
  const across = (one.cx > room.right + 1) - (one.cx < room.left - 1);
  const down = (one.cy > room.bottom + 1) - (one.cy < room.top - 1);
  one.inside = !across && !down;
  one.arrow = !one.inside && (home || one.needed || one.found || data.marks.length < 9);
  if (one.arrow) {
    one.turn = (Math.atan2(down, across) * 180) / Math.PI + 90;
    one.cx = clamp(one.cx, [room.left, room.right]);
    one.cy = clamp(one.cy, [room.top, room.bottom]);
  }
  const count = one.names.length;
  const own = one.kind === "own";
  const stacked = (6.5 + 2.2 * String(count).length) * (own ? 1.3 : 1);
  one.size = one.arrow ? 6 : count > 1 ? stacked : own ? 8 : one.needed ? 6 : 4.5;
}

// Scores are between 0 and 1; what is tiny or huge has a power of ten.
function written(axis, ticks) {
  const largest = Math.max(...axis.domain().map(Math.abs));
  return largest > 1e-4 && largest < 1e5 ? axis.tickFormat(ticks.length) : d3.format("~e");
}

function axes({ frame, x, y, room, data, letter, width }) {
  const level = x.ticks(Math.min(10, (room.right - room.left) / 70));
  const upright = y.ticks(Math.min(8, (room.bottom - room.top) / 45));
  const [across, up] = [written(x, level), written(y, upright)];
  const grid = [
    ...level.map((tick) => `M${x(tick)} ${room.top}V${room.bottom}`),
    ...upright.map((tick) => `M${room.left} ${y(tick)}H${room.right}`),
  ].join("");
  const base = `M${room.left} ${room.top}V${room.bottom}H${room.right}`;
  frame.selectAll("path").data([["grid", grid], ["axis", base]]).join("path")
    .attr("class", ([kind]) => kind).attr("d", ([, line]) => line);
  const below = room.bottom + 2.9 * letter;
  const texts = [
    ...level.map((tick) => ["tick middle", x(tick), room.bottom + 1.55 * letter, signed(across(tick), data.decimal)]),
    ...upright.map((tick) => ["tick end", room.left - 6, y(tick) + 0.34 * letter, signed(up(tick), data.decimal)]),
    ["title", 2, room.top - 1.1 * letter, data.words.y_title],
    ["title end", room.right, below, data.words.x_title],
  ];
  const better = `↙ ${data.words.better}`;
  if (width(better) + width(data.words.x_title) + letter < room.right - room.left) texts.push(["better", room.left, below, better]);
  frame.selectAll("text").data(texts).join("text")
    .attr("class", ([kind]) => kind).attr("x", ([, left]) => left).attr("y", ([, , top]) => top)
    .text(([, , , text]) => text);
}

// Lines on which the score that teams are ranked by is the same, and that of the leader.
function levels({ back, data, x, y, room, letter, width }, steps) {
  if (!data.equal) return [];
  const [left, right, low, high] = [...x.domain(), ...y.domain()];
  const ticks = d3.ticks((left + low) / 2, (right + high) / 2, 8);
  const written = d3.tickFormat((left + low) / 2, (right + high) / 2, 8);
  const apart = (score) => data.leader === null || Math.abs(score - data.leader) > 0.05 * (ticks[1] - ticks[0] || 1);
  const lines = ticks.filter(apart).map((score) => ({ score, text: signed(written(score), data.decimal) }));
  if (data.leader !== null) lines.unshift({ score: data.leader, text: data.leaderText, best: true });
  const marked = [...steps, ...data.marks.filter((one) => one.inside).map(around)];
  const boxes = [];
  const free = (box) => ![...marked, ...boxes].some((other) => meets(box, other));
  const shown = lines.flatMap((line) => {
    const ends = [Math.max(left, 2 * line.score - high), Math.min(right, 2 * line.score - low)];
    if (ends[0] >= ends[1]) return [];
    const [[x1, y1], [x2, y2]] = ends.map((end) => [x(end), y(2 * line.score - end)]);
    const box = [...places(line, [x1, y1, x2, y2], width(line.text) / 2, room, letter)].find(free);
    if (box) boxes.push(box);
    if (line.best) boxes.push(...beads(x1, y1, x2, y2));
    return [{ ...line, x1, y1, x2, y2, box }];
  });
  const group = back.select(".levels");
  group.selectAll("path").data(shown).join("path")
    .attr("class", (one) => (one.best ? "equal best" : "equal"))
    .attr("d", (one) => `M${one.x1} ${one.y1}L${one.x2} ${one.y2}`);
  group.selectAll("text").data(shown.filter((one) => one.box)).join("text")
    .attr("class", (one) => `aside middle${one.best ? " best" : ""}`)
    .attr("x", ({ box }) => (box.left + box.right) / 2).attr("y", ({ box }) => (box.top + box.bottom) / 2)
    .attr("dy", ".34em").text((one) => one.text);
  return boxes;
}

// What a line takes up that is not level.
function beads(x1, y1, x2, y2) {
  const steps = Math.max(1, Math.round(Math.hypot(x2 - x1, y2 - y1) / 4));
  return d3.range(steps + 1).map((at) => [x1 + (at / steps) * (x2 - x1), y1 + (at / steps) * (y2 - y1)])
    .map(([cx, cy]) => ({ left: cx - 2, right: cx + 2, top: cy - 2, bottom: cy + 2 }));
}

// Where a line may say its score: from its lower right end as far as its middle, the leader's from the other.
function* places({ best }, [x1, y1, x2, y2], half, room, letter) {
  for (let at = 1; at < (best ? PLACES : PLACES / 2); at += 1) {
    const share = best ? at / PLACES : 1 - at / PLACES;
    const [cx, cy] = [x1 + share * (x2 - x1), y1 + share * (y2 - y1)];
    const box = { left: cx - half - 3, right: cx + half + 3, top: cy - letter / 2, bottom: cy + letter / 2 };
    if (box.left > room.left && box.right < room.right && box.top > room.top && box.bottom < room.bottom - 2) yield box;
  }
}

// Behind every rounded point the box that it may lie in; no score is below 0 or above 1.
function blurs({ back, data, x, y }) {
  const ends = (score, blur) => [Math.max(0, score - blur), Math.min(Math.max(1, score), score + blur)];
  back.select(".blurs").selectAll("rect").data(data.marks.filter((one) => one.blur)).join("rect")
    .each(function size(one) {
      const [[left, right], [low, high]] = [ends(one.x, one.blur), ends(one.y, one.blur)];
      d3.select(this).attr("x", x(left)).attr("y", y(high)).attr("width", x(right) - x(left)).attr("height", y(low) - y(high));
    });
}

// The steps of the front, and what they take up.
function front({ back, data, x, y, room }) {
  const steps = data.marks.filter((one) => one.front).sort((a, b) => a.x - b.x || b.y - a.y);
  if (!steps.length) return [];
  const line = steps.map((one, at) => (at ? `H${x(one.x)}V${y(one.y)}` : `M${x(one.x)} ${y(one.y)}`)).join("");
  const [first, last] = [steps[0], steps.at(-1)];
  const reach = `M${x(first.x)} ${y(first.y)}V${Math.min(room.top, y(first.y))}M${x(last.x)} ${y(last.y)}H${Math.max(room.right, x(last.x))}`;
  back.select(".front").selectAll("path").data([["reach", reach], ["line", line]]).join("path")
    .attr("class", ([kind]) => kind).attr("d", ([, path]) => path);
  return d3.pairs(steps).flatMap(([one, next]) => {
    const [left, right, top, bottom] = [x(one.x), x(next.x), y(one.y), y(next.y)];
    return [
      { left, right, top: top - 1, bottom: top + 1 },
      { left: right - 1, right: right + 1, top, bottom },
    ];
  });
}

const FORMS = { others: d3.symbolCircle, front: d3.symbolCircle, own: d3.symbolDiamond2, baseline: d3.symbolSquare };

function form(one) {
  const area = Math.PI * one.size ** 2;
  if (one.arrow) return d3.symbol(d3.symbolTriangle, area)();
  return d3.symbol(FORMS[one.kind], area)();
}

function points({ marks, counts, kept }) {
  const seen = (one) => one.inside || one.arrow;
  marks.attr("d", form)
    .attr("transform", (one) => `translate(${one.cx} ${one.cy})${one.arrow ? `rotate(${one.turn})` : ""}`)
    .classed("stack", (one) => one.names.length > 1 && !one.arrow)
    .classed("out", (one) => !seen(one))
    .classed("found", (one) => one.found)
    .classed("faint", (one) => Boolean(kept.wanted) && !one.found);
  counts.attr("x", (one) => one.cx).attr("y", (one) => one.cy).classed("out", (one) => !one.inside)
    .classed("faint", (one) => Boolean(kept.wanted) && !one.found);
}

function find(plot, text) {
  plot.kept.wanted = folded(text);
  const { wanted } = plot.kept;
  for (const one of plot.data.marks) {
    one.found = Boolean(wanted) && one.names.some((name) => folded(name).includes(wanted));
  }
}

// The board's search lights up what it finds; keys zoom; a mark that the keyboard reaches is brought into view.
function listen(plot) {
  const { picture, figure } = plot;
  const node = picture.node();
  const found = ({ detail }) => {
    if (!figure.isConnected) return document.removeEventListener("anoncup:find", found);
    find(plot, detail.text);
    return draw(plot);
  };
  document.addEventListener("anoncup:find", found);
  node.addEventListener("keydown", (event) => {
    const act = {
      "+": () => scale(plot, STEP),
      "=": () => scale(plot, STEP),
      "-": () => scale(plot, 1 / STEP),
      0: () => go(plot, d3.zoomIdentity),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  node.addEventListener("focusin", ({ target }) => {
    const [one] = d3.select(target).data();
    if (one?.names && !one.inside && !one.arrow) {
      picture.call(plot.zoom.translateTo, plot.x0(one.x), plot.y0(one.y));
    }
  });
}
