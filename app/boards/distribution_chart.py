"""The chart of the teams' values of one score or measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median

from anoncup.schemas import Board, BoardRow
from app.boards.standing_pages import BoardColumn, group_columns
from app.competitions.contest import Contest
from app.core.locale.language import Translator
from app.core.pages.notation import localize_number
from app.core.pages.vega import (
    DATA,
    DESCRIBED,
    OWN,
    Chart,
    Spec,
    choose,
    draw_rules,
    encode_kind,
    encode_number,
    find_ends,
    isolate,
)

_SCORES = ("overall", "utility", "security")
_GOLDEN_FRACTION = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, spread any number of points evenly."""


@dataclass(frozen=True, slots=True)
class DistributionChoice:
    """A score or a column of the board whose distribution can be drawn."""

    name: str
    title: str
    column: BoardColumn | None = None

    def value(self, row: BoardRow) -> float | None:
        if self.column is not None:
            return self.column.value(row)
        score: float | None = getattr(row, self.name)
        return score

    @property
    def higher_is_better(self) -> bool:
        return self.column is not None and self.column.higher_is_better


def list_choices(contest: Contest, t: Translator, *, all_columns: bool) -> tuple[DistributionChoice, ...]:
    """Return the scores and, with ``all_columns``, also the board's columns in the order of the board."""
    scores = tuple(DistributionChoice(name, t.label(f"score_{name}")) for name in _SCORES)
    if not all_columns:
        return scores
    columns = (column for group in group_columns(contest.rules, contest.track) for column in group.columns)
    return scores + tuple(
        DistributionChoice(column.name, t.label(f"{column.kind}_{column.name}", column.name), column)
        for column in columns
    )


def draw_distribution(board: Board, choice: DistributionChoice, t: Translator) -> Chart | None:
    """Draw the teams' values of one column, or nothing if there are none."""
    values = [(choice.value(row), row) for row in board.rows if not row.baseline]
    known = sorted(
        ((value, row) for value, row in values if value is not None and isfinite(value)),
        key=lambda item: item[0],
    )
    if not known:
        return None
    direction = t("higher is better") if choice.higher_is_better else t("lower is better")
    title = choice.title + t(" ({text})", text=direction)
    return Chart(
        "distribution",
        choice.title,
        _describe([value for value, _ in known], [value for value, row in known if row.own], t),
        _build_specification(known, title, t),
        head=(t("Team"), title),
        rows=[(row.team, value) for value, row in known],
    )


def _describe(values: Sequence[float], own_values: Sequence[float], t: Translator) -> str:
    numbers = {"least": values[0], "median": median(values), "largest": values[-1]}
    summary = t(
        "Teams: {count}. Least {least}, median {median}, largest {largest}.",
        count=len(values),
        **{name: localize_number(value, t) for name, value in numbers.items()},
    )
    return " ".join(
        [summary, *(t("Your team: {own}.", own=localize_number(value, t)) for value in own_values)]
    )


def _build_specification(known: Sequence[tuple[float, BoardRow]], title: str, t: Translator) -> Spec:
    """Build points whose heights have no meaning; they avoid overlaps."""
    present = {row.own for _, row in known}
    looks = {
        True: (t("Your team"), "diamond", OWN),
        False: (t("Other teams") if True in present else t("Teams"), "circle", DATA),
    }
    kinds, shapes, colours = zip(*(look for own, look in looks.items() if own in present), strict=True)
    rows = [
        {
            "value": value,
            "spread": 0.5 if row.own else index * _GOLDEN_FRACTION % 1,
            "kind": looks[row.own][0],
            "own": row.own,
            "description": f"{isolate(row.team)}: {localize_number(value, t)}",
        }
        for index, (value, row) in enumerate(known)
    ]
    values = [value for value, _ in known]
    x = encode_number("value", title, find_ends(values), padding=12)
    middle = median(values)
    return {
        "data": {"values": sorted(rows, key=lambda row: row["own"])},
        "height": 170,
        "layer": [
            *draw_rules(x, {f"{t('Median')} {localize_number(middle, t)}": middle}),
            {
                "mark": "point",
                "encoding": {
                    "x": x,
                    "y": encode_number("spread", None, (-0.15, 1.3)) | {"axis": None},
                    "shape": encode_kind(kinds, shapes),
                    "color": encode_kind(kinds, colours),
                    "size": choose("datum.own", 180, 65),
                    "fillOpacity": choose("datum.own", 1, 0.55),
                    **DESCRIBED,
                },
            },
        ],
    }
