// Replaces a board when it has changed. The ETag of its JSON shows whether it has.

import { poll, replaceElements } from "./live_update.js";

const INTERVAL_MS = 30_000;
const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
const board = document.querySelector("#live[data-live]");
let etag = null;

async function hasChanged() {
  const headers = etag ? { "If-None-Match": etag } : {};
  const response = await fetch(board.dataset.live, { headers, cache: "no-store" });
  if (!response.ok) return false;
  const previous = etag;
  etag = response.headers.get("ETag");
  return previous !== null && etag !== previous;
}

async function update() {
  if (!await hasChanged()) return;
  await replaceElements("standings", "as_of", "lead", "pictures", "more");
  const element = board.querySelector("[data-updated]");
  if (element) element.textContent = ` · ${board.dataset.updatedWord} ${format.format(new Date())}`;
}

if (board) poll(update, INTERVAL_MS)();
