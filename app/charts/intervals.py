"""What attackers find: a rate each, how sure it is, and what guessing at random finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.charts import marks
from app.charts.axes import Axis, finite, known
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import WIDTH, Plot, grid, level_axis, mark, picture, sides, vacant
from app.charts.svg import LETTER, fitted, lone, short, tag, width_of
from app.charts.words import ChartWords
from app.messages import N_

ROW = 40.0
CAP = 5.0


@dataclass(frozen=True, slots=True)
class Rate:
    """An attacker's rate with its interval, or its standard deviation where there is no interval; ``risk``:
    by which attackers are compared, where that is not the rate."""

    name: str
    rate: float
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    baseline: float | None = None
    risk: float | None = None

    @property
    def compared(self) -> float:
        return self.rate if self.risk is None else self.risk

    def ends(self) -> tuple[float, float] | None:
        """Between which the rate is to be expected."""
        rate, sd = finite(self.rate), finite(self.sd)
        found = known((self.low, self.high))
        if len(found) == 2:
            return found[0], found[1]
        return None if rate is None or sd is None else (rate - sd, rate + sd)


@dataclass(frozen=True, slots=True)
class IntervalWords(ChartWords):
    """``said``: the description, with {count}, {name} and {rate} (of the attacker that finds most);
    ``point``: {name}, {rate}, {low}, {high}, {baseline}.
    """

    title: str = N_("What each attacker finds")
    x: str = N_("Share of individuals found (lower is better)")
    attacker: str = N_("Attacker")
    rate: str = N_("Rate")
    low: str = N_("From")
    high: str = N_("To")
    interval: str = N_("95% interval, or ± one standard deviation")
    baseline: str = N_("Guessing at random")
    none: str = N_("There is nothing to show yet.")
    said: str = N_("Attackers: {count}. “{name}” finds most: {rate}.")
    point: str = N_("{name}: {rate}, between {low} and {high}; at random {baseline}")


def intervals(rates: Sequence[Rate], words: IntervalWords, *, identifier: str = "intervals") -> Figure:
    """A row for each attacker, in the order given."""
    shown = [one for one in rates if finite(one.rate) is not None]
    return Figure(
        identifier,
        words.title,
        description(shown, words),
        drawn(shown, words, identifier),
        head=(words.attacker, words.rate, words.low, words.high, words.baseline),
        rows=tuple((one.name, one.rate, *(one.ends() or (None, None)), one.baseline) for one in shown),
        legend=legend(shown, words),
    )


def description(rates: Sequence[Rate], words: IntervalWords) -> str:
    if not rates:
        return words.none
    most = max(rates, key=lambda one: one.compared)
    return words.said.format(
        count=words.number(len(rates)), name=lone(most.name), rate=words.number(most.rate)
    )


def drawn(rates: Sequence[Rate], words: IntervalWords, identifier: str) -> Markup:
    values = [each for one in rates for each in (one.rate, one.baseline, *(one.ends() or ()))]
    x = level_axis(
        [each for each in known(values) if each >= 0], room=WIDTH - 40, zero=True, signs=words.signs
    )
    top, below = 0.6 * LETTER, 3 * LETTER
    height = top + ROW * max(len(rates), 3) + below
    left, right = sides(x)
    room = Plot(left, top, right, height - below, x, Axis(0, 1, (), ()))
    if not rates:
        return vacant(identifier, room, height, words.none, x_title=words.x, upright=False)
    rows = [(one, top + place * ROW) for place, one in enumerate(rates)]
    return picture(
        identifier,
        height,
        grid(room, x_title=words.x, upright=False),
        *(heading(one, room, y, words) for one, y in rows),
        tag(
            "g",
            *(whisker(one, room, y) for one, y in rows),
            class_="series points interval",
            aria_hidden="true",
        ),
        tag(
            "g",
            *(baseline(one, room, y) for one, y in rows),
            class_="series points baseline",
            aria_hidden="true",
        ),
        tag(
            "g", *(point(one, room, y, words, first=y == top) for one, y in rows), class_="series points rate"
        ),
        live=True,
    )


def heading(one: Rate, room: Plot, y: float, words: IntervalWords) -> Markup:
    """The attacker's name over its row, and the rate at the row's end."""
    rate = words.number(one.rate)
    name = fitted(one.name, room.right - room.left - width_of(rate) - LETTER)
    base = y + 0.95 * LETTER
    names = tag("text", name, x=room.left, y=base, class_="label")
    return tag("g", names, tag("text", rate, x=room.right, y=base, class_="label end"), aria_hidden="true")


def line_of(y: float) -> float:
    return y + 1.75 * LETTER


def whisker(one: Rate, room: Plot, y: float) -> Markup:
    ends = one.ends()
    if ends is None:
        return Markup("")
    left, right, line = room.across(ends[0]), room.across(ends[1]), line_of(y)
    caps = "".join(f"M{short(x)} {short(line - CAP)}v{short(2 * CAP)}" for x in (left, right))
    return tag("path", class_="line", d=f"M{short(left)} {short(line)}H{short(right)}{caps}")


def baseline(one: Rate, room: Plot, y: float) -> Markup:
    value = finite(one.baseline)
    return Markup("") if value is None else marks.square(room.across(value), line_of(y), 3.5)


def point(one: Rate, room: Plot, y: float, words: IntervalWords, *, first: bool) -> Markup:
    low, high = one.ends() or (None, None)
    said = words.point.format(
        name=lone(one.name),
        rate=words.number(one.rate),
        low=words.number(low),
        high=words.number(high),
        baseline=words.number(one.baseline),
    )
    return mark(marks.dot(room.across(one.rate), line_of(y)), said, first=first)


def legend(rates: Sequence[Rate], words: IntervalWords) -> tuple[LegendEntry, ...]:
    whiskers = tag("path", class_="line", d="M-9 0H9M-9 -5v10M9 -5v10")
    entries = (
        (True, LegendEntry("rate", words.rate, marks.swatch("rate", marks.dot(0, 0)))),
        (
            any(one.ends() for one in rates),
            LegendEntry("interval", words.interval, marks.swatch("interval", whiskers)),
        ),
        (
            any(finite(one.baseline) is not None for one in rates),
            LegendEntry("baseline", words.baseline, marks.swatch("baseline", marks.square(0, 0, 3.5))),
        ),
    )
    return tuple(entry for present, entry in entries if present and rates)
