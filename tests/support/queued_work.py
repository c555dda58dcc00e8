"""Competitions with queued and finished jobs, inserted into the tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import insert

from anoncup.schemas.fields import Role
from app.core.db.models import Competition, Evaluation, Round, State, Submission, Team, ThresholdReport, User
from app.core.db.transaction import transaction
from app.core.identity.names import build_key
from tests.support.arena import build_competition_toml

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True)
class QueueContest:
    competition_id: UUID
    round_id: UUID
    user_id: UUID
    team_ids: Sequence[UUID]


def create_contests(count: int, *, team_count: int) -> list[QueueContest]:
    new_contests = [
        QueueContest(uuid4(), uuid4(), uuid4(), [uuid4() for _ in range(team_count)]) for _ in range(count)
    ]
    with transaction() as session:
        for index, contest in enumerate(new_contests):
            slug, name = f"cup-{index}", f"organizer {contest.user_id}"
            file = build_competition_toml(slug)
            competition = Competition(id=contest.competition_id, slug=slug, file=file)
            session.add(Round(id=contest.round_id, competition=competition, scales={}, original={}))
            names = {"id": contest.user_id, "name": name, "name_key": build_key(name)}
            session.add(User(**names, password_hash="", role=Role.ORGANIZER))
            session.flush()
            session.add_all(
                Team(
                    id=team,
                    competition_id=contest.competition_id,
                    name=str(team),
                    name_key=build_key(str(team)),
                )
                for team in contest.team_ids
            )
    return new_contests


@dataclass(frozen=True)
class QueuedEvaluation:
    """An evaluation that is scheduled for a team, or for a rescore if ``party_id`` is given.

    ``queued_s`` and ``started_s`` are seconds after noon; ``started_s`` is None before the start.
    """

    contest: QueueContest
    team_id: UUID
    queued_s: float
    started_s: float | None = None
    state: State = State.QUEUED
    party_id: UUID | None = None


def compute_time(seconds: float | None) -> datetime | None:
    return None if seconds is None else NOON + timedelta(seconds=seconds)


_EMPTY_SUBMISSION: dict[str, Any] = {"comment": "", "files": {}, "uploaded_sha256": {}, "rows": 1} | {
    "sizes": {}, "remarks": [], "commitment": "", "quota_left": {}
}  # fmt: skip


def insert_evaluations(queued_evaluations: Iterable[QueuedEvaluation]) -> list[UUID]:
    submissions: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for evaluation in queued_evaluations:
        submission_id, created_at = uuid4(), compute_time(evaluation.queued_s)
        round_id, team_id = evaluation.contest.round_id, evaluation.team_id
        submissions.append(
            _EMPTY_SUBMISSION
            | {"id": submission_id, "round_id": round_id, "team_id": team_id, "received_at": created_at}
            | {"user_id": evaluation.contest.user_id}
        )
        rows.append(
            {"id": uuid4(), "round_id": round_id, "submission_id": submission_id, "created_at": created_at}
            | {"party_id": evaluation.party_id or team_id, "state": evaluation.state, "step_name": ""}
            | {"started_at": compute_time(evaluation.started_s)}
        )
    with transaction() as session:
        session.execute(insert(Submission), submissions)
        session.execute(insert(Evaluation), rows)
    return [row["id"] for row in rows]


def insert_reports(requests: Iterable[tuple[QueueContest, float]]) -> list[UUID]:
    """Insert threshold reports, requested at these seconds after noon. Return their identifiers."""
    rows: list[dict[str, Any]] = [
        {"id": uuid4(), "round_id": contest.round_id, "user_id": contest.user_id}
        | {"created_at": compute_time(requested_s), "file": "", "original": {}, "question": {}}
        for contest, requested_s in requests
    ]
    with transaction() as session:
        session.execute(insert(ThresholdReport), rows)
    return [row["id"] for row in rows]
