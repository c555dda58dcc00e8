// Creation of elements.

export const createElement = (name, properties) => Object.assign(document.createElement(name), properties);

export function createButton(textContent, onclick, properties) {
  return createElement("button", { type: "button", textContent, onclick, ...properties });
}

// Sets several attributes of a D3 selection.
export function setAttributes(selection, attributes) {
  for (const [name, value] of Object.entries(attributes)) selection.attr(name, value);
}
