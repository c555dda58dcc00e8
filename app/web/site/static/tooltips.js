// Tooltips of the marks in charts, for the pointer and the keyboard.

import { createElement } from "./elements.js";

const REACH_PX = 24; // the pointer selects the nearest mark within this distance
const GAP_PX = 8;
// Screen readers read the label of the mark instead.
const tooltip = createElement("div", { className: "tip", hidden: true, ariaHidden: "true" });
let activeMark = null;

const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

// Centers the tooltip above the box, or below it if there is no room above.
export function placeTooltip(element, box, containerWidth, margin) {
  const left = (box.left + box.right - element.offsetWidth) / 2;
  element.style.left = `${clamp(left, margin, containerWidth - element.offsetWidth - margin)}px`;
  const top = box.top - element.offsetHeight - GAP_PX;
  element.style.top = `${top < margin ? box.bottom + GAP_PX : top}px`;
}

export function showTooltip(text, box) {
  tooltip.textContent = text;
  tooltip.hidden = false;
  document.body.append(tooltip);
  placeTooltip(tooltip, box, document.documentElement.clientWidth, 4);
}

// The tooltip of an active mark stays.
export function hideTooltip() {
  if (!activeMark) tooltip.hidden = true;
}

function updateTooltip() {
  if (activeMark) showTooltip(activeMark.getAttribute("aria-label"), activeMark.getBoundingClientRect());
}

function activate(mark) {
  if (mark === activeMark) return;
  activeMark?.classList.remove("lit");
  activeMark = mark;
  mark?.classList.add("lit");
  hideTooltip();
  updateTooltip();
}

function computeDistance(mark, { clientX, clientY }) {
  const { left, right, top, bottom } = mark.getBoundingClientRect();
  return Math.hypot((left + right) / 2 - clientX, (top + bottom) / 2 - clientY);
}

function findNearest(marks, event) {
  const hovered = event.target.closest("[aria-label]");
  if (marks.includes(hovered)) return hovered;
  let [nearest, leastDistance] = [null, REACH_PX];
  for (const mark of marks.filter(({ classList }) => !classList.contains("out"))) {
    const distance = computeDistance(mark, event);
    if (distance < leastDistance) [nearest, leastDistance] = [mark, distance];
  }
  return nearest;
}

function moveFocus(marks, event) {
  const index = marks.indexOf(event.target);
  const [next, previous, last] = [index + 1, index - 1, marks.length - 1];
  const targets = { ArrowRight: next, ArrowDown: next, ArrowLeft: previous, ArrowUp: previous, Home: 0, End: last };
  if (!(event.key in targets)) return;
  event.preventDefault();
  event.target.removeAttribute("tabindex");
  const mark = marks[clamp(targets[event.key], 0, last)];
  mark.setAttribute("tabindex", "0");
  mark.focus();
}

// The arrow keys go through the marks in their order, in pictures of class "level" from left to right.
export function addTooltips(picture) {
  const marks = [...picture.querySelectorAll("[role=img]")];
  const getLeft = (mark) => mark.getBoundingClientRect().left;
  if (picture.classList.contains("level")) marks.sort((a, b) => getLeft(a) - getLeft(b));
  picture.onpointermove = picture.onpointerdown = (event) => activate(findNearest(marks, event));
  picture.onpointerleave = () => activate(null);
  picture.onkeydown = (event) => moveFocus(marks, event);
  picture.addEventListener("focusin", (event) => activate(event.target.closest("[role=img]")));
  picture.addEventListener("focusout", () => activate(null));
  picture.addEventListener("moved", updateTooltip); // dispatched by pictures that move their marks
}

addEventListener("keydown", ({ key }) => key === "Escape" && activate(null));
addEventListener("scroll", updateTooltip, true);
