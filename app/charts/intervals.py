"""What attackers find, each in the cell of a table: a rate, how sure it is, and what guessing at random finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, axis, finite, known
from app.charts.svg import short, tag
from app.charts.text import ChartWords

WIDE, TALL = 180.0, 28.0
EDGE, CAP = 8.0, 5.0
MIDDLE = TALL / 2


@dataclass(frozen=True, slots=True)
class Rate:
    """An attacker's rate with its interval, or its standard deviation where there is no interval."""

    rate: float
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    baseline: float | None = None

    def ends(self) -> tuple[float, float] | None:
        """Between which the rate is to be expected."""
        rate, sd = finite(self.rate), finite(self.sd)
        found = known((self.low, self.high))
        if len(found) == 2:
            return found[0], found[1]
        return None if rate is None or sd is None else (rate - sd, rate + sd)


@dataclass(frozen=True, slots=True)
class IntervalWords(ChartWords):
    """``sure``: a rate with its ends; ``random`` follows, where that is known."""

    sure: str = N_("{rate}, between {low} and {high}")
    random: str = N_("; at random {baseline}")


@dataclass(frozen=True, slots=True)
class Intervals:
    """``cells``: a picture for each rate, in the order given, from 0 to ``end``, a round number."""

    end: str
    cells: tuple[Markup, ...]


def intervals(rates: Sequence[Rate], words: IntervalWords) -> Intervals:
    """All on one axis, so that they are compared down the column."""
    values = [each for one in rates for each in (one.rate, one.baseline, *(one.ends() or ()))]
    room = axis([value for value in known(values) if value >= 0], zero=True, signs=words.signs)
    return Intervals(room.texts[-1], tuple(cell(one, room, words) for one in rates))


def cell(one: Rate, room: Axis, words: IntervalWords) -> Markup:
    box = f"0 0 {short(WIDE)} {short(TALL)}"
    line = tag("path", class_="span", d=f"M{short(EDGE)} {short(MIDDLE)}H{short(WIDE - EDGE)}")
    parts = line, whisker(one, room), chance(one, room), point(one, room)
    return tag("svg", *parts, class_="strip rated", viewBox=box, role="img", aria_label=said(one, words))


def across(value: float, room: Axis) -> float:
    return round(EDGE + room.share(value) * (WIDE - 2 * EDGE), 1)


def whisker(one: Rate, room: Axis) -> Markup:
    ends = one.ends()
    if ends is None:
        return Markup("")
    left, right = (across(end, room) for end in ends)
    caps = "".join(f"M{short(x)} {short(MIDDLE - CAP)}v{short(2 * CAP)}" for x in (left, right))
    return tag("path", class_="whisker", d=f"M{short(left)} {short(MIDDLE)}H{short(right)}{caps}")


def chance(one: Rate, room: Axis) -> Markup:
    value = finite(one.baseline)
    return Markup("") if value is None else marks.square(across(value, room), MIDDLE, 3.5, class_="median")


def point(one: Rate, room: Axis) -> Markup:
    value = finite(one.rate)
    return Markup("") if value is None else marks.dot(across(value, room), MIDDLE, class_="found")


def said(one: Rate, words: IntervalWords) -> str:
    low, high = one.ends() or (None, None)
    numbers = {"rate": one.rate, "low": low, "high": high, "baseline": one.baseline}
    shown = {name: words.number(value) for name, value in numbers.items()}
    sure = "{rate}" if low is None else words.sure
    chances = words.random if finite(one.baseline) is not None else ""
    return (sure + chances).format(**shown)
