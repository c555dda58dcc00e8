// Buttons that copy a secret shown once, or show a password while it is typed.

import { createButton } from "./elements.js";

function addCopyButton(secret) {
  const { copy, copied } = secret.dataset;
  const button = createButton(copy, null, { className: "link", ariaLive: "polite" });
  button.onclick = async () => {
    await navigator.clipboard.writeText(secret.textContent);
    button.textContent = copied;
  };
  secret.after(button);
}

function addShowButton(input) {
  const button = createButton(input.dataset.show, null, { className: "link", ariaPressed: "false" });
  button.setAttribute("aria-controls", input.id);
  button.onclick = () => {
    const isHidden = input.type === "password";
    input.type = isHidden ? "text" : "password";
    button.ariaPressed = String(isHidden);
  };
  input.form.addEventListener("submit", () => {
    input.type = "password";
  });
  input.after(button);
}

if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach(addCopyButton);
document.querySelectorAll("input[data-show]").forEach(addShowButton);
