// The tooltip of charts and cells.

import { createElement } from "./elements.js";

const GAP_PX = 8;
const MARGIN_PX = 4;
// Screen readers read the label of the mark instead.
const tooltip = createElement("div", { className: "tip", hidden: true, ariaHidden: "true" });

// Centers the tooltip above the box, or below it if there is no room above.
export function showTooltip(text, box) {
  tooltip.textContent = text;
  tooltip.hidden = false;
  document.body.append(tooltip);
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const maxLeft = document.documentElement.clientWidth - width - MARGIN_PX;
  const left = Math.max(MARGIN_PX, Math.min(maxLeft, (box.left + box.right - width) / 2));
  const top = box.top - height - GAP_PX;
  Object.assign(tooltip.style, { left: `${left}px`, top: `${top < MARGIN_PX ? box.bottom + GAP_PX : top}px` });
}

export function hideTooltip() {
  tooltip.hidden = true;
}

addEventListener("keydown", ({ key }) => key === "Escape" && hideTooltip());
addEventListener("scroll", hideTooltip, true);
