// Countdowns, and every moment also in the reader's own zone.

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
// Swedish dates are written as those of the server: 2026-11-25 16:34:14.
const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: own });

function inOwnZone(root) {
  for (const time of root.querySelectorAll("time[data-zone]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (time.dataset.zone === own || Number.isNaN(moment.getTime())) continue;
    time.title = `${format.format(moment)} (${own})`;
    if ("beside" in time.dataset) time.insertAdjacentHTML("afterend", `<span class="own_zone"></span>`);
    if ("beside" in time.dataset) time.nextElementSibling.textContent = time.title;
  }
}

// A moment of no competition stands on the reader's clock; what the server wrote becomes the hint.
function onOwnClock(root) {
  for (const time of root.querySelectorAll("time[data-own]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    time.textContent = format.format(moment);
  }
}

// The server's clock decides: the reader's may be wrong, so only what has passed since is taken from it.
const started = performance.now();

function left(element) {
  const passed = performance.now() - started;
  return new Date(element.dataset.until) - new Date(element.dataset.now) - passed;
}

function inWords(milliseconds, words) {
  if (milliseconds <= 0) return words.over;
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [[Math.floor(seconds / 86400), words.d], [Math.floor(seconds / 3600) % 24, words.h],
    [Math.floor(seconds / 60) % 60, words.m], [seconds % 60, words.s]];
  const first = Math.min(parts.findIndex(([count]) => count > 0), 2);
  return words.left.replace("{}", parts.slice(first, first + 2).map(([count, unit]) => `${count} ${unit}`).join(" "));
}

function tick() {
  for (const element of document.querySelectorAll("[data-until]")) {
    element.textContent = inWords(left(element), JSON.parse(element.dataset.words));
  }
}

inOwnZone(document);
onOwnClock(document);
document.addEventListener("htmx:after:swap", () => { inOwnZone(document); tick(); });
tick();
setInterval(tick, 1000);
