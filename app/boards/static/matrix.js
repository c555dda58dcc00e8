// Shows attacker, target and rate of the cell at the pointer.

import { hideTooltip, showTooltip } from "./tooltips.js";

addEventListener("pointerover", ({ target }) => {
  const cell = target.closest?.(".heat td");
  if (!cell) return hideTooltip();
  const attacker = cell.parentNode.cells[0].textContent;
  const column = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent;
  return showTooltip(`${attacker} → ${column}: ${cell.textContent}`, cell.getBoundingClientRect());
});
