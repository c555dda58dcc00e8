// A table that is wider than its page scrolls sideways in a box of its own, in which its head cannot stick to
// the page: while it is above the screen, a second picture of it stands over the table. Who reads with the
// keyboard or a screen reader has the head itself.

const shown = new WeakMap();

function pictured(sheet) {
  const table = sheet.querySelector("table.ranks");
  const copy = table.cloneNode(false);
  const head = table.tHead.cloneNode(true);
  const buttons = [...table.tHead.querySelectorAll("button")];
  [...head.querySelectorAll("button")].forEach((button, place) => {
    button.addEventListener("click", () => buttons[place].click());
  });
  head.querySelectorAll("a, button").forEach((one) => { one.tabIndex = -1; });
  copy.append(columns(table), head);
  copy.style.width = `${table.offsetWidth}px`;
  const place = document.createElement("div");
  place.className = "head_again";
  place.setAttribute("aria-hidden", "true");
  place.append(document.createElement("div"));
  place.firstChild.append(copy);
  return place;
}

// As wide as the cells below are: those of the first row that is not one heading alone.
function columns(table) {
  const group = document.createElement("colgroup");
  const row = [...table.tBodies[0].rows].find((one) => one.offsetWidth > 0);
  for (const cell of row?.cells ?? []) {
    const column = document.createElement("col");
    column.style.width = `${cell.getBoundingClientRect().width}px`;
    group.append(column);
  }
  return group;
}

function follow(sheet) {
  const place = shown.get(sheet);
  if (place) place.firstChild.scrollLeft = sheet.scrollLeft;
}

function remove(sheet) {
  shown.get(sheet)?.remove();
  shown.delete(sheet);
}

function draw(sheet) {
  remove(sheet);
  const table = sheet.querySelector("table.ranks");
  const scrolls = getComputedStyle(sheet).overflowX === "auto";
  const above = table && table.tHead.getBoundingClientRect().top < 0;
  if (!scrolls || !above || sheet.getBoundingClientRect().bottom < 0) return;
  const place = pictured(sheet);
  sheet.before(place);
  shown.set(sheet, place);
  follow(sheet);
}

function prepare() {
  document.querySelectorAll(".head_again").forEach((one) => one.remove());
  for (const sheet of document.querySelectorAll(".sheet")) {
    if (!sheet.querySelector("table.ranks")) continue;
    sheet.addEventListener("scroll", () => follow(sheet), { passive: true });
    new IntersectionObserver(() => draw(sheet), { threshold: [0, 1] }).observe(sheet.querySelector("thead"));
    new ResizeObserver(() => draw(sheet)).observe(sheet);
    sheet.addEventListener("click", () => draw(sheet));
  }
}

prepare();
document.addEventListener("htmx:after:swap", prepare);
