// The names of the points of the scatter plot: as many as find room beside their marks, or, if they are needed, afar.

const { d3 } = globalThis;
const RINGS = [24, 40, 60, 84, 112, 144];
const SIDES = [[-1, 1], [-1, 0], [1, -1], [1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]];
const HIDES = 4; // what it costs to stand on another's point, or next to it without a line to one's own; only names that are needed may
const ACROSS = 10; // to lead to a name across something: it is better than no name
const NEAR = 5; // pixels
const CLEAR = 4; // from the edge of its mark on a line may cross nothing
const TOP = 10; // ranks whose names are wished for from afar, too
const LARGER = 1.12; // names that are needed, as in charts.css

export const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
export const clamp = (value, [low, high]) => Math.max(low, Math.min(value, high));

// Names, the most important first: as many as find room without hiding one another or many points.
export function names(plot, taken, room) {
  const { data, home, picture } = plot;
  const seen = data.marks.filter((one) => one.inside || (one.arrow && (one.needed || one.found)));
  const worth = (one) => (one.found ? 0 : one.kind === "own" ? 1 : one.needed ? 2 : top(one) ? 3 : one.kind === "baseline" ? 4 : one.front ? 5 : 6);
  const top = (one) => one.rank !== null && one.rank <= TOP;
  const wished = seen.filter((one) => !home || seen.length < 20 || worth(one) < 6)
    .sort((a, b) => worth(a) - worth(b) || (a.rank ?? 1e9) - (b.rank ?? 1e9)).slice(0, 60);
  const blocked = [...taken, ...wished.filter((one) => worth(one) < 3).map((one) => around(one))];
  const most = ((room.right - room.left) * (room.bottom - room.top)) / (home ? 40_000 : 14_000);
  const found = [];
  for (const one of wished) {
    const label = found.length < most || worth(one) < 3 ? named(plot, one, seen, blocked) : null;
    if (!label) continue;
    found.push(label);
    blocked.push(label.box, ...label.along);
  }
  plot.names.selectAll("path").data(found.filter((one) => one.line)).join("path")
    .attr("class", (one) => `leader ${one.kind}`).attr("d", (one) => one.line);
  plot.names.selectAll("text").data(found).join("text")
    .attr("class", (one) => `label middle ${one.kind}`)
    .attr("x", (one) => (one.box.left + one.box.right) / 2)
    .attr("y", (one) => (one.box.top + one.box.bottom) / 2).attr("dy", ".34em").text((one) => one.text);
  picture.classed("sought", Boolean(plot.kept.wanted));
}

export const around = (one) => ({ left: one.cx - one.size, right: one.cx + one.size, top: one.cy - one.size, bottom: one.cy + one.size });

const same = (a, b) => a.left === b.left && a.right === b.right && a.top === b.top && a.bottom === b.bottom;
const grown = ({ left, right, top, bottom }, by) => ({ left: left - by, right: right + by, top: top - by, bottom: bottom + by });

function fitted(text, most, width) {
  if (width(text) <= most) return text;
  const letters = [...text];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (width(`${letters.slice(0, middle).join("")}…`) <= most) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("").trimEnd()}…`;
}

function named(plot, one, seen, blocked) {
  const { room, letter, width } = plot;
  const needed = one.needed || one.found;
  const sized = (words) => width(words) * (needed ? LARGER : 1) + 2;
  const text = fitted(one.label, Math.min(280, 0.42 * (room.right - room.left)) - sized(one.more), sized) + one.more;
  const own = around(one);
  const crossed = blocked.filter((box) => !same(box, own));
  let [least, chosen] = [Infinity, null];
  for (const { cost, box, far } of places(one, sized(text), 1.25 * letter * (needed ? LARGER : 1), needed)) {
    if (least <= cost) break;
    if (box.left < room.left + 2 || box.right > room.right + 0.8 * letter || box.top < room.top - 2 || box.bottom > room.bottom - 2) continue;
    if (blocked.some((other) => meets(box, other))) continue;
    const reach = far ? box : grown(box, NEAR);
    const hidden = seen.filter((each) => each !== one && meets(reach, around(each))).length;
    let whole = cost + hidden * HIDES;
    if (far && whole < least) {
      if (crossed.some((other) => crosses(one, box, other))) whole += ACROSS;
      whole += seen.filter((each) => each !== one && crosses(one, box, around(each))).length;
    }
    if ((needed || !hidden) && whole < least) {
      least = whole;
      chosen = { box, text, ...(far ? leader(one, box) : { line: "", along: [] }), kind: `${one.kind}${needed ? " needed" : ""}` };
    }
  }
  return chosen;
}

// What each place for a name costs: beside the point least, then, if it is needed, afar.
function* places(one, wide, tall, needed) {
  for (const [at, [across, down]] of SIDES.entries()) {
    const away = one.size + (across && down ? 0 : 4);
    const left = [one.cx - away - wide, one.cx - wide / 2, one.cx + away][across + 1];
    const top = [one.cy - away - tall, one.cy - tall / 2, one.cy + away][down + 1];
    yield { cost: at / 100, box: { left, right: left + wide, top, bottom: top + tall }, far: false };
  }
  for (const far of needed ? RINGS : []) {
    for (let turn = 0; turn < 16; turn += 1) {
      const [across, down] = [Math.cos((turn * Math.PI) / 8), Math.sin((turn * Math.PI) / 8)];
      const [x, y] = [one.cx + (far + one.size) * across, one.cy + (far + one.size) * down];
      const [top, bottom] = [y - tall / 2, y + tall / 2];
      for (const side of Math.abs(across) < 0.5 ? [0, -1, 1] : [Math.sign(across)]) {
        const left = [x - wide, x - wide / 2, x][side + 1];
        yield { cost: 1 + far / 25, box: { left, right: left + wide, top, bottom }, far: true };
      }
    }
  }
}

const nearest = (one, box) => [clamp(one.cx, [box.left, box.right]), clamp(one.cy, [box.top, box.bottom])];

// Whether the line from a mark to its name runs through another box (Liang and Barsky).
function crosses(one, box, other) {
  const [x, y] = nearest(one, box);
  const [right, down] = [x - one.cx, y - one.cy];
  let [first, last] = [Math.min((one.size + CLEAR) / (Math.hypot(right, down) || 1), 1), 1];
  for (const [start, along, low, high] of [[one.cx, right, other.left, other.right], [one.cy, down, other.top, other.bottom]]) {
    if (along) {
      const ends = [(low - start) / along, (high - start) / along];
      [first, last] = [Math.max(first, Math.min(...ends)), Math.min(last, Math.max(...ends))];
    } else if (start <= low || start >= high) return false;
  }
  return first < last;
}

// From the edge of a mark to the nearest place of its name, and what the line takes up.
function leader(one, box) {
  const [x, y] = nearest(one, box);
  const [right, down] = [x - one.cx, y - one.cy];
  const long = Math.hypot(right, down) || 1;
  const begin = Math.min((one.size + 1) / long, 1);
  const at = (part) => [one.cx + part * right, one.cy + part * down];
  const along = d3.range(1, 8).map((part) => part / 8).filter((part) => part * long >= one.size + CLEAR).map(at)
    .map(([left, top]) => ({ left: left - 1, right: left + 1, top: top - 1, bottom: top + 1 }));
  return { line: `M${at(begin).join(" ")}L${x} ${y}`, along };
}
