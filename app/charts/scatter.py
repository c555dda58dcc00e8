"""Utility loss against risk: a point per team, and the front that nobody has passed in both."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import axis, finite
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import level_axis, plot, vacant
from app.charts.plane import HEIGHT, SHAPES, Stack, Window, around, drawn, focus, levels
from app.charts.svg import lone, printable, tag
from app.charts.text import ChartWords

SAID = 20
"""Of a stack so many names are said; the table has all of them."""


@dataclass(frozen=True, slots=True)
class Point:
    """A team's best submission; ``utility`` is a loss and ``security`` a risk: less is better.

    ``blur``: by how much either may be off, because it is shown rounded.
    """

    name: str
    utility: float
    security: float
    own: bool = False
    on_front: bool = False
    baseline: bool = False
    blur: float = 0.0
    rank: int | None = None
    overall: float | None = None


@dataclass(frozen=True, slots=True)
class ScatterWords(ChartWords):
    """``x``, ``y``: the axes with their direction; ``better``: beside the lower left corner.

    ``said``: the description, with {teams}, {front} (how many on it), {x_least}, {x_largest}, {y_least} and
    {y_largest}; ``said_alike`` where all share a point; ``said_own`` follows where the reader's team is shown, with {name}, {x} and {y};
    ``said_beyond`` where {count} points lie beyond the part that is shown; ``point``: {name}, {x}, {y};
    ``ranked``: {rank} before that. The last ones are said by the view that takes over.
    """

    title: str = N_("Utility loss against risk")
    team: str = N_("Team")
    x: str = N_("Utility loss (lower is better)")
    y: str = N_("Risk (lower is better)")
    better: str = N_("better")
    front: str = N_("Pareto front")
    own: str = N_("Your team")
    others: str = N_("Other teams")
    baseline: str = N_("Baselines")
    equal: str = N_("Equal overall score")
    best: str = N_("Overall score of the leader")
    rounded: str = N_("Where a rounded point may lie")
    none: str = N_("No submission has been scored yet.")
    said: str = N_(
        "Teams: {teams}. Points on the Pareto front: {front}. Utility loss from {x_least} to {x_largest}, risk from {y_least} to {y_largest}."
    )
    said_alike: str = N_("Teams: {teams}. Utility loss {x_least}, risk {y_least}.")
    said_own: str = N_("{name}: utility loss {x}, risk {y}.")
    said_beyond: str = N_("Points beyond the edge, where arrows stand: {count}.")
    point: str = N_("{name}: utility loss {x}, risk {y}")
    ranked: str = N_("Rank {rank}")
    more: str = N_("{count} more")
    closer: str = N_("Zoom in")
    farther: str = N_("Zoom out")
    home: str = N_("Reset the view")
    whole: str = N_("Show all")
    hint: str = N_("Zoom with + and − or with Ctrl and the wheel, move by dragging.")


LENS = ("closer", "farther", "home", "whole", "hint")


def scatter(
    points: Sequence[Point], words: ScatterWords, *, equal: bool = False, identifier: str = "scatter"
) -> Figure:
    """Every team by what its best release lost and what attackers found in it; ``equal``: with the lines on
    which the mean of both, by which teams are ranked, is the same."""
    shown = [
        replace(one, utility=utility, security=security)
        for one in points
        if (utility := finite(one.utility)) is not None and (security := finite(one.security)) is not None
    ]
    stacks = stacked(shown, words)
    view = focus(stacks) if stacks else None
    leader = best_of(shown) if equal else None
    return Figure(
        identifier,
        words.title,
        description(shown, stacks, view, words),
        pictured(stacks, view, words, identifier, equal=equal, leader=leader),
        head=(words.team, words.x, words.y, words.front),
        rows=tuple((one.name, one.utility, one.security, "●" if one.on_front else "") for one in shown),
        legend=legend(stacks, words, equal=equal, leader=leader),
        view=as_json(stacks, view, words, equal=equal, leader=leader) if view else "",
    )


def best_of(points: Sequence[Point]) -> float | None:
    """The score of the first rank."""
    return next((one.overall for one in points if one.rank == 1), None)


def series_of(one: Point) -> str:
    if one.own:
        return "own"
    if one.baseline:
        return "baseline"
    return "front" if one.on_front else "others"


def stacked(points: Sequence[Point], words: ScatterWords) -> list[Stack]:
    """The points by place; a baseline never hides behind a team's."""
    at: dict[tuple[float, float, float, bool], list[Point]] = {}
    for one in points:
        at.setdefault((one.utility, one.security, one.blur, one.baseline), []).append(one)
    return [stack(sorted(each, key=precedence), words) for each in at.values()]


def precedence(one: Point) -> tuple[bool, bool, int]:
    return not one.own, one.rank is None, one.rank or 0


def stack(members: Sequence[Point], words: ScatterWords) -> Stack:
    first = members[0]
    ranks = [one.rank for one in members if one.rank is not None]
    return Stack(
        first.utility,
        first.security,
        series_of(first),
        tuple(printable(one.name) for one in members),
        said_of_all(members, words),
        min(ranks, default=None),
        first.on_front,
        first.blur,
    )


def said_of_all(members: Sequence[Point], words: ScatterWords) -> str:
    """All names that share a point, with their ranks, and their numbers once."""
    said = [said_name(one, words) for one in members[:SAID]]
    if members[SAID:]:
        said.append(words.more.format(count=words.number(len(members) - SAID)))
    first = members[0]
    return words.point.format(
        name=", ".join(said),
        x=score(first.utility, first.blur, words),
        y=score(first.security, first.blur, words),
    )


def said_name(one: Point, words: ScatterWords) -> str:
    if one.rank is None:
        return lone(one.name)
    return f"{lone(one.name)} ({words.ranked.format(rank=words.number(one.rank))})"


def description(
    points: Sequence[Point], stacks: Sequence[Stack], view: Window | None, words: ScatterWords
) -> str:
    if view is None:
        return words.none
    across, up = [(one.utility, one.blur) for one in points], [(one.security, one.blur) for one in points]
    template = words.said_alike if len({(one.utility, one.security) for one in points}) == 1 else words.said
    said = template.format(
        teams=words.number(sum(not one.baseline for one in points)),
        front=words.number(sum(one.on_front for one in stacks)),
        x_least=score(*min(across), words),
        x_largest=score(*max(across), words),
        y_least=score(*min(up), words),
        y_largest=score(*max(up), words),
    )
    own = [
        words.said_own.format(
            name=lone(one.name),
            x=score(one.utility, one.blur, words),
            y=score(one.security, one.blur, words),
        )
        for one in points
        if one.own
    ]
    beyond = sum(not view.holds(one) for one in stacks)
    arrows = [words.said_beyond.format(count=words.number(beyond))] if beyond else []
    return " ".join([said, *own, *arrows])


def score(value: float, blur: float, words: ScatterWords) -> str:
    """In the decimals that boards have: four, or those that it is rounded to."""
    digits = -round(math.log10(2 * blur)) if blur else 4
    return words.signs(f"{value:.{digits}f}")


def pictured(
    stacks: Sequence[Stack],
    view: Window | None,
    words: ScatterWords,
    identifier: str,
    *,
    equal: bool,
    leader: float | None,
) -> Markup:
    if view is None:
        room = plot(level_axis([], signs=words.signs), axis([], signs=words.signs), height=HEIGHT)
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, y_title=words.y)
    return drawn(
        stacks,
        identifier,
        view=view,
        equal=levels(view, leader, words.signs) if equal else (),
        titles=(words.x, words.y),
        better=words.better,
        signs=words.signs,
    )


def as_json(
    stacks: Sequence[Stack], view: Window, words: ScatterWords, *, equal: bool, leader: float | None
) -> str:
    """What the picture was drawn from: the view that takes over computes none of it again."""
    whole = around(stacks)
    content: dict[str, Any] = {
        "home": [view.left, view.right, view.low, view.high],
        "whole": [whole.left, whole.right, whole.low, whole.high],
        "marks": [marked(one) for one in stacks],
        "equal": equal,
        "leader": leader,
        "leaderText": "" if leader is None else score(leader, 0.0, words),
        "decimal": words.signs("0.5")[1:-1],
        "words": {name: getattr(words, name) for name in ("x", "y", "better", *LENS)},
    }
    return printable(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def marked(one: Stack) -> dict[str, Any]:
    return {
        "x": one.x,
        "y": one.y,
        "kind": one.kind,
        "names": one.names,
        "label": one.label,
        "more": one.more,
        "said": one.said,
        "rank": one.rank,
        "needed": one.needed,
        "front": one.on_front,
        "blur": one.blur,
    }


def legend(
    stacks: Sequence[Stack], words: ScatterWords, *, equal: bool, leader: float | None
) -> tuple[LegendEntry, ...]:
    texts = {"own": words.own, "front": words.front, "others": words.others, "baseline": words.baseline}
    present = {one.kind for one in stacks} | ({"front"} if any(one.on_front for one in stacks) else set())
    line = tag("path", class_="line", d="M-10 0H10")
    points = [
        LegendEntry(name, text, marks.swatch(name, *([line] if name == "front" else []), SHAPES[name](0, 0)))
        for name, text in texts.items()
        if name in present
    ]
    box = tag("rect", x=-8, y=-6, width=16, height=12)
    others = (
        (any(one.blur for one in stacks), LegendEntry("blurs", words.rounded, marks.swatch("blurs", box))),
        (equal and bool(stacks), LegendEntry("levels", words.equal, diagonal("equal"))),
        (leader is not None, LegendEntry("levels", words.best, diagonal("equal best"))),
    )
    return (*points, *(entry for present, entry in others if present))


def diagonal(kind: str) -> Markup:
    return marks.swatch("levels", tag("path", class_=kind, d="M-8 -8L8 8"))
