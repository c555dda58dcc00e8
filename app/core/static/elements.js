// Creation of elements.

export const createElement = (name, properties) => Object.assign(document.createElement(name), properties);

export function createButton(textContent, onclick, properties) {
  return createElement("button", { type: "button", textContent, onclick, ...properties });
}
