// Keeps the list of a team's submissions and its quota current: other members submit and choose, too.

import { poll, replaceElements } from "./live_update.js";

const INTERVAL_MS = 10_000;
const getList = () => document.getElementById("own");

export async function refreshSubmissions() {
  if (!getList()) return;
  const { taking } = getList().dataset;
  await replaceElements("own", "caps");
  // The start or end of a phase changes the whole page. A reload would lose chosen files.
  const hasFiles = [...document.querySelectorAll('input[type="file"]')].some((input) => input.files.length);
  if (getList().dataset.taking !== taking && !hasFiles) location.reload();
}

async function update() {
  const { state, tag } = getList().dataset;
  const response = await fetch(state, { cache: "no-store" });
  if (response.ok && !response.redirected && await response.text() !== tag) await refreshSubmissions();
}

if (getList()) poll(update, INTERVAL_MS);
