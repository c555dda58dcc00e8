// Countdowns, and times in the reader's own zone.

import { createElement } from "./elements.js";

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// Swedish dates are written like the server's: 2026-11-25 16:34:14.
const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: ownZone });
const loadedAt = performance.now();

// Replaces a time of no competition by the local time. A time of a competition gets a hint, or a text beside it.
function localizeTime(time) {
  const localTime = format.format(new Date(time.dateTime));
  if ("own" in time.dataset) {
    time.title = time.textContent;
    time.textContent = localTime;
  } else if (time.dataset.zone !== ownZone) {
    const textContent = `${localTime} (${ownZone})`;
    time.title = textContent;
    if ("beside" in time.dataset) time.after(createElement("span", { className: "own_zone", textContent }));
  }
}

// The reader's clock may be wrong, so only the time since the page was loaded is taken from it.
function computeRemaining({ until, now }) {
  return new Date(until) - new Date(now) - (performance.now() - loadedAt);
}

// The two largest units, such as "2 d 3 h".
function formatRemaining(milliseconds, words) {
  if (milliseconds < 1000) return words.over;
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [["d", 86400, Infinity], ["h", 3600, 24], ["m", 60, 60], ["s", 1, 60]]
    .map(([unit, length, count]) => [Math.floor(seconds / length) % count, words[unit]]);
  const first = Math.min(parts.findIndex(([count]) => count > 0), 2);
  return words.left.replace("{}", parts.slice(first, first + 2).map((part) => part.join(" ")).join(" "));
}

function updateCountdowns() {
  for (const element of document.querySelectorAll("[data-until]")) {
    element.textContent = formatRemaining(computeRemaining(element.dataset), JSON.parse(element.dataset.words));
  }
}

function update() {
  document.querySelectorAll("time:is([data-zone], [data-own]):not([title])").forEach(localizeTime);
  updateCountdowns();
}

update();
document.addEventListener("htmx:after:swap", update);
setInterval(updateCountdowns, 1000);
