// Keeps the header of a wide board at the top of the screen. CSS alone cannot, because the table scrolls sideways in
// a box of its own.

function moveHeaders() {
  for (const sheet of document.querySelectorAll(".sheet")) {
    const canScroll = getComputedStyle(sheet).overflowX === "auto";
    const top = canScroll ? Math.max(0, -sheet.getBoundingClientRect().top) : 0;
    sheet.style.setProperty("--top", `${top}px`);
  }
}

addEventListener("scroll", moveHeaders, { passive: true });
addEventListener("resize", moveHeaders);
