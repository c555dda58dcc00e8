// Moments on the clock of a competition, on axes that D3 draws.

const language = document.documentElement.lang;

// D3 draws in UTC: moments are moved so that its days are those of the competition's zone.
export function offset(zone, at) {
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", second: "2-digit",
  }).formatToParts(at);
  const get = (type) => Number(parts.find((part) => part.type === type).value);
  return Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second")) - at;
}

function written(format) {
  const made = new Intl.DateTimeFormat(language, { timeZone: "UTC", ...format });
  return (at) => made.format(at);
}

const day = written({ month: "short", day: "numeric" });
const hour = written({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const second = written({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// Within an hour moments are told by their seconds.
export const brief = (span) => span < 3_600_000;

// As the server writes it.
export const whole = (at, span) => new Date(at).toISOString().slice(0, brief(span) ? 19 : 16).replace("T", " ");

// At most so many moments of an axis, each a whole second: d3 may give more than it is asked for.
export function ticks(x, number) {
  const found = x.ticks(number).filter((at) => !at.getUTCMilliseconds());
  const every = Math.ceil(found.length / number);
  return found.filter((_, place) => place % every === 0);
}

// A label of an axis: days at midnight, else hours, and seconds between minutes.
export function tick(at) {
  if (at.getUTCSeconds()) return second(at);
  return at.getUTCHours() === 0 && at.getUTCMinutes() === 0 ? day(at) : hour(at);
}
