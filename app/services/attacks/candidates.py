"""Which submissions stand for a team when the first phase closes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, cast, select, true
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from app.db.models import Competition, Evaluation, State, Submission, Team
from app.services.contests import phases


@dataclass(frozen=True, slots=True)
class Candidate:
    """A valid submission, and what a team is ranked by."""

    submission: Submission
    overall: float

    @property
    def merit(self) -> tuple[float, datetime, UUID]:
        """Lowest overall first, then the earlier."""
        return self.overall, self.submission.received_at, self.submission.id


def chosen(session: Session, row: Competition) -> list[Submission]:
    """The finals of every team at the deadline: those it marked, else its best valid ones.

    A marked one is taken although it is disqualified, so that reinstating it restores the target; none is
    that was scored by other versions than those that count.
    """
    most = phases.timetable_of(row).ranking.finals
    valid = session.execute(
        # The one number, and not the verdict: a contest has thousands, and the clock holds the lock.
        select(Submission, Evaluation.verdict["overall"].as_float())
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .join(Submission.team)
        .where(Submission.competition_id == row.id, Evaluation.state == State.SCORED)
        .where(~Team.baseline, same_versions(row.scored_by))
        .order_by(Submission.team_id)
    )
    by_team = groupby((Candidate(*each) for each in valid), key=lambda one: one.submission.team_id)
    return [final for _, own in by_team for final in of_one_team(list(own), most)]


def of_one_team(valid: Sequence[Candidate], most: int) -> list[Submission]:
    """The best of those it marked (perhaps more, before the number was lowered), else of all."""
    marked = [each for each in valid if each.submission.final]
    free = [each for each in valid if each.submission.disqualified_at is None]
    return [each.submission for each in sorted(marked or free, key=lambda one: one.merit)[:most]]


def same_versions(scored_by: Mapping[str, str]) -> ColumnElement[bool]:
    """Whether an evaluation's verdict has all that counts in these versions; any has where none are known.

    The database reads it there.
    """
    parts: dict[str, dict[str, Any]] = {"measures": {}, "attackers": {}}
    for name, version in scored_by.items():
        kind, _, part = name.partition(".")
        if kind in parts:
            parts[kind][part] = {"version": int(version)}
    return cast(Evaluation.verdict, JSONB).contains(parts) if scored_by else true()
