"""The chart of utility loss against risk, with the Pareto front and lines of equal score."""

import math
from collections.abc import Iterable, Sequence
from statistics import quantiles

from anoncup.schemas import Board, BoardRow
from app.boards.standing_pages import get_display_name
from app.core.locale.language import Translator
from app.core.pages.notation import get_score_digits, localize_score
from app.core.pages.vega import (
    BESIDE_POINTS,
    DATA,
    DESCRIBED,
    INK,
    OWN,
    PAPER,
    QUIET,
    ZOOM,
    Chart,
    Spec,
    choose,
    encode_kind,
    encode_number,
    find_ends,
    isolate,
    place_labels,
)

_PODIUM_RANKS = 3
_MAX_LISTED_NAMES = 20
"""Names listed of teams at the same place; the table has all of them."""
_MIN_TEAMS_FOR_FOCUS = 4
"""With fewer teams, the first view contains all points."""
_LEVEL_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
_MAX_LEVELS_IN_VIEW = 8
_X_AT_TOP, _X_AT_BOTTOM = "(datum.end - domain('y')[1])", "(datum.end - domain('y')[0])"
"""Where a line of equal score crosses the edges of the view."""
_PALE_DATA = f"color-mix(in srgb, {DATA} 55%, {PAPER})"


def draw_scatter(board: Board, t: Translator, *, with_levels: bool) -> Chart | None:
    """Draw the scored rows of a board, if there are any; ``with_levels`` adds lines of equal score."""
    rows = [row for row in board.rows if row.utility is not None and row.security is not None]
    if not rows:
        return None
    points = _build_points(rows, board, t)
    x_ends, y_ends = (
        find_ends([point[field] for point in _select_nearby(points)]) for field in ("utility", "security")
    )
    levels = _build_levels(x_ends, y_ends, t) if with_levels else []
    return Chart(
        "scatter",
        t("Utility loss against risk"),
        _describe(points, x_ends, y_ends, t, min(get_score_digits(board, row) for row in rows)),
        _build_specification(points, x_ends, y_ends, levels, t),
        head=(t("Team"), t("Utility loss (lower is better)"), t("Risk (lower is better)"), t("Pareto front")),
        rows=[
            (get_display_name(row, t), row.utility, row.security, "●" if row.on_front else "") for row in rows
        ],
        is_large=True,
        can_zoom=True,
    )


def _build_points(rows: Iterable[BoardRow], board: Board, t: Translator) -> list[Spec]:
    """Return a point for rows with the same values, the most important last. Baselines are apart."""
    stacks: dict[tuple[float | None, float | None, bool], list[BoardRow]] = {}
    for row in sorted(rows, key=lambda row: (not row.own, row.rank or math.inf)):
        stacks.setdefault((row.utility, row.security, row.baseline), []).append(row)
    points = [_build_point(stack, board, t) | {"order": order} for order, stack in enumerate(stacks.values())]
    return points[::-1]


def _build_point(stack: Sequence[BoardRow], board: Board, t: Translator) -> Spec:
    first = stack[0]
    name = isolate(get_display_name(first, t))
    kinds = {"own": first.own, "baseline": first.baseline, "front": first.on_front, "others": True}
    return {
        "utility": first.utility,
        "security": first.security,
        "kind": _name_kinds(t)[next(kind for kind, applies in kinds.items() if applies)],
        "own": first.own,
        "baseline": first.baseline,
        "on_front": first.on_front,
        "rank": first.rank,
        "is_required": first.own or (first.rank or math.inf) <= _PODIUM_RANKS,
        "teams": len(stack),
        "label": (f"{first.rank}. {name}" if first.rank else name)
        + (f" +{len(stack) - 1}" if len(stack) > 1 else ""),
        "description": _describe_stack(stack, board, t),
    }


def _name_kinds(t: Translator) -> dict[str, str]:
    return {
        "own": t("Your team"),
        "front": t("Pareto front"),
        "others": t("Other teams"),
        "baseline": t("Baselines"),
    }


def _describe_stack(stack: Sequence[BoardRow], board: Board, t: Translator) -> str:
    """List the teams at a point with their ranks, followed by the values that they share."""
    names = [_name_with_rank(row, t) for row in stack[:_MAX_LISTED_NAMES]]
    if len(stack) > _MAX_LISTED_NAMES:
        names.append(t("{count} more", count=len(stack) - _MAX_LISTED_NAMES))
    digits = get_score_digits(board, stack[0])
    x, y = (localize_score(value, t, digits) for value in (stack[0].utility, stack[0].security))
    return t("{name}: utility loss {x}, risk {y}", name=t(", ").join(names), x=x, y=y)


def _name_with_rank(row: BoardRow, t: Translator) -> str:
    name = isolate(get_display_name(row, t))
    return t("{name} (rank {rank})", name=name, rank=row.rank) if row.rank else name


def _select_nearby(points: Sequence[Spec]) -> list[Spec]:
    """Return the points of the first view.

    Distant teams and baselines, which would squeeze the others, are left out, unless they are required.
    """
    teams = [point for point in points if not point["baseline"]]
    if len(teams) < _MIN_TEAMS_FOR_FOCUS:
        return list(points)
    limits = {
        field: _compute_outer_fence([point[field] for point in teams]) for field in ("utility", "security")
    }
    return [
        point
        for point in teams
        if point["is_required"] or all(point[field] <= limit for field, limit in limits.items())
    ]


def _compute_outer_fence(values: Sequence[float]) -> float:
    """Return Tukey's upper outer fence."""
    first, _, third = quantiles(values, n=4, method="inclusive")
    return third + 3 * max(third - first, 0.1 * third)


def _build_levels(x_ends: tuple[float, float], y_ends: tuple[float, float], t: Translator) -> list[Spec]:
    """Return the lines of round scores. That of s goes from (0, 2s) to (2s, 0)."""
    spread = (x_ends[1] - x_ends[0] + y_ends[1] - y_ends[0]) / 2
    step = next(step for step in _LEVEL_STEPS if spread <= step * _MAX_LEVELS_IN_VIEW)
    scores = [round(index * step, 2) for index in range(1, round(1 / step) + 1)]
    return [{"end": 2 * score, "text": t.localize_numbers(f"{score:g}")} for score in scores]


def _describe(
    points: Sequence[Spec],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    t: Translator,
    digits: int,
) -> str:
    x_values, y_values = ([point[field] for point in points] for field in ("utility", "security"))
    values = {
        "x_least": min(x_values),
        "x_largest": max(x_values),
        "y_least": min(y_values),
        "y_largest": max(y_values),
    }
    summary = t(
        "Teams: {teams}. Points on the Pareto front: {front}. "
        "Utility loss from {x_least} to {x_largest}, risk from {y_least} to {y_largest}.",
        teams=sum(point["teams"] for point in points if not point["baseline"]),
        front=sum(point["on_front"] for point in points),
        **{name: localize_score(value, t, digits) for name, value in values.items()},
    )
    own = [t("{text}.", text=point["description"]) for point in points if point["own"]]
    outside = sum(
        not (x_ends[0] <= point["utility"] <= x_ends[1] and y_ends[0] <= point["security"] <= y_ends[1])
        for point in points
    )
    beyond = [t("Points beyond the edge: {count}.", count=outside)] if outside else []
    return " ".join([summary, *own, *beyond])


def _build_specification(
    points: Sequence[Spec],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    levels: Sequence[Spec],
    t: Translator,
) -> Spec:
    position = {
        "x": encode_number("utility", t("Utility loss (lower is better)"), x_ends, padding=12),
        "y": encode_number("security", t("Risk (lower is better)"), y_ends, padding=12),
    }
    return {
        "data": {"values": points},
        "height": 480,
        "layer": [
            *([_draw_levels(levels), _draw_level_values(levels)] if levels else []),
            {
                "name": "front",
                "transform": [{"filter": "datum.on_front"}],
                "mark": {"type": "line", "clip": True},
                "encoding": position,
            },
            _draw_points(position, points, t),
            _draw_labels("podium", "datum.is_required", position),
            _draw_labels("labels", "!datum.is_required", position),
        ],
        "usermeta": {
            **place_labels("podium", ["bottom-left", *BESIDE_POINTS]),
            **place_labels(
                "labels", BESIDE_POINTS, ["points", "front", "podium", *(["level_values"] if levels else [])]
            ),
        },
    }


def _draw_labels(name: str, test: str, position: Spec) -> Spec:
    return {
        "name": name,
        "transform": [{"filter": test}],
        "mark": {"type": "text", "clip": True, "limit": 180},
        "encoding": {**position, "text": {"field": "label"}, "color": choose("datum.own", OWN, INK)},
    }


def _draw_levels(levels: Sequence[Spec]) -> Spec:
    """Draw the lines within the view only: browsers take seconds for dashed lines far longer than it."""
    left, right = (f"clamp({x}, domain('x')[0], domain('x')[1])" for x in (_X_AT_TOP, _X_AT_BOTTOM))
    return {
        "data": {"values": levels},
        "mark": {"type": "rule", "clip": True, "color": "var(--strong-line)", "strokeDash": [1.5, 4]},
        "encoding": {
            "x": {"value": {"expr": f"scale('x', {left})"}},
            "y": {"value": {"expr": f"scale('y', {_clamp_y(left)})"}},
            "x2": {"value": {"expr": f"scale('x', {right})"}},
            "y2": {"value": {"expr": f"scale('y', {_clamp_y(right)})"}},
        },
    }


def _clamp_y(x: str) -> str:
    return f"clamp(datum.end - {x}, domain('y')[0], domain('y')[1])"


def _draw_level_values(levels: Sequence[Spec]) -> Spec:
    """Write the values where the lines leave the view, at its lower or right edge, also when it is zoomed."""
    at_right_edge = f"{_X_AT_BOTTOM} > domain('x')[1]"
    x = f"({at_right_edge} ? domain('x')[1] : {_X_AT_BOTTOM})"
    return {
        "name": "level_values",
        "data": {"values": levels},
        "mark": {
            "type": "text",
            "clip": True,
            "color": QUIET,
            "align": {"expr": f"{at_right_edge} ? 'right' : 'left'"},
            "baseline": {"expr": f"{at_right_edge} ? 'top' : 'bottom'"},
            "dx": {"expr": f"{at_right_edge} ? -4 : 4"},
            "opacity": {"expr": f"inrange(datum.end - {x}, domain('y')) ? 1 : 0"},
        },
        "encoding": {
            "x": {"value": {"expr": f"scale('x', {x})"}},
            "y": {"value": {"expr": f"scale('y', datum.end - {x})"}},
            "text": {"field": "text"},
        },
    }


def _draw_points(position: Spec, points: Sequence[Spec], t: Translator) -> Spec:
    names = _name_kinds(t)
    kinds = [kind for kind in names if any(point["kind"] == names[kind] for point in points)]
    looks: dict[str, Spec] = {
        "shape": {"own": "diamond", "front": "circle", "others": "circle", "baseline": "square"},
        "fill": {"own": OWN, "front": DATA, "others": _PALE_DATA, "baseline": PAPER},
        "stroke": {"own": PAPER, "front": PAPER, "others": PAPER, "baseline": QUIET},
    }
    by_kind = {
        channel: encode_kind([names[kind] for kind in kinds], [look[kind] for kind in kinds])
        for channel, look in looks.items()
    }
    return {
        "name": "points",
        "params": [{"name": "zoom", "select": ZOOM, "bind": "scales"}],
        "mark": {"type": "point", "clip": True},
        "encoding": {
            **position,
            **DESCRIBED,
            **by_kind,
            "size": choose("datum.own", 190, 65),
        },
    }
