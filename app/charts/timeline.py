"""A team's overall score over time, and how the best of it fell."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from markupsafe import Markup

from anoncup.messages import N_
from app.charts import marks
from app.charts.axes import Axis, axis, finite, known
from app.charts.figure import Figure, LegendEntry
from app.charts.frame import Plot, grid, mark, picture, plot, vacant
from app.charts.svg import LETTER, lone, short, tag
from app.charts.text import ChartWords
from app.charts.time_axis import time_axis

HEIGHT = 300.0
LANE = 24.0
"""Above the scores, for submissions that have none."""

State = Literal["accepted", "rejected", "error"]
SHAPES: dict[State, marks.Shape] = {"accepted": marks.dot, "rejected": marks.cross, "error": marks.triangle}


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission; ``overall``: less is better, None where it has no score. ``at`` knows its zone."""

    name: str
    at: datetime
    overall: float | None
    state: State


@dataclass(frozen=True, slots=True)
class CourseWords(ChartWords):
    """``said``: the description, with {count}, {accepted}, {rejected} and {error}; ``said_best`` follows
    where something was accepted, with {first} (the first accepted score) and {best}; ``point``: {name},
    {at}, {overall}, {state}.
    """

    title: str = N_("Overall score over time")
    x: str = N_("Time of receipt")
    y: str = N_("Overall score (lower is better)")
    submission: str = N_("Submission")
    received: str = N_("Received")
    state: str = N_("Result")
    accepted: str = N_("Accepted")
    rejected: str = N_("Rejected")
    error: str = N_("Error on our side")
    best: str = N_("Best so far")
    none: str = N_("No submission yet.")
    said: str = N_("Submissions: {count}; accepted: {accepted}, rejected: {rejected}, errors: {error}.")
    said_best: str = N_("First accepted score: {first}; best: {best}.")
    point: str = N_("{name}, {at}: {overall} ({state})")

    def of(self, state: State) -> str:
        return {"accepted": self.accepted, "rejected": self.rejected, "error": self.error}[state]


def course(
    entries: Sequence[Entry],
    words: CourseWords,
    *,
    zone: str,
    begin: datetime | None = None,
    end: datetime | None = None,
    identifier: str = "course",
) -> Figure:
    """Every submission where its score and its time put it; ``begin``, ``end``: what the picture spans."""
    ordered = sorted(entries, key=lambda one: one.at)
    return Figure(
        identifier,
        words.title,
        description(ordered, words),
        drawn(ordered, words, zone, (begin, end), identifier),
        head=(words.submission, words.received, words.state, words.y),
        rows=tuple(
            (one.name, clock(one.at, zone), words.of(one.state), finite(one.overall)) for one in ordered
        ),
        legend=legend(ordered, words),
    )


def clock(moment: datetime, zone: str) -> str:
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M %Z")


def bests(entries: Sequence[Entry]) -> list[Entry]:
    """The accepted submissions that were better than all before them, in the order of time."""
    found: list[Entry] = []
    for one in entries:
        score = finite(one.overall)
        if one.state == "accepted" and score is not None and (not found or score < (found[-1].overall or 0)):
            found.append(one)
    return found


def description(entries: Sequence[Entry], words: CourseWords) -> str:
    if not entries:
        return words.none
    steps = bests(entries)
    counts = {state: words.number(sum(one.state == state for one in entries)) for state in SHAPES}
    said = words.said.format(count=words.number(len(entries)), **counts)
    if not steps:
        return said
    ends = {"first": words.number(steps[0].overall), "best": words.number(steps[-1].overall)}
    return f"{said} {words.said_best.format(**ends)}"


def drawn(
    entries: Sequence[Entry],
    words: CourseWords,
    zone: str,
    ends: tuple[datetime | None, datetime | None],
    identifier: str,
) -> Markup:
    moments = [*(one.at for one in entries), *(end for end in ends if end is not None)]
    x = time_axis(moments, zone) if moments else Axis(0, 1, (), ())
    scores = [one.overall for one in entries]
    above = 0.0 if len(known(scores)) == len(scores) else LANE
    # One score alone has no range of its own; all of them lie between 0 and 1.
    y = axis(scores if len(set(known(scores))) > 1 else [0.0, 1.0], signs=words.signs)
    room = plot(x, y, height=HEIGHT, top=2 * LETTER + above)
    if not entries:
        return vacant(identifier, room, HEIGHT, words.none, x_title=words.x, y_title=words.y)
    return picture(
        identifier,
        HEIGHT,
        grid(room, x_title=words.x, y_title=words.y, over=above + 0.8 * LETTER),
        best_line(entries, room),
        points(entries, room, words, zone),
        live=True,
        kind="level",
    )


def best_line(entries: Sequence[Entry], room: Plot) -> Markup:
    """Steps down at every better score, and on to the end."""
    found = [(one.at.timestamp(), one.overall or 0.0) for one in bests(entries)]
    if not found:
        return Markup("")
    steps = "".join(f"H{short(room.across(at))}V{short(room.up(score))}" for at, score in found[1:])
    line = tag("path", class_="line", d=f"M{room.at(*found[0])}{steps}H{short(room.right)}")
    return tag("g", line, class_="series points best", aria_hidden="true")


def points(entries: Sequence[Entry], room: Plot, words: CourseWords, zone: str) -> Markup:
    """The submissions by their state; the keyboard enters at the latest."""
    drawn = []
    for state in reversed(SHAPES):
        of_state = [one for one in entries if one.state == state]
        marked = [point(one, room, words, zone, first=one is entries[-1]) for one in of_state]
        drawn.append(tag("g", *marked, class_=f"series points {state}") if marked else "")
    return Markup("").join(drawn)


def point(one: Entry, room: Plot, words: CourseWords, zone: str, *, first: bool) -> Markup:
    score = finite(one.overall)
    height = room.top - LANE / 2 if score is None else room.up(score)
    said = words.point.format(
        name=lone(one.name), at=clock(one.at, zone), overall=words.number(score), state=words.of(one.state)
    )
    return mark(SHAPES[one.state](room.across(one.at.timestamp()), height), said, first=first)


def legend(entries: Sequence[Entry], words: CourseWords) -> tuple[LegendEntry, ...]:
    present = {one.state for one in entries}
    states = [
        LegendEntry(state, words.of(state), marks.swatch(state, shape(0, 0)))
        for state, shape in SHAPES.items()
        if state in present
    ]
    line = LegendEntry("best", words.best, marks.swatch("best", tag("path", class_="line", d="M-10 0H10")))
    return (*states, *([line] if bests(entries) else []))
