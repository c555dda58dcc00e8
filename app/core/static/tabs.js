// Scrolls the current tab to the middle of its row, where a narrow screen may cut it off.

for (const tab of document.querySelectorAll("nav li > [aria-current]")) {
  const row = tab.closest("ul, ol");
  const [inner, outer] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}
