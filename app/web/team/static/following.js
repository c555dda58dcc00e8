// Lines that change while a submission is scored: an event from the server, or else the clock, brings the newer one.
import { refresh as refreshTogether } from "./fresh.js";

const STREAMS = 3; // a browser keeps six connections to a server over HTTP/1.1, and the page needs some itself
const POLL_MS = 5000;
const streams = new Map();
const asked = new Set();

function unfinished() {
  return [...document.querySelectorAll("[data-live]")];
}

async function refresh(id) {
  const element = document.getElementById(id);
  if (!element?.dataset.live || asked.has(id)) return;
  asked.add(id);
  const { live, select } = element.dataset;
  try {
    await window.htmx.ajax("GET", live, { target: `#${id}`, swap: "outerMorph", ...(select ? { select } : {}) });
  } catch {
    // The next event or turn of the clock asks again.
  } finally {
    asked.delete(id);
  }
}

async function ended(id) {
  streams.get(id)?.close();
  streams.delete(id);
  if (document.getElementById(id)?.dataset.then === "reload") { window.location.reload(); return; }
  await refreshTogether();
  follow();
}

function follow() {
  for (const [id, stream] of streams) {
    if (!document.getElementById(id)?.dataset.live) { stream.close(); streams.delete(id); }
  }
  // The oldest first: they are scored first.
  for (const element of unfinished().reverse()) {
    if (streams.size >= STREAMS) break;
    if (streams.has(element.id)) continue;
    const { id } = element;
    const stream = new EventSource(element.dataset.events);
    stream.addEventListener("progress", () => refresh(id));
    stream.addEventListener("done", () => ended(id));
    stream.addEventListener("error", () => {
      if (stream.readyState === EventSource.CLOSED) streams.delete(id); // refused: the clock takes over
    });
    streams.set(id, stream);
  }
}

async function poll() {
  for (const { id } of unfinished()) {
    if (streams.has(id)) continue;
    const { then } = document.getElementById(id).dataset;
    await refresh(id);
    if (then === "reload" && !document.getElementById(id)?.dataset.live) window.location.reload();
  }
  follow();
}

document.addEventListener("htmx:after:swap", follow);
window.addEventListener("pagehide", () => { for (const stream of streams.values()) stream.close(); streams.clear(); });
window.addEventListener("pageshow", follow);
setInterval(poll, POLL_MS);
follow();
