"""Attack rates in table cells: the rate, its interval, and the rate of random guessing.

Values below 0, which only limits of intervals can have, are drawn at 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, build_axis
from app.charts.numbers import clamp_finite, keep_finite
from app.charts.svg import build_outline, draw_path, format_coordinate, tag
from app.charts.text import ChartWords

_CELL_WIDTH, _CELL_HEIGHT = 180.0, 28.0
_CELL_MARGIN, _HALF_CAP_HEIGHT = 8.0, 5.0
_CELL_MIDDLE = _CELL_HEIGHT / 2


@dataclass(frozen=True, slots=True)
class AttackRate:
    """An attacker's rate with its interval or, if there is none, its standard deviation."""

    rate: float
    low: float | None = None
    high: float | None = None
    standard_deviation: float | None = None
    baseline: float | None = None

    def compute_interval(self) -> tuple[float, float] | None:
        """Return the interval, or the rate ± its standard deviation; None if neither is known."""
        rate, deviation = clamp_finite(self.rate), clamp_finite(self.standard_deviation)
        limits = keep_finite((self.low, self.high))
        if len(limits) == 2:
            return limits[0], limits[1]
        return None if rate is None or deviation is None else (rate - deviation, rate + deviation)


@dataclass(frozen=True, slots=True)
class IntervalWords(ChartWords):
    """Texts of a cell: ``with_interval``, followed by ``with_baseline`` if the baseline is known."""

    with_interval: str = N_("{rate}, between {low} and {high}")
    with_baseline: str = N_("; at random {baseline}")


@dataclass(frozen=True, slots=True)
class IntervalCells:
    """A picture for each rate, in the given order. Its axis runs from 0 to the round number ``axis_end``."""

    axis_end: str
    cells: tuple[Markup, ...]


def build_intervals(rates: Sequence[AttackRate], words: IntervalWords) -> IntervalCells:
    """Draw all rates on the same axis, so that the cells of a column can be compared."""
    values = [
        value for rate in rates for value in (rate.rate, rate.baseline, *(rate.compute_interval() or ()))
    ]
    value_axis = build_axis(
        [value for value in keep_finite(values) if value >= 0], from_zero=True, localize=words.localize
    )
    return IntervalCells(value_axis.labels[-1], tuple(_draw_cell(rate, value_axis, words) for rate in rates))


def _draw_cell(rate: AttackRate, value_axis: Axis, words: IntervalWords) -> Markup:
    box = f"0 0 {format_coordinate(_CELL_WIDTH)} {format_coordinate(_CELL_HEIGHT)}"
    line = draw_path("M", _CELL_MARGIN, _CELL_MIDDLE, "H", _CELL_WIDTH - _CELL_MARGIN, class_="span")
    parts = (
        line,
        _draw_whisker(rate, value_axis),
        _draw_baseline(rate, value_axis),
        _draw_rate(rate, value_axis),
    )
    return tag(
        "svg", *parts, class_="strip rated", viewBox=box, role="img", aria_label=_describe_rate(rate, words)
    )


def _compute_x_position(value: float, value_axis: Axis) -> float:
    return round(_CELL_MARGIN + value_axis.fraction(value) * (_CELL_WIDTH - 2 * _CELL_MARGIN), 1)


def _draw_whisker(rate: AttackRate, value_axis: Axis) -> Markup:
    interval = rate.compute_interval()
    if interval is None:
        return Markup("")
    left, right = (_compute_x_position(limit, value_axis) for limit in interval)
    caps = "".join(
        build_outline("M", x, _CELL_MIDDLE - _HALF_CAP_HEIGHT, "v", 2 * _HALF_CAP_HEIGHT)
        for x in (left, right)
    )
    return draw_path("M", left, _CELL_MIDDLE, "H", right, caps, class_="whisker")


def _draw_baseline(rate: AttackRate, value_axis: Axis) -> Markup:
    value = clamp_finite(rate.baseline)
    if value is None:
        return Markup("")
    return marks.square(_compute_x_position(value, value_axis), _CELL_MIDDLE, 3.5, class_="baseline")


def _draw_rate(rate: AttackRate, value_axis: Axis) -> Markup:
    value = clamp_finite(rate.rate)
    if value is None:
        return Markup("")
    return marks.dot(_compute_x_position(value, value_axis), _CELL_MIDDLE, class_="rate")


def _describe_rate(rate: AttackRate, words: IntervalWords) -> str:
    low, high = rate.compute_interval() or (None, None)
    rate_template = "{rate}" if low is None else words.with_interval
    baseline_template = words.with_baseline if clamp_finite(rate.baseline) is not None else ""
    template = rate_template + baseline_template
    return words.fill(template, rate=rate.rate, low=low, high=high, baseline=rate.baseline)
