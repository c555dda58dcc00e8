"""Figure of the scatter plot of utility loss and risk: its points, texts, table and legend."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import build_axis
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import build_horizontal_axis, draw_empty, fit_plot_area
from app.charts.numbers import clamp_finite
from app.charts.scatter_plot import (
    SCATTER_HEIGHT,
    SHAPE_BY_KIND,
    PointStack,
    ViewWindow,
    build_levels,
    choose_view,
    draw_scatter_plot,
    fit_view,
)
from app.charts.svg import isolate_text, replace_forbidden_characters, tag
from app.charts.text import ChartWords

_MAX_LISTED_NAMES = 20
"""Maximum number of names listed for points at the same place; the table has all of them."""
_IDENTIFIER = "scatter"


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A team's best submission. ``utility`` is a loss and ``security`` a risk, so lower is better.

    Both values have the same maximum rounding error.
    """

    name: str
    utility: float
    security: float
    own: bool = False
    on_front: bool = False
    baseline: bool = False
    rounding_error: float = 0.0
    rank: int | None = None
    overall: float | None = None


@dataclass(frozen=True, slots=True)
class ScatterWords(ChartWords):
    """Texts of the scatter plot.

    ``better`` is written below the lower left corner. ``summary`` is the description, with {teams}, {front} (the number of points on the front), {x_least},
    {x_largest}, {y_least} and {y_largest}; ``summary_alike`` replaces it if all points coincide. If the
    reader's team is shown, ``summary_own`` follows, with {name}, {x} and {y}; if points are outside the view,
    ``summary_outside`` follows, with their {count}. ``point_label`` is the label of a mark, with {name}, {x}
    and {y}; ``ranked`` gives the {rank} after a name.
    """

    title: str = N_("Utility loss against risk")
    team: str = N_("Team")
    x_title: str = N_("Utility loss (lower is better)")
    y_title: str = N_("Risk (lower is better)")
    better: str = N_("better")
    front: str = N_("Pareto front")
    own: str = N_("Your team")
    other_teams: str = N_("Other teams")
    baseline: str = N_("Baselines")
    equal: str = N_("Equal overall score")
    best: str = N_("Overall score of the leader")
    rounded: str = N_("Where a rounded point may lie")
    empty: str = N_("No submission has been scored yet.")
    summary: str = N_(
        "Teams: {teams}. Points on the Pareto front: {front}. Utility loss from {x_least} to {x_largest}, risk from {y_least} to {y_largest}."
    )
    summary_alike: str = N_("Teams: {teams}. Utility loss {x_least}, risk {y_least}.")
    summary_own: str = N_("{name}: utility loss {x}, risk {y}.")
    summary_outside: str = N_("Points beyond the edge, where arrows stand: {count}.")
    point_label: str = N_("{name}: utility loss {x}, risk {y}")
    ranked: str = N_("Rank {rank}")
    more: str = N_("{count} more")


def build_scatter(
    points: Sequence[ScatterPoint], words: ScatterWords, *, with_score_levels: bool = False
) -> Figure:
    """Build the plot of all teams by utility loss and risk.

    ``with_score_levels``: draw lines of equal overall score, which is the mean of both.
    """
    finite_points = [
        replace(point, utility=utility, security=security)
        for point in points
        if (utility := clamp_finite(point.utility)) is not None
        and (security := clamp_finite(point.security)) is not None
    ]
    stacks = _group_points(finite_points, words)
    view = choose_view(stacks) if stacks else None
    leader_score = next((point.overall for point in finite_points if point.rank == 1), None)
    leader = leader_score if with_score_levels else None
    return Figure(
        _IDENTIFIER,
        words.title,
        _describe_scatter(finite_points, stacks, view, words),
        _draw_scatter(stacks, view, words, with_score_levels=with_score_levels, leader=leader),
        head=(words.team, words.x_title, words.y_title, words.front),
        rows=tuple(
            (point.name, point.utility, point.security, "●" if point.on_front else "")
            for point in finite_points
        ),
        legend=_build_legend(stacks, words, with_score_levels=with_score_levels, leader=leader),
        view=_serialize_view(stacks, view, words, with_score_levels=with_score_levels, leader=leader)
        if view
        else "",
    )


def _choose_series(point: ScatterPoint) -> str:
    if point.own:
        return "own"
    if point.baseline:
        return "baseline"
    return "front" if point.on_front else "others"


def _group_points(points: Sequence[ScatterPoint], words: ScatterWords) -> list[PointStack]:
    """Group points with the same values. Baselines form groups of their own, so that no team hides them."""
    groups: dict[tuple[float, float, float, bool], list[ScatterPoint]] = {}
    for point in points:
        groups.setdefault((point.utility, point.security, point.rounding_error, point.baseline), []).append(
            point
        )
    return [_build_stack(sorted(members, key=_make_precedence_key), words) for members in groups.values()]


def _make_precedence_key(point: ScatterPoint) -> tuple[bool, bool, int]:
    return not point.own, point.rank is None, point.rank or 0


def _build_stack(members: Sequence[ScatterPoint], words: ScatterWords) -> PointStack:
    first = members[0]
    ranks = [member.rank for member in members if member.rank is not None]
    return PointStack(
        first.utility,
        first.security,
        _choose_series(first),
        tuple(replace_forbidden_characters(member.name) for member in members),
        _describe_members(members, words),
        min(ranks, default=None),
        first.on_front,
        first.rounding_error,
    )


def _describe_members(members: Sequence[ScatterPoint], words: ScatterWords) -> str:
    """List the teams at one point with their ranks, followed by the values that they share."""
    names = [_describe_member(member, words) for member in members[:_MAX_LISTED_NAMES]]
    if members[_MAX_LISTED_NAMES:]:
        names.append(words.fill(words.more, count=len(members) - _MAX_LISTED_NAMES))
    first = members[0]
    return words.point_label.format(
        name=", ".join(names),
        x=_format_score(first.utility, first.rounding_error, words),
        y=_format_score(first.security, first.rounding_error, words),
    )


def _describe_member(member: ScatterPoint, words: ScatterWords) -> str:
    if member.rank is None:
        return isolate_text(member.name)
    return f"{isolate_text(member.name)} ({words.fill(words.ranked, rank=member.rank)})"


def _describe_scatter(
    points: Sequence[ScatterPoint], stacks: Sequence[PointStack], view: ViewWindow | None, words: ScatterWords
) -> str:
    if view is None:
        return words.empty
    x_values = [(item.utility, item.rounding_error) for item in points]
    y_values = [(item.security, item.rounding_error) for item in points]
    template = (
        words.summary_alike if len({(item.utility, item.security) for item in points}) == 1 else words.summary
    )
    summary = words.fill(
        template,
        teams=sum(not item.baseline for item in points),
        front=sum(item.on_front for item in stacks),
        x_least=_format_score(*min(x_values), words),
        x_largest=_format_score(*max(x_values), words),
        y_least=_format_score(*min(y_values), words),
        y_largest=_format_score(*max(y_values), words),
    )
    own = [
        words.summary_own.format(
            name=isolate_text(item.name),
            x=_format_score(item.utility, item.rounding_error, words),
            y=_format_score(item.security, item.rounding_error, words),
        )
        for item in points
        if item.own
    ]
    outside_count = sum(not view.contains(item) for item in stacks)
    arrows = [words.fill(words.summary_outside, count=outside_count)] if outside_count else []
    return " ".join([summary, *own, *arrows])


def _format_score(value: float, rounding_error: float, words: ScatterWords) -> str:
    """Format a score with as many decimals as on boards: four, or fewer if it is rounded."""
    digits = -round(math.log10(2 * rounding_error)) if rounding_error else 4
    return words.localize(f"{value:.{digits}f}")


def _draw_scatter(
    stacks: Sequence[PointStack],
    view: ViewWindow | None,
    words: ScatterWords,
    *,
    with_score_levels: bool,
    leader: float | None,
) -> Markup:
    if view is None:
        plot_area = fit_plot_area(
            build_horizontal_axis([], localize=words.localize),
            build_axis([], localize=words.localize),
            height=SCATTER_HEIGHT,
        )
        return draw_empty(
            _IDENTIFIER, plot_area, SCATTER_HEIGHT, words.empty, x_title=words.x_title, y_title=words.y_title
        )
    return draw_scatter_plot(
        stacks,
        _IDENTIFIER,
        view=view,
        levels=build_levels(view, leader, words.localize) if with_score_levels else (),
        titles=(words.x_title, words.y_title),
        better=words.better,
        localize=words.localize,
    )


def _serialize_view(
    stacks: Sequence[PointStack],
    view: ViewWindow,
    words: ScatterWords,
    *,
    with_score_levels: bool,
    leader: float | None,
) -> str:
    """Serialize what was computed for the picture, so that the interactive view need not compute it again."""
    full_view = fit_view(stacks)
    content: dict[str, Any] = {
        "home": [view.left, view.right, view.low, view.high],
        "full": [full_view.left, full_view.right, full_view.low, full_view.high],
        "marks": [_serialize_stack(stack) for stack in stacks],
        "with_levels": with_score_levels,
        "leader": leader,
        "leader_text": "" if leader is None else _format_score(leader, 0.0, words),
        "decimal": words.localize("0.5")[1:-1],
        "words": {name: getattr(words, name) for name in ("x_title", "y_title", "better")},
    }
    return replace_forbidden_characters(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def _serialize_stack(stack: PointStack) -> dict[str, Any]:
    return {
        "x": stack.x,
        "y": stack.y,
        "kind": stack.kind,
        "names": stack.names,
        "label": stack.label,
        "suffix": stack.suffix,
        "description": stack.description,
        "rank": stack.rank,
        "required": stack.is_required,
        "front": stack.on_front,
        "rounding_error": stack.rounding_error,
    }


def _build_legend(
    stacks: Sequence[PointStack], words: ScatterWords, *, with_score_levels: bool, leader: float | None
) -> tuple[LegendEntry, ...]:
    texts = {"own": words.own, "front": words.front, "others": words.other_teams, "baseline": words.baseline}
    present = {stack.kind for stack in stacks} | (
        {"front"} if any(stack.on_front for stack in stacks) else set()
    )
    points = [
        LegendEntry(
            name,
            text,
            marks.swatch(name, *([marks.LINE] if name == "front" else []), SHAPE_BY_KIND[name](0, 0)),
        )
        for name, text in texts.items()
        if name in present
    ]
    box = tag("rect", x=-8, y=-6, width=16, height=12)
    other_entries = (
        (
            any(stack.rounding_error for stack in stacks),
            LegendEntry("blurs", words.rounded, marks.swatch("blurs", box)),
        ),
        (with_score_levels and bool(stacks), LegendEntry("levels", words.equal, _draw_diagonal("equal"))),
        (leader is not None, LegendEntry("levels", words.best, _draw_diagonal("equal best"))),
    )
    return (*points, *(entry for present, entry in other_entries if present))


def _draw_diagonal(kind: str) -> Markup:
    return marks.swatch("levels", tag("path", class_=kind, d="M-8 -8L8 8"))
