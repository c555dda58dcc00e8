// A guess is checked when its file is chosen: a malformed one would cost an attempt.
import { checkedAs } from "./check.js";
import { droppable, show } from "./files.js";

/** The form for one question; a newer choice overtakes an older check. */
function watch(form) {
  const input = form.querySelector('input[type="file"]');
  const words = JSON.parse(form.closest("[data-words]").dataset.words);
  const said = form.querySelector(".said");
  let turn = 0;

  async function checked() {
    turn += 1;
    const mine = turn;
    const [file] = input.files;
    said.textContent = "";
    if (!file) { show(input, words, { found: [] }); return false; }
    document.getElementById(`${input.id}-checked`).textContent = words.check_reading;
    const checks = JSON.parse(form.dataset.checks);
    const [result, good] = await checkedAs(checks.kind, file, checks);
    return mine === turn && show(input, words, result, good);
  }

  droppable(input, checked);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await checked()) form.submit();
    else said.textContent = words.send_fix;
  });
}

document.querySelectorAll("form.guessing").forEach(watch);
