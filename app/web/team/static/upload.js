// Forms that send files. The service reads chosen files at once, which counts as no attempt. What it answers to
// that, or to the form itself, replaces the elements of the same id that are marked with data-answer.
import { refresh } from "./fresh.js";

const megabytes = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function put(answer) {
  for (const part of answer.querySelectorAll("[data-answer]")) {
    const here = document.getElementById(part.id);
    if (!here) continue;
    here.replaceChildren(...document.importNode(part, true).childNodes);
    here.closest(".file")?.classList.toggle("wrong", part.childElementCount > 0);
  }
}

/** The name of the file in the page's own words: the browser speaks the reader's other language. */
function showName(input) {
  input.closest(".drop").querySelector(".chosen").textContent = input.files[0]?.name ?? "";
}

/** Makes the whole box of a field take a file. */
function acceptDrops(input) {
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

class Upload {
  constructor(form) {
    this.form = form;
    this.words = JSON.parse(form.dataset.words);
    this.inputs = [...form.querySelectorAll('input[type="file"]')];
    this.refused = form.querySelector('[role="alert"]') ?? document.getElementById("refused");
    [this.send, this.again, this.stop, this.sending, this.said, this.amount] = [
      "button:not([type])", "[data-again]", "[data-stop]", ".sending", ".said", ".amount",
    ].map((selector) => form.querySelector(selector));
    this.bar = this.sending.querySelector("progress");
    this.request = null;
    this.check = null; // of the chosen files: a promise of its verdict
    this.verdict = "";
    this.busy = false;
    form.classList.add("ready");
    for (const input of this.inputs) {
      acceptDrops(input);
      showName(input);
      input.addEventListener("change", () => { showName(input); this.chosen(); });
    }
    form.addEventListener("submit", (event) => { event.preventDefault(); this.begin(); });
    this.again.addEventListener("click", () => this.post());
    this.stop.addEventListener("click", () => this.request?.abort());
  }

  say(text) {
    this.said.textContent = text;
    if (text) this.said.scrollIntoView({ block: "nearest" });
  }

  /** POSTs the form and shows how much of it has gone. Rejects where no answer came, with whether it was stopped. */
  ask(address) {
    const request = new XMLHttpRequest();
    this.request?.abort();
    this.request = request;
    this.bar.value = 0;
    this.sending.hidden = false;
    request.open("POST", address);
    request.responseType = "document";
    request.setRequestHeader("Accept", "text/html");
    request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
      if (!lengthComputable) return;
      this.bar.value = loaded / total;
      const [sent, all] = [loaded, total].map((bytes) => megabytes.format(bytes / 2 ** 20));
      this.amount.textContent = this.words.amount.replace("{sent}", sent).replace("{all}", all);
    });
    request.upload.addEventListener("load", () => {
      this.bar.removeAttribute("value");
      this.amount.textContent = "";
      this.stop.hidden = true; // the service has it: no stopping takes it back
    });
    return new Promise((resolve, reject) => {
      const over = (settle) => () => {
        if (this.request === request) { this.request = null; this.sending.hidden = true; this.amount.textContent = ""; }
        settle();
      };
      request.addEventListener("load", over(() => resolve(request)));
      request.addEventListener("error", over(() => reject(new Error("broken"))));
      request.addEventListener("abort", over(() => reject(new Error("stopped"))));
      request.send(new FormData(this.form));
    });
  }

  chosen() {
    if (this.busy) return;
    this.offerAgain(false);
    this.verdict = "";
    this.check = this.checked();
  }

  /** What the service says of the chosen files: "clean", "warned", "faulty", "incomplete", or "" if it cannot say. */
  async checked() {
    this.say(this.words.reading);
    try {
      const answer = await this.ask(this.form.dataset.check);
      if (this.isSignedOut(answer)) return "";
      const verdict = answer.response?.querySelector("[data-verdict]")?.dataset.verdict ?? "";
      put(answer.response);
      this.verdict = verdict;
      this.say("");
    } catch (problem) {
      if (problem.message === "broken") this.say("");
    }
    return this.verdict;
  }

  /** Sends files in which no fault was found. What a check has warned of is read before it is sent. */
  async begin() {
    if (this.busy) return;
    this.busy = true;
    const seen = this.verdict;
    if (!seen) await (this.check ?? this.checked());
    this.busy = false;
    if (this.verdict === "faulty") {
      this.say(this.words.fix);
      this.refused.focus();
    } else if (this.verdict === "warned" && seen !== "warned") {
      this.say(this.words.warned);
      this.send.focus();
    } else await this.post();
  }

  async post() {
    if (this.busy) return;
    this.busy = true;
    this.send.disabled = true;
    this.stop.hidden = false;
    this.offerAgain(false);
    this.refused.replaceChildren();
    document.getElementById("taken")?.replaceChildren();
    this.say(this.words.sending);
    try {
      this.answered(await this.ask(this.form.action));
    } catch (problem) {
      this.free();
      if (problem.message === "broken") {
        this.refuse(this.words.broken);
        this.offerAgain(true); // under the same key, so that what came through after all is not taken in twice
        this.again.focus();
      } else {
        this.say(this.words.stopped);
        if (document.getElementById("own")) refresh();
      }
    }
  }

  free() {
    this.busy = false;
    this.send.disabled = false;
    this.stop.hidden = true;
    this.say("");
  }

  /** The same files once more; who chooses others sends anew. */
  offerAgain(offered) {
    this.again.hidden = !offered;
    this.send.hidden = offered;
  }

  isSignedOut({ responseURL }) {
    if (!new URL(responseURL).pathname.startsWith("/sign-in")) return false;
    window.location.assign(`/sign-in?unsent=1&to=${encodeURIComponent(window.location.pathname)}`);
    return true;
  }

  answered(answer) {
    if (this.isSignedOut(answer)) return;
    const page = answer.response;
    const receipt = page?.getElementById("receipt");
    this.free();
    if (answer.status === 200 && receipt && document.getElementById("taken")) this.taken(receipt, answer.responseURL);
    else if (answer.status === 200) window.location.assign(answer.responseURL);
    else this.refusedBy(page, answer.status);
  }

  /** Shows why nothing was taken in, beside the button. */
  refusedBy(page, status) {
    const ours = page?.querySelector('[role="alert"][data-answer] *');
    if (ours) {
      put(page);
      this.form.action = page.getElementById(this.form.id)?.action ?? this.form.action;
      this.refused.focus();
    } else this.refuse(page?.querySelector("main p")?.textContent ?? `${this.words.failed} (${status})`);
    if (document.getElementById("own")) refresh();
  }

  refuse(text) {
    const note = document.createElement("p");
    note.className = "note bad";
    note.textContent = text;
    this.refused.replaceChildren(note);
    this.refused.focus();
  }

  taken(receipt, address) {
    const box = document.getElementById("taken");
    box.replaceChildren(this.note(document.importNode(receipt, true), address));
    for (const part of this.form.querySelectorAll("[data-answer]")) part.replaceChildren();
    this.verdict = "";
    this.check = null;
    this.form.reset();
    this.inputs.forEach(showName);
    this.form.action = this.form.action.replace(/key=[^&]*/, `key=${crypto.getRandomValues(new Uint32Array(5)).join("-")}`);
    box.focus({ preventScroll: true });
    box.scrollIntoView();
    refresh();
  }

  /** That it is in, and below it the line of the list that becomes its score; the receipt lies folded. */
  note(receipt, address) {
    const [note, line, link, proof, title] = ["section", "p", "a", "details", "summary"].map((name) => document.createElement(name));
    Object.assign(note, { id: "taken-receipt", className: "note good" });
    Object.assign(link, { href: new URL(address).pathname, textContent: this.words.look });
    line.append(this.words.taken, " ", link);
    const heading = receipt.querySelector("h2");
    title.textContent = heading.textContent;
    heading.remove();
    const remarks = [...receipt.querySelectorAll(".note")];
    note.append(line, ...remarks, proof);
    proof.append(title, ...receipt.children);
    return note;
  }
}

document.querySelectorAll("form[data-check]").forEach((form) => new Upload(form));
