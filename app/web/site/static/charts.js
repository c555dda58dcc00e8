// What a mark stands for, beside it: under the pointer, and under the keyboard's focus.
// In a picture, the arrow keys go from mark to mark; an entry of the legend brings out its series.

const NEAR = 24; // pixels from a mark at which the pointer finds it
const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
tip.setAttribute("aria-hidden", "true"); // the mark's own name is read out
let lit = null;

function show(said, box) {
  tip.textContent = said;
  tip.hidden = false;
  document.body.append(tip);
  const { offsetWidth: wide, offsetHeight: tall } = tip;
  const middle = box.left + box.width / 2 - wide / 2;
  const above = box.top - tall - 8;
  tip.style.left = `${Math.max(4, Math.min(middle, document.documentElement.clientWidth - wide - 4))}px`;
  tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
}

function light(mark) {
  if (mark === lit) return;
  lit?.classList.remove("lit");
  lit = mark;
  tip.hidden = !mark;
  if (!mark) return;
  mark.classList.add("lit");
  show(mark.getAttribute("aria-label"), mark.getBoundingClientRect());
}

const away = (box, x, y) => Math.hypot(box.left + box.width / 2 - x, box.top + box.height / 2 - y);

function nearest(boxes, event) {
  const under = event.target.closest("[aria-label]");
  if (under && boxes.has(under)) return under;
  let [found, least] = [null, NEAR];
  for (const [mark, box] of boxes) {
    if (mark.classList.contains("out")) continue;
    const far = away(box, event.clientX, event.clientY);
    if (far < least) [found, least] = [mark, far];
  }
  return found;
}

function move(marks, from, key) {
  const last = marks.length - 1;
  const at = marks.indexOf(from);
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[key];
  if (to === undefined) return false;
  const next = marks[Math.max(0, Math.min(to, last))];
  from.removeAttribute("tabindex");
  next.setAttribute("tabindex", "0");
  next.focus();
  return true;
}

export function enliven(picture) {
  const marks = [...picture.querySelectorAll("[role=img]")];
  const measure = () => new Map(marks.map((mark) => [mark, mark.getBoundingClientRect()]));
  if (picture.classList.contains("level")) {
    const boxes = measure();
    marks.sort((one, other) => boxes.get(one).left - boxes.get(other).left);
  }
  let boxes = new Map();
  picture.addEventListener("moved", () => {
    boxes = measure();
    if (lit && picture.contains(lit)) show(lit.getAttribute("aria-label"), lit.getBoundingClientRect());
  });
  picture.addEventListener("pointerenter", () => { boxes = measure(); });
  picture.addEventListener("pointermove", (event) => light(nearest(boxes, event)));
  picture.addEventListener("pointerdown", (event) => { boxes = measure(); light(nearest(boxes, event)); });
  picture.addEventListener("pointerleave", () => light(null));
  picture.addEventListener("focusin", (event) => light(event.target.closest("[role=img]")));
  picture.addEventListener("focusout", () => light(null));
  picture.addEventListener("keydown", (event) => {
    if (move(marks, event.target, event.key)) event.preventDefault();
  });
}

function bringOut(figure, name) {
  for (const series of figure.querySelectorAll(".picture .series")) {
    series.classList.toggle("dim", Boolean(name) && !series.classList.contains(name));
  }
}

function explain(figure) {
  const entries = [...figure.querySelectorAll(".legend .key")];
  const pressed = () => entries.find((each) => each.getAttribute("aria-pressed") === "true")?.dataset.series;
  const press = (entry) => {
    const on = pressed() !== entry.dataset.series;
    for (const each of entries) each.setAttribute("aria-pressed", String(on && each === entry));
    bringOut(figure, on ? entry.dataset.series : "");
  };
  for (const entry of entries) {
    entry.setAttribute("aria-pressed", "false");
    entry.disabled = false;
    entry.onpointerenter = entry.onfocus = () => bringOut(figure, entry.dataset.series);
    entry.onpointerleave = entry.onblur = () => bringOut(figure, pressed());
    entry.onclick = () => press(entry);
  }
}

function point({ target }) {
  const cell = target.closest?.(".heat td");
  if (!cell) return lit || (tip.hidden = true);
  const column = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent.trim();
  const said = `${cell.parentNode.cells[0].textContent.trim()} → ${column}: ${cell.textContent}`;
  return show(said, cell.getBoundingClientRect());
}

// What takes over from a picture is loaded where there is one.
async function explore(figure) {
  await import("./vendor/d3-7.9.2.min.js");
  const view = await import("./plane.js");
  view.explore(figure);
}

const known = new WeakSet();
function discover() {
  for (const figure of document.querySelectorAll(".chart")) {
    if (known.has(figure)) continue;
    known.add(figure);
    explain(figure);
    if (figure.dataset.view) explore(figure);
    else figure.querySelectorAll("svg.picture[role=group]").forEach(enliven);
  }
}

discover();
new MutationObserver(discover).observe(document.body, { childList: true, subtree: true }); // parts are exchanged
addEventListener("pointerover", point);
addEventListener("keydown", (event) => { if (event.key === "Escape") light(null); });
addEventListener("scroll", () => { if (lit) show(lit.getAttribute("aria-label"), lit.getBoundingClientRect()); }, true);
