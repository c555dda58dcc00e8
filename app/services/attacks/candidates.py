"""Choice of the finals that represent each team when the anonymization phase ends."""

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
    """A valid submission with the score by which it is ranked."""

    submission: Submission
    overall: float

    @property
    def sort_key(self) -> tuple[float, datetime, UUID]:
        """Sort key: lowest overall first, then earliest receipt."""
        return self.overall, self.submission.received_at, self.submission.id


def choose_finals(session: Session, competition: Competition) -> list[Submission]:
    """Return the finals of all teams at the deadline: those that a team marked, or else its best valid ones.

    A marked submission is taken even if it is disqualified, so that reinstating it restores the target.
    Submissions scored with versions that do not count are never taken.
    """
    max_finals = phases.get_timetable(competition).ranking.finals
    valid = session.execute(
        # Load one number instead of the verdict: a contest has thousands, and the clock holds the lock.
        select(Submission, Evaluation.verdict["overall"].as_float())
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .join(Submission.team)
        .where(Submission.competition_id == competition.id, Evaluation.state == State.SCORED)
        .where(~Team.baseline, _has_same_versions(competition.scored_by))
        .order_by(Submission.team_id)
    )
    by_team = groupby(
        (Candidate(*fields) for fields in valid), key=lambda candidate: candidate.submission.team_id
    )
    return [
        final
        for _, team_candidates in by_team
        for final in _choose_team_finals(list(team_candidates), max_finals)
    ]


def _choose_team_finals(team_candidates: Sequence[Candidate], max_finals: int) -> list[Submission]:
    """Return a team's best marked submissions, or its best qualified ones if it marked none.

    More than ``max_finals`` may be marked if the limit was lowered later.
    """
    marked = [candidate for candidate in team_candidates if candidate.submission.final]
    qualified = [candidate for candidate in team_candidates if candidate.submission.disqualified_at is None]
    return [
        candidate.submission
        for candidate in sorted(marked or qualified, key=lambda item: item.sort_key)[:max_finals]
    ]


def _has_same_versions(scored_by: Mapping[str, str]) -> ColumnElement[bool]:
    """Build the condition that a verdict contains all parts that count, in these versions.

    It is always true if no versions are recorded. The database evaluates it on the stored JSON.
    """
    parts: dict[str, dict[str, Any]] = {"measures": {}, "attackers": {}}
    for name, version in scored_by.items():
        kind, _, part = name.partition(".")
        if kind in parts:
            parts[kind][part] = {"version": int(version)}
    return cast(Evaluation.verdict, JSONB).contains(parts) if scored_by else true()
