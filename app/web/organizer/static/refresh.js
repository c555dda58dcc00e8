// A page that waits for work loads itself again, unless somebody is in the middle of something on it.

const waiting = document.querySelector("[data-refresh]");

function busy() {
  return document.hidden || document.querySelector("main details[open]") !== null
    || document.activeElement?.closest("form") != null;
}

if (waiting) {
  setInterval(() => { if (!busy()) location.reload(); }, Number(waiting.dataset.refresh));
}
