// The upload form: files are checked when they are chosen, sent with progress, answered without leaving the page.
import { checkSecret, checkTable } from "./check.js";

const form = document.getElementById("upload");
const checks = JSON.parse(form.dataset.checks);
const words = JSON.parse(form.dataset.words);
const number = new Intl.NumberFormat(document.documentElement.lang);
const said = form.querySelector(".said");
const send = form.querySelector("button:not([type])");
const stop = form.querySelector("[data-stop]");
const sending = form.querySelector(".sending");
const bar = sending.querySelector("progress");
const inputs = [...form.querySelectorAll('input[type="file"]')];
const counted = Object.keys(checks.parts).find((name) => checks.parts[name].individuals);
const rows = {};
const turns = {};

function phrase(word, values) {
  return words[word].replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number.format(value) : String(value);
  });
}

function show(name, { found, rows: count, columns }) {
  const bad = found.some(([severity]) => severity === "bad");
  const box = document.getElementById(`${name}-problems`);
  box.replaceChildren();
  if (found.length) {
    const list = document.createElement("ul");
    list.className = "error";
    for (const [severity, word, values] of found) {
      const item = document.createElement("li");
      if (severity === "warning") item.className = "warning";
      item.textContent = phrase(word, values);
      list.append(item);
    }
    box.append(list);
  }
  const input = document.getElementById(name);
  input.closest(".file").classList.toggle("wrong", bad);
  if (bad) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  const good = !bad && count !== undefined;
  document.getElementById(`${name}-checked`).textContent = good ? `✓ ${phrase("check_good", { rows: count, columns })}` : "";
  return !bad;
}

/** Whether the file may be sent as far as can be known; a newer choice overtakes an older check. */
async function checked(name) {
  const file = document.getElementById(name).files[0];
  const turn = (turns[name] ?? 0) + 1;
  turns[name] = turn;
  if (!file) return false;
  document.getElementById(`${name}-checked`).textContent = words.check_reading;
  const result = name === "secret"
    ? await checkSecret(file, checks.originals, rows[counted] ?? null, checks.bytes)
    : await checkTable(file, checks.parts[name], checks.bytes);
  if (turns[name] !== turn) return false;
  if (name !== "secret") rows[name] = result.found.some(([severity]) => severity === "bad") ? null : result.rows;
  return show(name, result);
}

async function allChecked() {
  let good = true;
  for (const input of inputs) good = (await checked(input.name)) && good; // the secret is held against the table
  return good;
}

for (const input of inputs) {
  input.addEventListener("change", async () => {
    said.textContent = "";
    await checked(input.name);
    if (input.name === counted && document.getElementById("secret").files.length) await checked("secret");
  });
  const box = input.closest(".file");
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}

let request = null;
let busy = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (busy) return;
  busy = true;
  send.disabled = true;
  document.getElementById("refused").replaceChildren();
  document.getElementById("taken").replaceChildren();
  if (await allChecked()) post();
  else {
    free(words.send_fix);
    form.querySelector('[aria-invalid="true"]')?.focus();
  }
});

stop.addEventListener("click", () => request?.abort());

function free(message = "") {
  busy = false;
  send.disabled = false;
  stop.hidden = true;
  sending.hidden = true;
  said.textContent = message;
}

function post() {
  request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", progressed);
  request.upload.addEventListener("load", () => { bar.removeAttribute("value"); said.textContent = words.send_checking; });
  request.addEventListener("load", answered);
  request.addEventListener("error", () => free(words.send_again));
  request.addEventListener("abort", () => free(words.send_stopped));
  bar.value = 0;
  sending.hidden = false;
  stop.hidden = false;
  request.send(new FormData(form));
}

function progressed(event) {
  if (!event.lengthComputable) return;
  const mb = (bytes) => (bytes / 2 ** 20).toFixed(1);
  bar.value = event.loaded / event.total;
  said.textContent = phrase("sending", { sent: mb(event.loaded), all: mb(event.total) });
}

function answered() {
  const page = request.response;
  const path = new URL(request.responseURL).pathname;
  if (path.startsWith("/sign-in")) { window.location.assign(`/sign-in?to=${encodeURIComponent(window.location.pathname)}`); return; }
  const receipt = page?.getElementById("receipt");
  if (request.status === 200 && receipt) { taken(receipt, path); return; }
  free();
  const refused = page?.getElementById("refused");
  if (!refused) { said.textContent = page?.querySelector("main p")?.textContent ?? words.send_again; return; }
  replace("refused", refused);
  for (const name of inputs.map((input) => input.name)) {
    const box = page.getElementById(`${name}-problems`);
    if (box?.childElementCount) {
      replace(`${name}-problems`, box);
      document.getElementById(name).closest(".file").classList.add("wrong");
      document.getElementById(`${name}-checked`).textContent = "";
    }
  }
  if (page.getElementById("upload")) form.action = page.getElementById("upload").action;
  refresh("caps");
  document.getElementById("refused").scrollIntoView({ block: "nearest" });
}

function replace(id, element) {
  document.getElementById(id).replaceChildren(...document.importNode(element, true).childNodes);
}

function taken(receipt, path) {
  free();
  const box = document.getElementById("taken");
  const link = document.createElement("a");
  link.href = path;
  const title = receipt.querySelector("h2");
  link.textContent = title.textContent;
  title.replaceChildren(link);
  receipt.id = "taken-receipt";
  receipt.className = "note good";
  box.replaceChildren(document.importNode(receipt, true));
  box.firstElementChild.append(onward());
  for (const input of inputs) {
    input.value = "";
    document.getElementById(`${input.name}-checked`).textContent = "";
    document.getElementById(`${input.name}-problems`).replaceChildren();
  }
  form.elements.namedItem("comment").value = "";
  form.action = form.action.replace(/key=[^&]*/, `key=${freshKey()}`);
  box.focus();
  refresh("caps");
  refresh("own");
}

/** On a small screen the list, where the scoring is followed, lies far below the receipt. */
function onward() {
  const [line, link] = [document.createElement("p"), document.createElement("a")];
  link.href = "#own";
  link.textContent = words.send_follow;
  line.append(link);
  return line;
}

/** The next upload is another one: what was taken in under the old key stays what it is. */
function freshKey() {
  return [...crypto.getRandomValues(new Uint8Array(18))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function refresh(id) {
  window.htmx?.ajax("GET", window.location.pathname, { target: `#${id}`, select: `#${id}`, swap: "outerMorph" });
}
