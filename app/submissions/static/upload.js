// Forms that upload files. Chosen files are checked at once, which does not count as an attempt. Elements marked
// with data-answer are replaced by those of the server's answer.

import { createElement } from "./elements.js";
import { refreshSubmissions } from "./submissions.js";
import { fillTemplate } from "./text.js";

const { lang } = document.documentElement;
const megabytes = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function showAnswer(answer) {
  for (const part of answer.querySelectorAll("[data-answer]")) {
    const element = document.getElementById(part.id);
    element?.replaceChildren(...document.importNode(part, true).childNodes);
    element?.closest(".file")?.classList.toggle("wrong", part.childElementCount > 0);
  }
}

// The browser would show the file name in its own language, not in that of the page.
function showFileName(input) {
  input.closest(".drop").querySelector(".chosen").textContent = input.files[0]?.name ?? "";
}

class Upload {
  constructor(form) {
    this.form = form;
    this.words = JSON.parse(form.dataset.words);
    this.inputs = [...form.querySelectorAll('input[type="file"]')];
    this.refusal = form.querySelector('[role="alert"]') ?? document.getElementById("refused");
    [this.sendButton, this.retryButton, this.stopButton] = form.querySelectorAll(".actions button");
    [this.status, this.progress, this.bar, this.amount] = [".said", ".sending", "progress", ".amount"]
      .map((selector) => form.querySelector(selector));
    this.request = null;
    this.check = null; // a promise
    this.verdict = ""; // of the check: clean, warned, faulty, incomplete, or empty if there is none
    this.isBusy = false;
    this.inputs.forEach((input) => this.prepareInput(input));
    this.retryButton.onclick = () => this.send();
    this.stopButton.onclick = () => this.request?.abort();
    form.onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    form.classList.add("ready");
  }

  prepareInput(input) {
    const highlight = (isOver) => () => input.closest(".file").classList.toggle("over", isOver);
    input.ondragenter = highlight(true);
    input.ondragleave = input.ondrop = highlight(false);
    input.onchange = () => {
      showFileName(input);
      this.startCheck();
    };
    showFileName(input);
  }

  setStatus(text) {
    this.status.textContent = text;
    if (text) this.status.scrollIntoView({ block: "nearest" });
  }

  // Resolves with the finished request. Rejects with "broken" or "stopped". Fetch would not report the progress.
  post(address) {
    const request = new XMLHttpRequest();
    this.request?.abort();
    this.request = request;
    this.bar.value = 0;
    this.progress.hidden = false;
    request.open("POST", address);
    request.responseType = "document";
    request.setRequestHeader("Accept", "text/html");
    request.upload.onprogress = (event) => this.showProgress(event);
    request.upload.onload = () => this.showWaiting();
    return new Promise((resolve, reject) => {
      request.onload = () => resolve(request);
      request.onerror = () => reject(new Error("broken"));
      request.onabort = () => reject(new Error("stopped"));
      request.send(new FormData(this.form));
    }).finally(() => this.request === request && this.hideProgress());
  }

  showProgress({ lengthComputable, loaded, total }) {
    if (!lengthComputable) return;
    this.bar.value = loaded / total;
    const [sent, all] = [loaded, total].map((bytes) => megabytes.format(bytes / 2 ** 20));
    this.amount.textContent = fillTemplate(this.words.amount, { sent, all });
  }

  // The server has everything, so stopping would have no effect.
  showWaiting() {
    this.bar.removeAttribute("value");
    this.amount.textContent = "";
    this.stopButton.hidden = true;
  }

  hideProgress() {
    this.request = null;
    this.progress.hidden = true;
    this.amount.textContent = "";
  }

  startCheck() {
    if (this.isBusy) return;
    this.offerRetry(false);
    this.verdict = "";
    this.check = this.checkFiles();
  }

  async checkFiles() {
    this.clearAnswers();
    this.setStatus(this.words.reading);
    try {
      const { response, responseURL } = await this.post(this.form.dataset.check);
      if (this.redirectSignedOut(responseURL)) return;
      showAnswer(response);
      this.verdict = response.querySelector("[data-verdict]")?.dataset.verdict ?? "";
      this.setStatus("");
    } catch (error) {
      if (error.message !== "stopped") this.setStatus("");
    }
  }

  clearAnswers() {
    for (const part of this.form.querySelectorAll("[data-answer]")) {
      part.replaceChildren();
      part.closest(".file")?.classList.remove("wrong");
    }
  }

  // Sends the files unless the check finds faults, or a warning that the reader has not seen yet.
  async submit() {
    if (this.isBusy) return;
    this.isBusy = true;
    const seenVerdict = this.verdict;
    if (!seenVerdict) await (this.check ?? this.checkFiles());
    this.isBusy = false;
    if (this.verdict === "faulty") {
      this.setStatus(this.words.fix);
      this.refusal.focus();
    } else if (this.verdict === "warned" && seenVerdict !== "warned") {
      this.setStatus(this.words.warned);
      this.sendButton.focus();
    } else await this.send();
  }

  async send() {
    if (this.isBusy) return;
    this.setBusy(true);
    this.offerRetry(false);
    this.refusal.replaceChildren();
    document.getElementById("taken")?.replaceChildren();
    this.setStatus(this.words.sending);
    try {
      this.handleAnswer(await this.post(this.form.action));
    } catch (error) {
      this.setBusy(false);
      this.handleInterruption(error);
    }
  }

  setBusy(isBusy) {
    this.isBusy = isBusy;
    this.sendButton.disabled = isBusy;
    this.stopButton.hidden = !isBusy;
    this.setStatus("");
  }

  // A retry has the same key, so that the server does not accept files twice that had arrived after all.
  handleInterruption(error) {
    if (error.message === "broken") {
      this.refuse(this.words.broken);
      this.offerRetry(true);
      this.retryButton.focus();
    } else {
      this.setStatus(this.words.stopped);
      refreshSubmissions();
    }
  }

  offerRetry(isOffered) {
    this.retryButton.hidden = !isOffered;
    this.sendButton.hidden = isOffered;
  }

  redirectSignedOut(responseURL) {
    const isSignedOut = new URL(responseURL).pathname.startsWith("/sign-in");
    if (isSignedOut) location.assign(`/sign-in?unsent=1&to=${encodeURIComponent(location.pathname)}`);
    return isSignedOut;
  }

  handleAnswer({ status, response, responseURL }) {
    if (this.redirectSignedOut(responseURL)) return;
    const receipt = response?.getElementById("receipt");
    this.setBusy(false);
    if (status !== 200) this.showRefusal(response, status);
    else if (receipt && document.getElementById("taken")) this.showReceipt(receipt, responseURL);
    else location.assign(responseURL);
  }

  // The answer of a proxy has no reason that could be shown.
  showRefusal(page, status) {
    if (page?.querySelector('[role="alert"][data-answer] *')) {
      showAnswer(page);
      this.form.action = page.getElementById(this.form.id)?.action ?? this.form.action;
      this.refusal.focus();
    } else this.refuse(page?.querySelector("main p")?.textContent ?? `${this.words.failed} (${status})`);
    refreshSubmissions();
  }

  refuse(textContent) {
    this.refusal.replaceChildren(createElement("p", { className: "note bad", textContent }));
    this.refusal.focus();
  }

  showReceipt(receipt, address) {
    const container = document.getElementById("taken");
    container.replaceChildren(this.createNote(document.importNode(receipt, true), address));
    this.resetForm();
    container.focus({ preventScroll: true });
    container.scrollIntoView();
    refreshSubmissions();
  }

  // The next files get a new key, because the server accepts each key once.
  resetForm() {
    this.clearAnswers();
    this.verdict = "";
    this.check = null;
    this.form.reset();
    this.inputs.forEach(showFileName);
    const key = crypto.getRandomValues(new Uint32Array(5)).join("-");
    this.form.action = this.form.action.replace(/key=[^&]*/, `key=${key}`);
  }

  // The note says that the files were received. The receipt is folded below it.
  createNote(receipt, address) {
    const heading = receipt.querySelector("h2");
    heading.remove();
    const note = createElement("section", { id: "taken-receipt", className: "note good" });
    const line = createElement("p");
    const details = createElement("details");
    const { pathname } = new URL(address);
    line.append(this.words.taken, " ", createElement("a", { href: pathname, textContent: this.words.look }));
    note.append(line, ...receipt.querySelectorAll(".note"), details);
    details.append(createElement("summary", { textContent: heading.textContent }), ...receipt.children);
    return note;
  }
}

document.querySelectorAll("form[data-check]").forEach((form) => new Upload(form));
