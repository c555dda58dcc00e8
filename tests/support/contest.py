"""A contest of both phases to test in: its clock is moved through the competition's own file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import ColumnElement, select, update

from anoncup.competition.parser import parse_competition
from anoncup.geometry.arrays import IntArray
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Phase
from anoncup.tracks.linkage.permutation import guess_csv, source_from_secret
from anoncup.tracks.outcomes import Outcome
from app.config import get_settings
from app.db.models import Competition, Evaluation, Guess, State, Submission
from app.db.transaction import transaction
from tests.support.arena import ROWS, Arena, competition_file, noisy_release
from tests.support.uploads import score_everything
from workers import clock, judge, lifecycle

SECOND = """
[[phases]]
name = "reidentification"
start = {start}
end = {end}
"""


@contextmanager
def held(others: ColumnElement[bool]) -> Iterator[None]:
    """While it lasts no worker takes these evaluations: somebody else is just about to."""
    with transaction() as session:
        session.scalars(select(Evaluation.id).where(others).with_for_update()).all()
        yield


def two_phase_file(slug: str = "small", *, more: str = "", notice: int = 0) -> str:
    """Open for a day, then a day of pause, then a day of attacks; a reveal waits for no notice."""
    now = datetime.now(UTC)
    start, end = ((now + timedelta(days=days)).isoformat() for days in (2, 3))
    return competition_file(slug, more=more, notice=notice) + SECOND.format(start=start, end=end)


@dataclass
class Contest:
    """An arena with a second phase; ``secrets`` are the source indices by submission."""

    arena: Arena
    secrets: dict[str, IntArray] = field(default_factory=dict)
    seeds: int = 0

    @classmethod
    def opened(cls, client: TestClient, *, slug: str = "small", more: str = "", notice: int = 0) -> "Contest":
        return cls(Arena.opened(client, slug=slug, file=two_phase_file(slug, more=more, notice=notice)))

    @property
    def path(self) -> str:
        return f"/competitions/{self.arena.slug}"

    def submit(self, team: str, *, scored: bool = True) -> str:
        """The identifier of a new valid submission."""
        self.seeds += 1
        table, secret = noisy_release(self.seeds, self.arena.table)
        answer = self.arena.submit(team, anonymized=table, secret=secret)
        assert answer.status_code == 202, answer.text
        identifier = str(answer.json()["id"])
        self.secrets[identifier] = source_from_secret(secret, originals=ROWS, anonymized=ROWS)
        if scored:
            score_everything()
        return identifier

    def move(self, **hours: Sequence[float]) -> None:
        """Give the phases windows, in hours from now."""
        now = datetime.now(UTC)
        with transaction() as session:
            row = session.scalars(select(Competition).where(Competition.slug == self.arena.slug)).one()
            windows = [
                Phase(phase.name, *(now + timedelta(hours=at) for at in hours.get(phase.name, ())))
                if phase.name in hours
                else phase
                for phase in parse_competition(row.file).phases
            ]
            row.file = with_phases(row.file, windows)

    def between(self) -> None:
        self.move(anonymization=(-3, -2), reidentification=(1, 2))
        turn()

    def attack(self) -> None:
        """Into the second phase, by way of the clock."""
        self.move(anonymization=(-3, -2), reidentification=(-1, 1))
        turn()

    def close(self) -> None:
        self.move(reidentification=(-1, -0.5))
        judge_everything()
        turn()

    def targets(self, team: str) -> list[dict[str, Any]]:
        answer = self.arena.get(f"{self.path}/targets", token=self.arena.team(team))
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found

    def target_of(self, submission: str) -> dict[str, Any]:
        """The target that a submission became, as organizers see it."""
        owner = self.arena.get(f"/submissions/{submission}").json()["commitment"]
        listed: list[dict[str, Any]] = self.arena.get(f"{self.path}/targets").json()
        return next(target for target in listed if target["commitment"] == owner)

    def guess(self, team: str, target: str, content: bytes, *, key: str | None = None) -> Response:
        headers = {"Authorization": f"Bearer {self.arena.team(team)}"}
        headers |= {"Idempotency-Key": key} if key else {}
        answer: Response = self.arena.client.post(
            f"/api/v1/targets/{target}/guesses", headers=headers, files={"guess": ("g.csv", content)}
        )
        return answer

    def right_on(self, submission: str, rows: int) -> bytes:
        """A guess that is right on the first ``rows`` rows and abstains on the others."""
        guess = np.full(ROWS, -1)
        guess[:rows] = self.secrets[submission][:rows]
        return guess_csv(guess)

    def guessed(self, team: str, submission: str, rows: int) -> str:
        """The identifier of a judged guess that identifies ``rows`` rows."""
        target = self.target_of(submission)["id"]
        answer = self.guess(team, target, self.right_on(submission, rows))
        assert answer.status_code == 202, answer.text
        judge_everything()
        return str(answer.json()["id"])

    def board(self, which: str = "anonymization", *, team: str | None = None, organizer: bool = False) -> Any:
        """A board as a visitor, a team or the organizer gets it."""
        path = f"/api/v1{self.path}/boards/{which}"
        token = self.arena.organizer if organizer else self.arena.team(team) if team else None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = self.arena.client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def boards(self) -> dict[str, Any]:
        """All three as a visitor gets them."""
        return {which: self.board(which) for which in ("anonymization", "reidentification", "matrix")}

    def organize(self, path: str, **body: Any) -> Response:
        return self.arena.post(path, json=body or None)

    def state(self) -> str:
        return str(self.arena.client.get(f"/api/v1{self.path}").json()["state"])


class Here:
    """The long work of a turn, done in this process."""

    def send(self, competition_id: UUID) -> None:
        lifecycle.work(competition_id)

    def failed(self) -> list[UUID]:
        return []

    def dismiss(self) -> None:
        pass


def turn() -> None:
    """Rounds of the clock until nothing more is due: freeze and write; publish, close and open; reveal."""
    hands = clock.Clock(get_settings(), Here())
    for _ in range(3):
        hands.turn_all()


def judge_everything() -> None:
    with transaction() as session:
        waiting = list(session.scalars(select(Guess.id).where(Guess.state == State.QUEUED)))
    for identifier in waiting:
        judge.judge(str(identifier))


def dated(submission: str, received: datetime, *, ended: datetime | None = None) -> None:
    """Let a scored submission have arrived then, and its first scoring have ended then or a second later."""
    identifier, ended = UUID(submission), ended or received + timedelta(seconds=1)
    first = Evaluation.submission_id == identifier, Evaluation.rescore_id.is_(None)
    with transaction() as session:
        session.execute(update(Submission).where(Submission.id == identifier).values(received_at=received))
        session.execute(update(Evaluation).where(*first).values(created_at=received, finished_at=ended))


def competition_row(slug: str = "small") -> Competition:
    with transaction() as session:
        return session.scalars(select(Competition).where(Competition.slug == slug)).one()


def competition_id(slug: str = "small") -> UUID:
    return competition_row(slug).id


def data() -> Any:
    return get_settings().data


def linked(correct: int, rows: int = ROWS) -> dict[str, Any]:
    """What a guess came to that is right on so many rows, as a worker records it."""
    outcome = Outcome(correct / rows, correct=correct, trials=rows)
    return {name: value for name, value in asdict(outcome).items() if value is not None}
