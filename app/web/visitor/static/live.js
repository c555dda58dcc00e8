// A board that may change while it is read is asked for every half a minute, and exchanged when it did.

const EVERY = 30_000;
const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
let tag = null;
let asking = false;

function live() {
  return document.querySelector("#live[data-live]");
}

// The answer of the interface has a tag: nothing is sent while the board is as it was.
async function changed(address) {
  const answer = await fetch(address, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  const fresh = answer.ok ? answer.headers.get("ETag") : tag;
  const differs = tag !== null && fresh !== tag;
  tag = fresh;
  return answer.ok && differs;
}

function say() {
  const place = document.querySelector("#live [data-updated]");
  if (place) place.textContent = ` · ${live()?.dataset.updatedWord ?? ""} ${format.format(new Date())}`;
}

// What the reader has opened and where they have scrolled to is kept.
async function exchange() {
  const open = [...document.querySelectorAll("#live details[open]")].map((one) => one.closest("[id]")?.id);
  const selectOOB = ["#as_of", "#lead", "#pictures", "#more"].map((part) => `${part}:outerHTML`).join(",");
  const table = { target: "#standings", select: "#standings", swap: "outerMorph" };
  await window.htmx.ajax("GET", location.href, { ...table, selectOOB });
  for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
  say();
}

async function ask() {
  const board = live();
  if (!board || asking || document.hidden) return;
  asking = true;
  try {
    if (await changed(board.dataset.live)) await exchange();
  } catch {
    // no connection: the next time
  } finally {
    asking = false;
  }
}

if (live()) {
  ask();
  setInterval(ask, EVERY);
  document.addEventListener("visibilitychange", ask);
}
