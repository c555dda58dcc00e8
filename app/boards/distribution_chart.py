"""The chart of the teams' values of one score or measure."""

from collections.abc import Sequence
from math import isfinite
from statistics import median

from anoncup.schemas import Board, BoardRow
from app.boards.standing_pages import BoardColumn
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

_GOLDEN_FRACTION = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, spread any number of points evenly."""


def draw_distribution(board: Board, column: BoardColumn, t: Translator) -> Chart | None:
    """Draw the teams' values of one column, or nothing if there are none."""
    values = [(column.value(row), row) for row in board.rows if not row.baseline]
    known = sorted(
        ((value, row) for value, row in values if value is not None and isfinite(value)),
        key=lambda item: item[0],
    )
    if not known:
        return None
    direction = t("higher is better") if column.higher_is_better else t("lower is better")
    name = t.label(f"{column.kind}_{column.name}", column.name)
    title = name + t(" ({text})", text=direction)
    return Chart(
        "distribution",
        name,
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
            *draw_rules(x, {" ".join((t("Median"), localize_number(middle, t))): middle}),
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
