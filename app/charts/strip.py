"""A team's value among those of all teams: a strip for a table cell, and a chart of the distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import (
    PICTURE_WIDTH,
    PlotArea,
    build_horizontal_axis,
    build_picture,
    draw_centred_text,
    draw_empty,
    draw_grid,
    fit_sides,
    label_mark,
)
from app.charts.numbers import clamp_finite
from app.charts.svg import MAX_FONT_SIZE, draw_path, isolate_text, tag
from app.charts.text import ChartWords

_HEIGHT = 210.0
GOLDEN_FRACTION = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, spread any number of points evenly."""
_IDENTIFIER = "distribution"


@dataclass(frozen=True, slots=True)
class StripWords(ChartWords):
    """Texts of a strip.

    ``summary`` is the description, with {least}, {median}, {largest} and {count}. If the reader's own value
    is known, ``summary_own`` follows, with {own}. ``empty`` replaces both if there are no values.
    """

    empty: str = N_("No other values yet")
    summary: str = N_("{count} teams: from {least} to {largest}, median {median}.")
    summary_own: str = N_("This one: {own}.")


def _describe_values(values: Sequence[float], own: float | None, words: StripWords) -> str:
    if not values:
        return words.empty
    description = words.fill(
        words.summary, least=values[0], median=median(values), largest=values[-1], count=len(values)
    )
    return description if own is None else f"{description} {words.fill(words.summary_own, own=own)}"


@dataclass(frozen=True, slots=True)
class TeamValue:
    """A team's value of one measure."""

    name: str
    value: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class DistributionWords(ChartWords):
    """Texts of a distribution.

    ``x_title`` is the measure with its unit and direction. ``summary`` and ``summary_own`` are used as for a
    strip. ``point_label`` is the label of a mark, with {name} and {value}. ``middle_half`` is the legend of the
    box from the first to the third quartile.
    """

    title: str = N_("Among all teams")
    x_title: str = N_("Value")
    team: str = N_("Team")
    own: str = N_("Your team")
    other_teams: str = N_("Other teams")
    median: str = N_("Median")
    middle_half: str = N_("Middle half of the teams")
    empty: str = N_("There is nothing to show yet.")
    summary: str = N_("Teams: {count}. Least {least}, median {median}, largest {largest}.")
    summary_own: str = N_("Your team: {own}.")
    point_label: str = N_("{name}: {value}")


def build_distribution(team_values: Sequence[TeamValue], words: DistributionWords) -> Figure:
    """Build the chart of all teams' values of one measure. Heights have no meaning; they avoid overlaps."""
    ordered = sorted(
        (team_value for team_value in team_values if clamp_finite(team_value.value) is not None),
        key=lambda team_value: team_value.value,
    )
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_distribution(ordered, words),
        _draw_distribution(ordered, words),
        head=(words.team, words.x_title),
        rows=tuple((team_value.name, team_value.value) for team_value in ordered),
        legend=_build_legend(ordered, words),
    )


def _describe_distribution(team_values: Sequence[TeamValue], words: DistributionWords) -> str:
    own = next((team_value.value for team_value in team_values if team_value.own), None)
    strip_words = StripWords(
        empty=words.empty, summary=words.summary, summary_own=words.summary_own, localize=words.localize
    )
    return _describe_values([team_value.value for team_value in team_values], own, strip_words)


def _draw_distribution(team_values: Sequence[TeamValue], words: DistributionWords) -> Markup:
    x = build_horizontal_axis(
        [team_value.value for team_value in team_values],
        max_width=PICTURE_WIDTH - 40,
        localize=words.localize,
    )
    left, right = fit_sides(x)
    plot_area = PlotArea(left, 2.2 * MAX_FONT_SIZE, right, _HEIGHT - 3 * MAX_FONT_SIZE, x, Axis(0, 1, (), ()))
    if not team_values:
        return draw_empty(
            _IDENTIFIER, plot_area, _HEIGHT, words.empty, x_title=words.x_title, with_left_axis=False
        )
    positioned = [
        (team_value, _compute_spread_y(index, plot_area)) for index, team_value in enumerate(team_values)
    ]
    other_points = [
        _draw_point(team_value, y, plot_area, words, is_focusable=False)
        for team_value, y in positioned
        if not team_value.own
    ]
    own_points = [
        _draw_point(team_value, (plot_area.top + plot_area.bottom) / 2, plot_area, words, is_focusable=True)
        for team_value in team_values
        if team_value.own
    ]
    if other_points and not own_points:
        other_points[0] = _draw_point(*positioned[0], plot_area, words, is_focusable=True)
    return build_picture(
        _IDENTIFIER,
        _HEIGHT,
        draw_grid(plot_area, x_title=words.x_title, with_left_axis=False),
        _draw_quartiles([team_value.value for team_value in team_values], plot_area, words),
        tag("g", *other_points, class_="series points others"),
        tag("g", *own_points, class_="series points own"),
        is_interactive=True,
        kind="level",
    )


def _compute_spread_y(index: int, plot_area: PlotArea) -> float:
    return plot_area.top + 10 + (index * GOLDEN_FRACTION % 1) * (plot_area.bottom - plot_area.top - 20)


def _draw_quartiles(values: Sequence[float], plot_area: PlotArea, words: DistributionWords) -> Markup:
    """Draw the interquartile range, and the median with its label."""
    first, third = values[0], values[-1]
    if len(values) > 1:
        first, _, third = quantiles(values, n=4, method="inclusive")
    left, right, middle = (plot_area.x_position(value) for value in (first, third, median(values)))
    box = tag(
        "rect", x=left, y=plot_area.top, width=max(right - left, 1), height=plot_area.bottom - plot_area.top
    )
    line = draw_path("M", middle, plot_area.top - 5, "V", plot_area.bottom, class_="line")
    label = f"{words.median} {words.format_number(median(values))}"
    name = draw_centred_text(label, middle, plot_area.top - 10, "label middle")
    return tag("g", box, line, name, class_="rule quarters", aria_hidden="true")


def _draw_point(
    team_value: TeamValue, y: float, plot_area: PlotArea, words: DistributionWords, *, is_focusable: bool
) -> Markup:
    shape = (marks.diamond if team_value.own else marks.dot)(plot_area.x_position(team_value.value), y)
    return label_mark(
        shape,
        words.fill(words.point_label, name=isolate_text(team_value.name), value=team_value.value),
        is_focusable=is_focusable,
    )


def _build_legend(team_values: Sequence[TeamValue], words: DistributionWords) -> tuple[LegendEntry, ...]:
    box = tag("rect", x=-9, y=-7, width=18, height=14)
    entries = (
        (
            any(team_value.own for team_value in team_values),
            LegendEntry("own", words.own, marks.swatch("own", marks.diamond(0, 0))),
        ),
        (
            any(not team_value.own for team_value in team_values),
            LegendEntry("others", words.other_teams, marks.swatch("others", marks.dot(0, 0))),
        ),
        (bool(team_values), LegendEntry("quarters", words.middle_half, marks.swatch("quarters", box))),
    )
    return tuple(entry for present, entry in entries if present)
