"""The chart of all teams' scores over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from anoncup.schemas import History
from app.core.locale.language import Translator
from app.core.pages.notation import format_clock_time, localize_number
from app.core.pages.vega import (
    AT_ENDS_OF_LINES,
    DATA,
    DESCRIBED,
    INK,
    OWN,
    Chart,
    Spec,
    choose,
    encode_number,
    encode_time,
    find_ends,
    format_wall_clock,
    isolate,
    place_labels,
)

_MAX_TEAMS = 60
"""More lines cannot be told apart; the JSON and CSV files have all teams."""
_MAX_LABELS = 10


@dataclass(frozen=True, slots=True)
class ScoreSeries:
    """The values of a team, oldest first, and the times since when it has them; None if nothing counts."""

    team: str
    own: bool
    steps: Sequence[tuple[datetime, float | None]]

    @property
    def value(self) -> float | None:
        return self.steps[-1][1]


def _list_series(history: History, *, by_formula: bool, descending: bool) -> list[ScoreSeries]:
    """Return the scores of each team, the reader's first, then the best first."""
    all_series = [
        ScoreSeries(
            team.team,
            team.own,
            [(step.at, step.score if by_formula else step.overall) for step in team.steps],
        )
        for team in history.teams
        if team.steps and not team.baseline
    ]
    sign = -1 if descending else 1
    return sorted(
        all_series,
        key=lambda series: (not series.own, series.value is None, sign * (series.value or 0), series.team),
    )


def draw_history(
    history: History,
    t: Translator,
    *,
    zone: str,
    begin: datetime | None = None,
    by_formula: bool = False,
    descending: bool = False,
) -> Chart | None:
    """Draw a line for each team, if there are any, with the better scores at the top.

    The scores are the values of the formula, or else ``overall``.
    """
    all_series = _list_series(history, by_formula=by_formula, descending=descending)
    moments = [at for series in all_series for at, _ in series.steps]
    if not moments:
        return None
    start, last = min([*moments, *([begin] if begin else [])]), max(moments)
    ends = start, last + (last - start) / 30  # so that the last step is a line
    drawn_series = all_series[:_MAX_TEAMS]
    rows = [
        row
        for order, series in enumerate(drawn_series)
        for row in _build_rows(series, order, ends[1], zone, t)
    ]
    title = t("Score") if by_formula else t("Overall score (lower is better)")
    scores = [value for series in drawn_series for _, value in series.steps if value is not None]
    values = encode_number("value", title, find_ends(scores or [0]), padding=8)
    values["scale"]["reverse"] = not descending
    hidden_count = len(all_series) - len(drawn_series)
    return Chart(
        "timeline",
        t("Each team’s best score over time"),
        t("Changes: {count}.", count=sum(len(series.steps) for series in drawn_series))
        + (t(" Not drawn: {count} further teams.", count=hidden_count) if hidden_count else ""),
        _build_specification(rows, encode_time(ends, zone), values),
        head=(t("Team"), t("Since"), title),
        rows=[
            (series.team, format_clock_time(at, zone), value)
            for series in drawn_series
            for at, value in series.steps
        ],
        is_large=True,
    )


def _build_rows(series: ScoreSeries, order: int, end: datetime, zone: str, t: Translator) -> Iterable[Spec]:
    """Return the steps of a line, and its right end, which has a label if the team is among the best."""
    name = isolate(series.team)
    line = {"team": name, "own": series.own}
    for at, value in series.steps:
        yield line | {"at": format_wall_clock(at, zone), "value": value}
    yield line | {
        "at": format_wall_clock(end, zone),
        "value": series.value,
        "description": f"{name}: {localize_number(series.value, t)}",
        "label": name if order < _MAX_LABELS else "",
        "order": order,
    }


def _build_specification(rows: Sequence[Spec], time: Spec, values: Spec) -> Spec:
    position = {"x": time, "y": values}
    lines = {**position, "detail": {"field": "team"}}
    own, near = {"test": "datum.own"}, {"param": "near", "empty": False}
    hover = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["team"]}
    is_end = [{"filter": "isValid(datum.order)"}]
    return {
        "data": {"values": rows},
        "height": 420,
        "layer": [
            {
                "mark": {"type": "line"},
                "encoding": {
                    **lines,
                    "color": {"condition": [own | {"value": OWN}, near | {"value": INK}], "value": DATA},
                    "opacity": {"condition": [own | {"value": 1}, near | {"value": 1}], "value": 0.4},
                    "size": choose("datum.own", 3, 1.4),
                },
            },
            {  # invisible, so that a pointer need not be exactly on a line
                "name": "wide",
                "params": [{"name": "near", "select": hover}],
                "mark": {"type": "line", "opacity": 0, "strokeWidth": 9},
                "encoding": {**lines, "tooltip": {"field": "team"}},
            },
            {
                "name": "points",
                "transform": is_end,
                "mark": {"type": "point", "size": 30},
                "encoding": {**position, **DESCRIBED, "color": choose("datum.own", OWN, DATA)},
            },
            {
                "name": "labels",
                "transform": is_end,
                "mark": {"type": "text", "align": "left", "dx": 6, "limit": 130},
                "encoding": {**position, "text": {"field": "label"}, "color": choose("datum.own", OWN, INK)},
            },
        ],
        "usermeta": place_labels("labels", AT_ENDS_OF_LINES, padding=None, offset=[2]),
    }
