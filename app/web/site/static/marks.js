// What a mark stands for, beside it: under the pointer, and under the keyboard's focus. The arrow keys go from
// mark to mark.

const NEAR = 24; // pixels from a mark at which the pointer finds it
const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
tip.setAttribute("aria-hidden", "true"); // the mark's own name is read out
let lit = null;

// Words beside a box of the page, until a mark is lit or none is.
export function show(said, box) {
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

export function hide() {
  if (!lit) tip.hidden = true;
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

addEventListener("keydown", (event) => { if (event.key === "Escape") light(null); });
addEventListener("scroll", () => { if (lit) show(lit.getAttribute("aria-label"), lit.getBoundingClientRect()); }, true);
