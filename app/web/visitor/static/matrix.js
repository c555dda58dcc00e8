// The matrix of attacks drawn to fit the page, read from its table: under the pointer and the keyboard each cell
// says what it is, a part of it is enlarged, and, once all is revealed, the attacks arrive again.

const { d3 } = window;
const [NARROW, PRINT] = [matchMedia("(max-width: 40rem)"), matchMedia("print")];
const MEAN = { across: 40, down: 20 };
const MOST_HEAD = 104; // of the targets' names
const [FEW, WIDEST] = [24, 260]; // targets, and pixels of one
const ROOM = { number: [28, 11], name: 9, upright: 62, gap: 5 }; // pixels from which something is shown
const kept = new Map(); // by figure, over exchanges: { unfolded, cursor }

const bare = (name) => name.replace(/[\u2068\u2069]/g, "").trim();
const filled = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

function heading(cell) {
  const [name, small] = [cell.querySelector("span").firstChild.textContent, cell.querySelector("small")];
  const own = cell.classList.contains("own");
  return { name: bare(name), said: cell.textContent.trim(), note: small?.textContent ?? "", own };
}

function value(cell) {
  const step = /heat-(\d+)/.exec(cell.className);
  return { text: cell.textContent, step: step ? Number(step[1]) : null };
}

function read(table) {
  const [names, means] = table.tHead.rows;
  const targets = [...names.cells].slice(2).map((cell, at) => ({ ...heading(cell), mean: value(means.cells[at + 2]) }));
  const rows = [...table.tBodies[0].rows].map((row) => {
    const [name, mean, ...cells] = row.cells;
    return { ...heading(name), builtIn: row.classList.contains("built_in"), mean: value(mean), cells: cells.map(value) };
  });
  return { targets, rows, mean: value(means.cells[1]) };
}

// How wide words are about, of letters of 12 pixels.
const breadth = (said) => 16 + d3.sum(said, (one) => (one > "\u2e7f" ? 12 : 6.8));

// Cells are as large as the page allows, names of few targets' attackers as long as they are; of many rows cells
// are flat, and of very many without names.
function measured(width, { targets, rows }) {
  const few = targets.length <= FEW;
  const left = Math.min(few ? 320 : 190, width * 0.24, d3.max(rows, ({ said }) => breadth(said))) + MEAN.across;
  const longest = d3.max(targets, ({ said }) => breadth(said));
  const across = Math.min(WIDEST, (width - left - 1) / targets.length);
  const upright = across >= ROOM.upright ? 16 * Math.ceil(longest / across) + 4 : longest;
  const head = Math.min(across < ROOM.name ? MOST_HEAD / 2 : MOST_HEAD, upright);
  const top = head + MEAN.down;
  const down = Math.max(rows.length > 80 ? 2 : 14, Math.min(few ? 34 : 28, 720 / rows.length));
  const [wide, tall] = [across * targets.length, down * rows.length];
  return { left, top, head, across, down, wide, tall, most: Math.max(1, 64 / across, 24 / down) };
}

function squares(cells, [wide, tall]) {
  const gap = wide > ROOM.gap && tall > ROOM.gap ? 1 : 0.25;
  const [w, h] = [wide - gap, tall - gap];
  return cells.map(({ x, y }) => `M${x.toFixed(2)},${y.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${-w.toFixed(2)}z`).join("");
}

const dashes = (cells, [wide, tall]) => (wide < ROOM.gap || tall < ROOM.gap ? ""
  : cells.map(({ x, y }) => `M${(x + wide / 2 - 2).toFixed(2)},${(y + tall / 2).toFixed(2)}h4`).join(""));

// One path for each colour: thousands of elements of their own would be slow.
function paint(place, cells, size, numbers = true) {
  const steps = d3.group(cells, (cell) => cell.step);
  place.selectAll("path.cells").data([...steps], ([step]) => step).join("path")
    .attr("class", ([step]) => `${step === null ? "vacant" : `heat-${step}`} cells`)
    .attr("d", ([step, each]) => (step === null ? dashes : squares)(each, size));
  const said = numbers && size[0] >= ROOM.number[0] && size[1] >= ROOM.number[1] ? cells.filter((one) => one.step !== null) : [];
  place.selectAll("text").data(said).join("text")
    .attr("x", ({ x }) => x + size[0] / 2).attr("y", ({ y }) => y + size[1] / 2)
    .style("font-size", `${Math.min(size[1] > 24 ? 13 : 11, size[1] - 1)}px`).text(({ text }) => text);
}

// Written anew only where it changed: a zoom moves names many times a second.
function write(each, { name, note }) {
  const key = `${name}\n${note}`;
  if (each.dataset.key === key) return;
  each.dataset.key = key;
  each.replaceChildren(`${name} `, Object.assign(document.createElement("small"), { textContent: note }));
}

function build(figure, words) {
  const model = read(figure.querySelector(".heat"));
  const box = document.createElement("div");
  box.className = "matrix_view";
  box.tabIndex = 0;
  box.setAttribute("role", "application");
  box.setAttribute("aria-label", words.keys);
  figure.querySelector(":scope > .wide").before(box);
  const size = measured(box.clientWidth, model);
  const root = d3.select(box);
  const svg = root.append("svg").attr("aria-hidden", "true")
    .attr("width", size.left + size.wide + 1).attr("height", size.top + size.tall + 1);
  const part = (x, y, wide, tall) => svg.append("svg").attr("x", x).attr("y", y).attr("width", wide).attr("height", tall);
  const means = part(size.left - MEAN.across, size.top, MEAN.across - 4, size.tall);
  const whole = part(size.left - MEAN.across, size.top - MEAN.down, MEAN.across - 4, MEAN.down - 4);
  const heads = part(size.left, size.top - MEAN.down, size.wide, MEAN.down - 4);
  const grid = part(size.left, size.top, size.wide, size.tall);
  const cells = grid.append("g");
  const marks = grid.append("g");
  const touch = grid.append("g");
  const named = (kind, left, top, wide, tall) => root.append("div").attr("class", `matrix_names ${kind}`)
    .attr("aria-hidden", "true").style("left", `${left}px`).style("top", `${top}px`).style("width", `${wide}px`).style("height", `${tall}px`);
  const down = named("down", 0, size.top, size.left - MEAN.across, size.tall);
  const across = named("across", size.left, 0, size.wide, size.head);
  named("down", 0, size.top - MEAN.down, size.left - MEAN.across, MEAN.down).append("div").style("width", "100%").text(words.mean);
  const tip = root.append("div").attr("class", "matrix_tip").attr("role", "status").node();
  const view = { model, box, size, means, heads, whole, cells, marks, touch, down, across, tip, words, at: d3.zoomIdentity, cursor: null, partial: false };
  view.draw = () => draw(view);
  steer(view);
  return view;
}

// Which rows or columns are within view, and where each begins.
function within(count, each, start, zoom, room) {
  const wide = each * zoom;
  const first = Math.max(0, Math.floor(-start / wide));
  const last = Math.min(count, Math.ceil((room - start) / wide));
  return d3.range(first, last).map((at) => ({ at, from: start + at * wide }));
}

function draw(view) {
  const { model, size, at: { k, x, y } } = view;
  const [wide, tall] = [size.across * k, size.down * k];
  const columns = within(model.targets.length, size.across, x, k, size.wide);
  const rows = within(model.rows.length, size.down, y, k, size.tall);
  const seen = rows.flatMap((row) => columns.map((column) => (
    { ...model.rows[row.at].cells[column.at], x: column.from, y: row.from })));
  paint(view.cells, seen, [wide, tall]);
  const mean = (line, x, y) => ({ ...line.mean, x, y });
  const means = [rows.map((row) => mean(model.rows[row.at], 0, row.from)), columns.map((column) => mean(model.targets[column.at], column.from, 0)), [mean(model, 0, 0)]];
  const [down, across, whole] = view.partial ? [[], [], []] : means; // while attacks arrive they are not yet what the table says
  paint(view.means, down, [MEAN.across - 3, tall]);
  paint(view.heads, across, [wide, MEAN.down - 3]);
  paint(view.whole, whole, [MEAN.across - 3, MEAN.down - 3]);
  names(view.down, tall >= ROOM.name ? rows : [], model.rows, (one, { from }) => one
    .style("top", `${from}px`).style("height", `${tall}px`).style("width", "100%").style("line-height", `${tall}px`)
    .style("font-size", `${Math.min(12, tall)}px`), view.cursor?.[0]);
  const upright = wide >= ROOM.upright;
  names(view.across, wide >= ROOM.name ? columns : [], model.targets, (one, { from }) => one
    .classed("turned", !upright).style("left", `${from}px`).style("width", `${wide}px`)
    .style("height", upright ? null : "100%").style("line-height", upright ? null : `${wide}px`)
    .style("font-size", `${Math.min(12, wide)}px`), view.cursor?.[1]);
  mark(view, wide, tall);
}

function names(place, seen, lines, put, marked) {
  place.selectAll("div").data(seen, ({ at }) => at).join("div")
    .classed("own", ({ at }) => lines[at].own).classed("at", ({ at }) => at === marked)
    .each(function each(one) { write(this, lines[one.at]); put(d3.select(this), one); });
}

function mark(view, wide, tall) {
  const { model, size, cursor, at: { x, y } } = view;
  const lane = { row: (at) => [0, y + at * tall, size.wide, tall], column: (at) => [x + at * wide, 0, wide, size.tall] };
  const own = (lines, kind) => lines.flatMap((line, at) => (line.own ? [["mine", ...lane[kind](at)]] : []));
  const cross = cursor ? [["cross", ...lane.row(cursor[0])], ["cross", ...lane.column(cursor[1])],
    ["spot", x + cursor[1] * wide, y + cursor[0] * tall, wide, tall]] : [];
  const fresh = (view.fresh ?? []).map(([row, column]) => ["fresh", x + column * wide, y + row * tall, wide, tall]);
  view.marks.selectAll("rect").data([...own(model.rows, "row"), ...own(model.targets, "column"), ...fresh, ...cross]).join("rect")
    .attr("class", ([kind]) => kind).attr("x", (one) => one[1]).attr("y", (one) => one[2])
    .attr("width", (one) => Math.max(0.5, one[3] - 0.5)).attr("height", (one) => Math.max(0.5, one[4] - 0.5));
  say(view, wide, tall);
}

function say(view, wide, tall) {
  const { model, size, cursor, tip, words, at: { x, y } } = view;
  if (!cursor) return tip.replaceChildren();
  const [row, column] = [model.rows[cursor[0]], model.targets[cursor[1]]];
  const cell = row.cells[cursor[1]];
  const values = { attacker: row.said, target: column.said, value: cell.step === null ? words.vacant : cell.text };
  const said = filled(words.cell, values);
  if (tip.textContent !== said) tip.textContent = said;
  const [left, top] = [size.left + x + (cursor[1] + 0.5) * wide, size.top + y + cursor[0] * tall];
  tip.style.left = `${Math.max(0, Math.min(left - tip.offsetWidth / 2, view.box.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${top - tip.offsetHeight - 8 < 0 ? top + tall + 8 : top - tip.offsetHeight - 8}px`;
  return undefined;
}

function steer(view) {
  const { size, touch, box } = view;
  const whole = [[0, 0], [size.wide, size.tall]];
  const near = () => view.at.k > 1.001;
  // Dragging enlarges a part of the whole, and moves what is enlarged. A finger scrolls the page; two enlarge.
  view.zoom = d3.zoom().extent(whole).translateExtent(whole).scaleExtent([1, size.most])
    .filter((event) => (event.type === "wheel" ? event.ctrlKey || event.metaKey
      : event.touches ? event.touches.length === 2 || near() : !event.button && (near() || event.type === "dblclick")))
    .on("zoom", ({ transform }) => { view.at = transform; box.classList.toggle("near", near()); view.draw(); });
  const brush = d3.brush().extent(whole).touchable(false).filter((event) => !event.button && !event.ctrlKey && !near());
  brush.on("end", ({ selection }) => {
    if (!selection) return;
    touch.call(brush.move, null);
    const [[left, top], [right, bottom]] = selection;
    if (right - left < 4 || bottom - top < 4) return;
    touch.call(view.zoom.scaleTo, Math.min(size.wide / (right - left), size.tall / (bottom - top)));
    touch.call(view.zoom.translateTo, (left + right) / 2, (top + bottom) / 2);
  });
  touch.call(brush).call(view.zoom);
  const under = (event) => place(view, d3.pointer(event, touch.node()));
  touch.on("pointermove.cell", (event) => { if (event.pointerType !== "touch") point(view, under(event)); });
  touch.on("click.cell", (event) => point(view, under(event)));
  box.addEventListener("pointerleave", () => { if (document.activeElement !== box) point(view, null); });
  box.addEventListener("blur", () => point(view, null));
  box.addEventListener("focus", () => { if (!view.cursor && box.matches(":focus-visible")) go(view, [0, 0]); });
  box.addEventListener("keydown", (event) => { if (press(view, event)) event.preventDefault(); });
}

function place({ model, size, at }, [x, y]) {
  const found = [Math.floor(at.invertY(y) / size.down), Math.floor(at.invertX(x) / size.across)];
  return found[0] >= 0 && found[1] >= 0 && found[0] < model.rows.length && found[1] < model.targets.length ? found : null;
}

function point(view, cursor) {
  if (String(cursor) === String(view.cursor)) return;
  view.cursor = cursor;
  view.draw();
}

// The keyboard's cell is brought into sight.
function go(view, cursor) {
  const { size, at: { k, x, y } } = view;
  point(view, cursor);
  const [left, top] = [x + cursor[1] * size.across * k, y + cursor[0] * size.down * k];
  const out = left < 0 || top < 0 || left + size.across * k > size.wide + 1 || top + size.down * k > size.tall + 1;
  if (out) view.touch.call(view.zoom.translateTo, (cursor[1] + 0.5) * size.across, (cursor[0] + 0.5) * size.down);
  view.tip.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function press(view, { key, ctrlKey, altKey, metaKey }) {
  if (ctrlKey || altKey || metaKey) return false;
  const [row, column] = view.cursor ?? [0, 0];
  const [rows, columns] = [view.model.rows.length - 1, view.model.targets.length - 1];
  const to = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [row, 0], End: [row, columns], PageUp: [row - 10, column], PageDown: [row + 10, column],
  }[key];
  if (to) go(view, [Math.max(0, Math.min(to[0], rows)), Math.max(0, Math.min(to[1], columns))]);
  else if (key === "+" || key === "-") enlarge(view, key === "+" ? 1.5 : 1 / 1.5);
  else if (key === "0") enlarge(view, 0);
  else if (key === "Escape") point(view, null);
  else return false;
  return true;
}

// Around the keyboard's cell if there is one; 0: the whole.
function enlarge({ touch, zoom, cursor, size }, factor) {
  if (!factor) return touch.call(zoom.transform, d3.zoomIdentity);
  touch.call(zoom.scaleBy, factor);
  if (cursor) touch.call(zoom.translateTo, (cursor[1] + 0.5) * size.across, (cursor[0] + 0.5) * size.down);
  return undefined;
}

function bar(figure, view, words) {
  const place = document.createElement("div");
  place.className = "matrix_bar";
  const button = (text, label, kind, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, className: `second ${kind}`, onclick: act });
    if (label) made.setAttribute("aria-label", label);
    place.append(made);
    return made;
  };
  button("+", words.enlarge, "zoom", () => enlarge(view(), 1.5));
  button("−", words.reduce, "zoom", () => enlarge(view(), 1 / 1.5));
  button(words.whole, "", "zoom", () => enlarge(view(), 0));
  const table = button(words.table, "", "", () => fold(figure, table, !figure.classList.contains("unfolded")));
  place.append(Object.assign(document.createElement("p"), { textContent: words.help }));
  figure.querySelector(":scope > .wide").before(place);
  fold(figure, table, kept.get(figure.id)?.unfolded ?? false);
}

function fold(figure, button, unfolded) {
  figure.classList.toggle("unfolded", unfolded);
  button.setAttribute("aria-expanded", String(unfolded));
  kept.set(figure.id, { ...kept.get(figure.id), unfolded });
}

let fitting = null; // to the width of the figure that stands now

function prepare() {
  const place = document.querySelector("#standings[data-words]");
  const figure = place?.querySelector(".chart:has(.heat)");
  if (!figure || figure.classList.contains("drawn")) return;
  figure.querySelectorAll(".matrix_bar, .matrix_view, .attacks").forEach((one) => one.remove());
  figure.classList.add("drawn");
  const words = JSON.parse(place.dataset.words);
  let view = null;
  bar(figure, () => view, words);
  const refit = () => {
    if (NARROW.matches || PRINT.matches || view?.box.clientWidth === view?.wide && view) return;
    const cells = view?.model;
    view?.box.remove();
    view = build(figure, words);
    view.wide = view.box.clientWidth;
    if (cells) view.model = cells;
    view.draw();
  };
  fitting?.disconnect();
  fitting = new ResizeObserver(refit);
  fitting.observe(figure);
  refit();
  const { attacks, question, zone } = place.dataset;
  if (attacks) import("/static/attacks.js").then(({ offerReplay }) => offerReplay(figure, () => view, { address: attacks, question, words, zone }));
}

prepare();
document.addEventListener("htmx:after:swap", prepare);
