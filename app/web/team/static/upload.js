// The upload form: files are checked when they are chosen, sent with progress, answered without leaving the page.
import { checkedAs } from "./check.js";
import { digestOf, droppable, mark, megabytes, named, phrase, show } from "./files.js";
import { refresh } from "./fresh.js";

const form = document.getElementById("upload");
const checks = JSON.parse(form.dataset.checks);
const words = JSON.parse(form.dataset.words);
const state = form.querySelector(".state");
const said = form.querySelector(".said");
const amount = form.querySelector(".amount");
const send = form.querySelector("button:not([type])");
const stop = form.querySelector("[data-stop]");
const again = form.querySelector("[data-again]");
const twice = form.querySelector(".twice");
const sending = form.querySelector(".sending");
const bar = sending.querySelector("progress");
const inputs = [...form.querySelectorAll('input[type="file"]')];
const counted = Object.keys(checks.parts).find((name) => checks.parts[name].individuals);
const tables = Object.values(checks.parts).map((part) => part.header);
const rows = {};
const ids = {};
const turns = {};

/** Whether the file may be sent as far as can be known; a newer choice overtakes an older check. */
async function checked(name) {
  const input = document.getElementById(name);
  const file = input.files[0];
  const turn = (turns[name] ?? 0) + 1;
  turns[name] = turn;
  if (!file) { show(input, words, { found: [] }); return false; }
  document.getElementById(`${name}-checked`).textContent = words.check_reading;
  const part = checks.parts[name] ?? checks.secret;
  const known = { originals: checks.originals, anonymized: rows[counted] ?? null, tables, others: checks.secret?.headers ?? [], ids };
  const [result, good] = await checkedAs(part.kind, file, { ...part, ...known, most_bytes: checks.bytes });
  if (turns[name] !== turn) return false;
  const bad = result.found.some(([severity]) => severity === "bad");
  if (name in checks.parts) rows[name] = bad ? null : result.rows;
  ids[name] = bad ? undefined : result.ids;
  return show(input, words, result, good);
}

async function allChecked() {
  let good = true;
  for (const input of inputs) good = (await checked(input.name)) && good; // files are held against those above them
  return good;
}

for (const input of inputs) {
  droppable(input, async () => {
    if (!busy) { say(""); offer(false); }
    twice.hidden = true;
    await checked(input.name);
    if (input.name !== counted) return;
    for (const other of inputs) if (other !== input && other.files.length) await checked(other.name);
  });
}

/** The line of the list whose files were the very same. */
async function sentBefore() {
  const names = Object.keys(checks.parts);
  const digests = await Promise.all(names.map((name) => digestOf(document.getElementById(name).files[0])));
  return [...document.querySelectorAll(".entry[data-sent]")].find((entry) => {
    const sent = JSON.parse(entry.dataset.sent);
    return names.every((name, place) => digests[place] !== null && sent[name] === digests[place]);
  });
}

function askAgain(entry) {
  const time = entry.querySelector("time").textContent;
  twice.querySelector("p").textContent = phrase(words.send_twice, { when: time });
  twice.hidden = false;
  twice.querySelector("button").focus();
}

let request = null;
let busy = false;

form.addEventListener("submit", (event) => { event.preventDefault(); begin(false); });
twice.querySelector("button").addEventListener("click", () => begin(true));
again.addEventListener("click", () => { if (!busy) { busy = true; send.disabled = true; post(); } });

/** What becomes of the sending stands at the button that was pressed, and in view. */
function say(text) {
  said.textContent = text;
  if (text) state.scrollIntoView({ block: "nearest" });
}

async function begin(anyway) {
  if (busy) return;
  busy = true;
  send.disabled = true;
  document.getElementById("refused").replaceChildren();
  document.getElementById("taken").replaceChildren();
  twice.hidden = true;
  if (!await allChecked()) {
    free(words.send_fix);
    form.querySelector('[aria-invalid="true"]')?.focus();
    return;
  }
  const before = anyway ? undefined : await sentBefore();
  if (!before) { post(); return; }
  free();
  askAgain(before);
}

stop.addEventListener("click", () => request?.abort());

function free(message = "") {
  busy = false;
  send.disabled = false;
  stop.hidden = true;
  sending.hidden = true;
  offer(false);
  say(message);
}

/** The same files once more; who chooses others sends anew. */
function offer(retry) {
  again.hidden = !retry;
  send.hidden = retry;
  said.classList.toggle("broken", retry);
}

/** Under the same key, so that what came through after all is not taken in a second time. */
function broken() {
  free(words.send_again);
  offer(true);
  again.focus();
}

function post() {
  request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  request.upload.addEventListener("progress", progressed);
  request.upload.addEventListener("load", sent);
  request.addEventListener("load", answered);
  request.addEventListener("error", broken);
  request.addEventListener("abort", () => { free(words.send_stopped); refresh(); });
  bar.value = 0;
  amount.textContent = "";
  sending.hidden = false;
  stop.hidden = false;
  offer(false);
  say(words.send_begun);
  request.send(new FormData(form));
}

/** From here on the server has it: no stopping takes it back. */
function sent() {
  bar.removeAttribute("value");
  amount.textContent = "";
  stop.hidden = true;
  say(words.send_checking);
}

function progressed(event) {
  if (!event.lengthComputable) return;
  bar.value = event.loaded / event.total;
  amount.textContent = phrase(words.sending, { sent: megabytes(event.loaded), all: megabytes(event.total) });
}

function answered() {
  const page = request.response;
  const path = new URL(request.responseURL).pathname;
  if (path.startsWith("/sign-in")) { // the session has ended meanwhile
    window.location.assign(`/sign-in?unsent=1&to=${encodeURIComponent(window.location.pathname)}`);
    return;
  }
  const receipt = page?.getElementById("receipt");
  if (request.status === 200 && receipt) { taken(receipt, path); return; }
  free();
  const refused = page?.getElementById("refused");
  if (!refused) { say(page?.querySelector("main p")?.textContent ?? words.send_again); return; }
  replace("refused", refused);
  for (const name of inputs.map((input) => input.name)) {
    const box = page.getElementById(`${name}-problems`);
    if (box?.childElementCount) {
      replace(`${name}-problems`, box);
      mark(document.getElementById(name), "wrong");
      document.getElementById(`${name}-checked`).textContent = "";
    }
  }
  if (page.getElementById("upload")) form.action = page.getElementById("upload").action;
  refresh();
  document.getElementById("refused").scrollIntoView({ block: "nearest" });
}

function replace(id, element) {
  document.getElementById(id).replaceChildren(...document.importNode(element, true).childNodes);
}

function taken(receipt, path) {
  free();
  const box = document.getElementById("taken");
  box.replaceChildren(noteOf(document.importNode(receipt, true), path));
  for (const input of inputs) {
    input.value = "";
    named(input);
    mark(input, "");
    document.getElementById(`${input.name}-checked`).textContent = "";
    document.getElementById(`${input.name}-problems`).replaceChildren();
  }
  form.elements.namedItem("comment").value = "";
  form.action = form.action.replace(/key=[^&]*/, `key=${freshKey()}`);
  box.focus({ preventScroll: true });
  box.scrollIntoView();
  refresh();
}

/** That it is in, and below it the line of the list that becomes its score; what proves it lies folded. */
function noteOf(receipt, path) {
  const [note, line, link, proof, title] = ["section", "p", "a", "details", "summary"].map((name) => document.createElement(name));
  Object.assign(note, { id: "taken-receipt", className: "note good" });
  Object.assign(link, { href: path, textContent: words.send_look });
  line.append(words.send_taken, " ", link);
  const heading = receipt.querySelector("h2");
  title.textContent = heading.textContent;
  heading.remove();
  const remarks = [...receipt.querySelectorAll(".note")];
  note.append(line, ...remarks, proof);
  proof.append(title, ...receipt.children);
  return note;
}

/** The next upload is another one: what was taken in under the old key stays what it is. */
function freshKey() {
  return [...crypto.getRandomValues(new Uint8Array(18))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
