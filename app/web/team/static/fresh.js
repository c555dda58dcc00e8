// A team's list, its quota and its timeline are exchanged together: others of the team send and choose, too.

const EVERY = 10_000;
const PARTS = ["caps", "timeline-section"];
let asking = false;

const own = () => document.getElementById("own");

/** All that a submission changes on the page of its team; what stands open stays open. */
export async function refresh() {
  const before = own().dataset.taking;
  const opened = [...document.querySelectorAll("#own details[open], #caps details[open]")];
  const open = opened.map((one) => one.closest("[id]").id);
  const selectOOB = PARTS.map((part) => `#${part}:outerHTML`).join(",");
  const address = window.location.pathname + window.location.search;
  await window.htmx.ajax("GET", address, { target: "#own", select: "#own", swap: "outerMorph", selectOOB });
  for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
  // A phase that begins or ends changes the whole page; files that were chosen are not lost to it.
  const chosen = [...document.querySelectorAll('input[type="file"]')].some((input) => input.files.length);
  if (own().dataset.taking !== before && !chosen) window.location.reload();
}

async function changed() {
  const answer = await fetch(own().dataset.state, { cache: "no-store" });
  return answer.ok && !answer.redirected && (await answer.text()) !== own().dataset.tag;
}

async function ask() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    if (await changed()) await refresh();
  } catch {
    // no connection: the next time
  } finally {
    asking = false;
  }
}

if (own()) {
  setInterval(ask, EVERY);
  document.addEventListener("visibilitychange", ask);
}
