"""Competitions with queued and finished work, written straight into the tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import insert

from anoncup.schemas.roles import Role
from app.db.models import Competition, Evaluation, State, Submission, Team, ThresholdReport, User
from app.db.transaction import transaction
from app.services.accounts.names import columns
from tests.support.arena import competition_file

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Contest:
    competition: UUID
    user: UUID
    teams: Sequence[UUID]


def contests(number: int, *, teams: int) -> list[Contest]:
    made = [Contest(uuid4(), uuid4(), [uuid4() for _ in range(teams)]) for _ in range(number)]
    with transaction() as session:
        for place, one in enumerate(made):
            slug, name = f"cup-{place}", f"organizer {one.user}"
            file = competition_file(slug)
            session.add(Competition(id=one.competition, slug=slug, file=file, scales={}, original={}))
            known = {"id": one.user, "name": name, **columns(name)}
            session.add(User(**known, password_hash="", role=Role.ORGANIZER))
            session.flush()
            session.add_all(
                Team(id=team, competition_id=one.competition, name=str(team), **columns(str(team)))
                for team in one.teams
            )
    return made


@dataclass(frozen=True)
class Piece:
    """An evaluation of a team, or of the ``party`` that scores its submission again; ``at``: seconds after
    noon, when it was queued; ``begun``: when, or None."""

    contest: Contest
    team: UUID
    at: float
    begun: float | None = None
    state: State = State.QUEUED
    party: UUID | None = None


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else NOON + timedelta(seconds=seconds)


def evaluations(pieces: Iterable[Piece]) -> list[UUID]:
    submissions: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for piece in pieces:
        submission, at = uuid4(), moment(piece.at)
        shared: dict[str, Any] = {"competition_id": piece.contest.competition}
        submissions.append(
            shared
            | {"id": submission, "team_id": piece.team, "user_id": piece.contest.user, "received_at": at}
            | {
                "comment": "",
                "files": {},
                "sent": {},
                "rows": 1,
                "sizes": {},
                "remarks": [],
                "quota_left": {},
            }
        )
        rows.append(
            shared
            | {
                "id": uuid4(),
                "submission_id": submission,
                "party_id": piece.party or piece.team,
                "created_at": at,
            }
            | {"state": piece.state, "started_at": moment(piece.begun), "step_name": ""}
        )
    with transaction() as session:
        session.execute(insert(Submission), submissions)
        session.execute(insert(Evaluation), rows)
    return [row["id"] for row in rows]


def reports(asked: Iterable[tuple[Contest, float]]) -> list[UUID]:
    """Queued threshold reports of competitions, by the time they were asked for."""
    rows: list[dict[str, Any]] = [
        {"id": uuid4(), "competition_id": contest.competition, "user_id": contest.user}
        | {"created_at": moment(at), "file": "", "original": {}, "question": {}}
        for contest, at in asked
    ]
    with transaction() as session:
        session.execute(insert(ThresholdReport), rows)
    return [row["id"] for row in rows]
