// Reloads a page that waits for work, unless its reader is busy with it.

const container = document.querySelector("[data-refresh]");

function isBusy() {
  return document.hidden || document.querySelector("main details[open]") !== null
    || document.activeElement?.closest("form") != null;
}

function reload() {
  if (!isBusy()) location.reload();
}

if (container) setInterval(reload, Number(container.dataset.refresh));
