// On a narrow screen the way one is on may lie outside of its row: bring it to the middle.

for (const here of document.querySelectorAll("nav li > [aria-current]")) {
  const row = here.closest("ul, ol");
  const [inside, around] = [here.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inside.left + inside.width / 2 - around.left - around.width / 2;
}
