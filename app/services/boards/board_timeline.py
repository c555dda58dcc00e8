"""How the anonymization board came about: each team's best over time, as the boards of then showed it.

Of no moment more is told than its board said to the same audience (``visibility.view_then``): what is hidden
by a freeze or until a midnight comes when the board shows it, and what was never shown does not come.
Moments are whole seconds: two things that follow each other more closely are one step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.rules.settings import OVERALL_DIGITS
from anoncup.schemas import History, HistoryLeaders, HistoryPlace, HistoryRank, HistoryStep, HistoryTeam
from app.services.boards.board_events import happenings
from app.services.boards.entries import Entry
from app.services.boards.timeline_steps import Course
from app.services.contests.visibility import Sight, View, rounded

FIRST = 10
"""So many of the first are told whenever one of them changes."""
Why = Literal["release", "scoring", "guesses"] | None
Shown = tuple[float, float, float] | None
"""What a board shows of a team: overall, U, E; None while nothing of it counts."""


def as_json(session: Session, sight: Sight) -> str:
    """All steps of all teams, who the first were, and how the reader's own rank went."""
    told, ranks = followed(session, sight, sight.view.audience.team_id)
    return told.model_copy(update={"own_ranks": tuple(ranks)}).model_dump_json()


def followed(session: Session, sight: Sight, team: UUID | None) -> tuple[History, list[HistoryRank]]:
    """All steps of all teams and who the first were; how the rank of one went, also by what others did."""
    contest, view = sight.contest, sight.view
    lines: dict[UUID, Line] = {}
    leading: list[tuple[datetime, list[tuple[UUID, int]]]] = []
    ranks: list[HistoryRank] = []
    for at, course, changed in moments(session, sight):
        for each in sorted(changed):
            take_step(lines, each, at, course, view)
        first = course.first(FIRST)
        if first != (leading[-1][1] if leading else []):
            leading.append((at, first))
        if team is not None and course.rank(team) != (ranks[-1].rank if ranks else None):
            ranks.append(HistoryRank(at=at, rank=course.rank(team), ranked=course.ranked))
    told = History(
        competition=contest.slug,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        digits=view.digits,
        teams=tuple(line.told(view) for line in lines.values()),
        leaders=leaders(leading, list(lines)),
    )
    return told, ranks


@dataclass
class Line:
    """A team's steps so far; ``entry``: the best that it has, or had."""

    entry: Entry
    last: Shown
    steps: list[HistoryStep]

    def told(self, view: View) -> HistoryTeam:
        one = self.entry.finished
        own = view.audience.team_id == one.team_id
        steps = tuple(self.steps)
        return HistoryTeam(team_id=one.team_id, team=one.team, own=own, baseline=one.baseline, steps=steps)


def take_step(lines: dict[UUID, Line], team: UUID, at: datetime, course: Course, view: View) -> None:
    """Note what a board shows of a team, if that is something else."""
    entry = course.best(team)
    now = shown(entry, view)
    if entry is not None and now is not None:
        lines.setdefault(team, Line(entry, None, []))
    line = lines.get(team)
    if line is None:
        return
    if now != line.last:
        exact = view.digits is None or view.audience.team_id == team
        why = cause(line, entry) if exact else None
        line.last = now
        line.steps.append(step(at, now, course.rank(team), why))
    line.entry = entry or line.entry


def cause(line: Line, now: Entry | None) -> Why:
    """Why what is shown is something else now."""
    if now is None or now.overall is None:
        return None
    if line.last is None or now.finished.submission_id != line.entry.finished.submission_id:
        return "release"
    return "guesses" if now.numbers == line.entry.numbers else "scoring"


def leaders(
    leading: list[tuple[datetime, list[tuple[UUID, int]]]], teams: list[UUID]
) -> tuple[HistoryLeaders, ...]:
    places = {team: place for place, team in enumerate(teams)}
    return tuple(
        HistoryLeaders(at=at, first=tuple(HistoryPlace(team=places[team], rank=rank) for team, rank in first))
        for at, first in leading
    )


def moments(session: Session, sight: Sight) -> Iterator[tuple[datetime, Course, set[UUID]]]:
    """The board at each second at which it changed, and the teams whose best did."""
    course = Course.begin(session, sight)
    for at, together in groupby(happenings(session, sight), key=lambda one: one.shown_at):
        if changed := course.after(list(together)):
            yield at, course, changed


def shown(entry: Entry | None, view: View) -> Shown:
    if entry is None or entry.overall is None or entry.utility is None or entry.security is None:
        return None
    if view.audience.team_id == entry.finished.team_id:
        return entry.overall, entry.utility, entry.security
    digits = None if view.digits is None else OVERALL_DIGITS
    return rounded(entry.overall, digits), *view.losses(entry.utility, entry.security)


def step(at: datetime, now: Shown, rank: int | None, why: Why) -> HistoryStep:
    overall, utility, security = now or (None, None, None)
    return HistoryStep(at=at, rank=rank, overall=overall, utility=utility, security=security, why=why)
