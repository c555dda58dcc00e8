// Time axes in the time zone of the competition.

const HOUR_MS = 3_600_000;
const { lang } = document.documentElement;
const createFormat = (options) => new Intl.DateTimeFormat(lang, { timeZone: "UTC", ...options });
const dayFormat = createFormat({ month: "short", day: "numeric" });
const minuteFormat = createFormat({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const secondFormat = createFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// The difference between the zone and UTC, in which the axes are drawn.
export function computeOffset(zone, at) {
  const localTime = new Date(at).toLocaleString("sv-SE", { timeZone: zone }); // like 2026-11-25 16:34:14
  return Date.parse(`${localTime.replace(" ", "T")}Z`) - at;
}

// The latest entry at a moment.
export function findLatest(entries, at) {
  return entries[d3.bisector((entry) => entry.at).right(entries, at) - 1];
}

// Times of short periods are written with seconds.
export const isShort = (periodMs) => periodMs < HOUR_MS;

// Formats a time like the server.
export function formatTime(at, periodMs) {
  return new Date(at).toISOString().slice(0, isShort(periodMs) ? 19 : 16).replace("T", " ");
}

// At most this number of ticks, at whole seconds. D3 may return more than it is asked for.
export function chooseTicks(scale, count) {
  const ticks = scale.ticks(count).filter((at) => !at.getUTCMilliseconds());
  const interval = Math.ceil(ticks.length / count);
  return ticks.filter((_, index) => index % interval === 0);
}

function formatTick(at) {
  if (at.getUTCSeconds()) return secondFormat.format(at);
  const isMidnight = at.getUTCHours() === 0 && at.getUTCMinutes() === 0;
  return (isMidnight ? dayFormat : minuteFormat).format(at);
}

export function drawTimeAxis(svg, scale, y, tickCount) {
  const axis = d3.axisBottom(scale).tickValues(chooseTicks(scale, tickCount)).tickSizeOuter(0).tickFormat(formatTick);
  svg.append("g").attr("transform", `translate(0,${y})`).call(axis);
}
