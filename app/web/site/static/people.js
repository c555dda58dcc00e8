// What is shown once can be copied, and a password can be looked at while it is typed.

const quiet = (label) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = label;
  return button;
};

if (navigator.clipboard) {
  for (const shown of document.querySelectorAll("[data-copy]")) {
    const button = quiet(shown.dataset.copy);
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = shown.dataset.copied;
    });
    shown.after(button);
  }
}

for (const input of document.querySelectorAll("input[data-show]")) {
  const button = quiet(input.dataset.show);
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-controls", input.id);
  button.addEventListener("click", () => {
    const hidden = input.type === "password";
    input.type = hidden ? "text" : "password";
    button.setAttribute("aria-pressed", String(hidden));
  });
  input.form.addEventListener("submit", () => { input.type = "password"; });
  input.after(button);
}
