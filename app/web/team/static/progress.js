// Updates submissions while they are scored, by events of the server or else regularly.

import { refreshSubmissions } from "./submissions.js";

const MAX_STREAMS = 3; // of the six connections that a browser opens over HTTP/1.1
const INTERVAL_MS = 5000;
const streams = new Map(); // by the id of the element
const loading = new Set();

const isUnfinished = (id) => Boolean(document.getElementById(id)?.dataset.live);

async function refresh(id) {
  if (!isUnfinished(id) || loading.has(id)) return;
  loading.add(id);
  const { live, select } = document.getElementById(id).dataset;
  // If this fails, the next event or interval tries again.
  await htmx.ajax("GET", live, { target: `#${id}`, swap: "outerMorph", ...(select && { select }) }).catch(() => {});
  loading.delete(id);
}

function closeStream(id) {
  streams.get(id)?.close();
  streams.delete(id);
}

async function finish(id) {
  closeStream(id);
  if (document.getElementById(id)?.dataset.then === "reload") return location.reload();
  await refreshSubmissions();
  return openStreams();
}

function openStream({ id, dataset }) {
  const stream = new EventSource(dataset.events);
  stream.addEventListener("progress", () => refresh(id));
  stream.addEventListener("done", () => finish(id));
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) streams.delete(id);
  });
  streams.set(id, stream);
}

// The oldest submissions get streams, because they are scored first.
function openStreams() {
  [...streams.keys()].filter((id) => !isUnfinished(id)).forEach(closeStream);
  const waiting = [...document.querySelectorAll("[data-live]")].filter(({ id }) => !streams.has(id)).reverse();
  waiting.slice(0, MAX_STREAMS - streams.size).forEach(openStream);
}

async function refreshWithoutStreams() {
  for (const { id, dataset } of document.querySelectorAll("[data-live]")) {
    if (streams.has(id)) continue;
    const { then } = dataset;
    await refresh(id);
    if (then === "reload" && !isUnfinished(id)) location.reload();
  }
  openStreams();
}

document.addEventListener("htmx:after:swap", openStreams);
window.addEventListener("pagehide", () => [...streams.keys()].forEach(closeStream));
window.addEventListener("pageshow", openStreams);
setInterval(refreshWithoutStreams, INTERVAL_MS);
openStreams();
