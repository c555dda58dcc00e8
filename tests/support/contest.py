"""A contest with both phases. Tests move its phases by rewriting the competition file."""

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

from anoncup.competition.parser import parse_rounds
from anoncup.geometry.arrays import IntArray
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.tracks.linkage.permutation import parse_secret, write_guess
from anoncup.tracks.outcomes import Outcome
from app.config import get_settings
from app.core.db.models import Competition, Evaluation, Guess, Rejudgement, Round, State, Submission
from app.core.db.transaction import transaction
from tests.support.arena import ROWS, Arena, build_competition_toml, build_noisy_release
from tests.support.database_rows import load_all, load_one
from tests.support.standings import rebuild_standings
from tests.support.uploads import score_everything
from workers import clock, lifecycle, tasks

SECOND_PHASE = """
[[phases]]
name = "reidentification"
start = {start}
end = {end}
"""


@contextmanager
def lock_evaluations(condition: ColumnElement[bool]) -> Iterator[None]:
    """Lock these evaluations inside the block, so that no worker claims them."""
    with transaction() as session:
        session.scalars(select(Evaluation.id).where(condition).with_for_update()).all()
        yield


def build_two_phase_toml(slug: str = "small", *, extra_toml: str = "", notice_hours: int = 0) -> str:
    """Return a file with a day to submit, a day of pause and a day of attacks."""
    now = datetime.now(UTC)
    start, end = ((now + timedelta(days=days)).isoformat() for days in (2, 3))
    return build_competition_toml(
        slug, extra_toml=extra_toml, notice_hours=notice_hours
    ) + SECOND_PHASE.format(start=start, end=end)


@dataclass
class Contest:
    """An arena with a second phase; ``secrets`` are the source row indices by submission."""

    arena: Arena
    secrets: dict[str, IntArray] = field(default_factory=dict)
    last_seed: int = 0

    @classmethod
    def create(
        cls, client: TestClient, *, slug: str = "small", extra_toml: str = "", notice_hours: int = 0
    ) -> "Contest":
        return cls(
            Arena.create(
                client,
                slug=slug,
                file=build_two_phase_toml(slug, extra_toml=extra_toml, notice_hours=notice_hours),
            )
        )

    @property
    def path(self) -> str:
        return f"/competitions/{self.arena.slug}"

    def submit(self, team: str, *, score: bool = True) -> str:
        """Submit a valid release. Return its identifier."""
        self.last_seed += 1
        table, secret = build_noisy_release(self.last_seed, self.arena.table)
        response = self.arena.submit(team, anonymized=table, secret=secret)
        assert response.status_code == 202, response.text
        identifier = str(response.json()["id"])
        self.secrets[identifier] = parse_secret(secret, original_count=ROWS, anonymized_count=ROWS)
        if score:
            score_everything()
        return identifier

    def move_phases(self, **hours: Sequence[float]) -> None:
        """Set the windows of the phases, in hours from now."""
        now = datetime.now(UTC)
        slug, _, name = self.arena.slug.partition(".")
        with transaction() as session:
            row = session.scalars(select(Competition).where(Competition.slug == slug)).one()
            rules = parse_rounds(row.file)[name]
            windows = [
                Phase(phase.name, *(now + timedelta(hours=offset) for offset in hours.get(phase.name, ())))
                if phase.name in hours
                else phase
                for phase in rules.phases
            ]
            row.file = replace_round_phases(row.file, name, windows)

    def start_pause(self) -> None:
        self.move_phases(anonymization=(-3, -2), reidentification=(1, 2))
        run_clock()

    def open_attacks(self) -> None:
        """Move into the second phase and let the clock run."""
        self.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
        run_clock()

    def publish_targets(self, *teams: str) -> list[str]:
        """Submit a release for each team, let the second phase begin, and return the submissions."""
        submissions = [self.submit(team) for team in teams]
        self.open_attacks()
        return submissions

    def close_attacks(self) -> None:
        self.move_phases(reidentification=(-1, -0.5))
        judge_everything()
        run_clock()

    def list_targets(self, team: str) -> list[dict[str, Any]]:
        response = self.arena.get(f"{self.path}/targets", team=team)
        assert response.status_code == 200, response.text
        targets: list[dict[str, Any]] = response.json()
        return targets

    def find_target(self, submission: str) -> dict[str, Any]:
        """Return the target of a submission, as organizers see it."""
        commitment = self.arena.get(f"/submissions/{submission}").json()["commitment"]
        targets: list[dict[str, Any]] = self.arena.get(f"{self.path}/targets").json()
        return next(target for target in targets if target["commitment"] == commitment)

    def submit_guess(
        self,
        team: str,
        target: str,
        content: bytes,
        *,
        key: str | None = None,
        question: str | None = None,
    ) -> Response:
        headers = {"Authorization": f"Bearer {self.arena.get_team_token(team)}"}
        headers |= {"Idempotency-Key": key} if key else {}
        response: Response = self.arena.client.post(
            f"/api/v1/targets/{target}/guesses",
            headers=headers,
            files={"guess": ("g.csv", content)},
            data={} if question is None else {"question": question},
        )
        return response

    def build_guess(self, submission: str, rows: int) -> bytes:
        """Return a guess that is correct on the first ``rows`` rows and abstains on the others."""
        guess = np.full(ROWS, -1)
        guess[:rows] = self.secrets[submission][:rows]
        return write_guess(guess)

    def submit_correct_guess(self, team: str, submission: str, rows: int) -> str:
        """Submit and judge a guess that identifies ``rows`` rows. Return its identifier."""
        target = self.find_target(submission)["id"]
        response = self.submit_guess(team, target, self.build_guess(submission, rows))
        assert response.status_code == 202, response.text
        judge_everything()
        return str(response.json()["id"])

    def get_board(
        self, board: str = "anonymization", *, team: str | None = None, organizer: bool = False
    ) -> Any:
        """Return a board as a visitor, a team or the organizer sees it."""
        return self.get_board_response(board, team=team, organizer=organizer).json()

    def get_board_response(self, board: str, *, team: str | None = None, organizer: bool = False) -> Response:
        path = f"/api/v1{self.path}/boards/{board}"
        token = self.arena.organizer_token if organizer else self.arena.get_team_token(team) if team else None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response: Response = self.arena.client.get(path, headers=headers)
        assert response.status_code == 200, response.text
        return response

    def get_boards(self) -> dict[str, Any]:
        """Return all three boards as a visitor sees them."""
        return {board: self.get_board(board) for board in ("anonymization", "reidentification", "matrix")}

    def post_as_organizer(self, path: str, **body: Any) -> Response:
        return self.arena.post(path, json=body or None)

    def get_state(self) -> str:
        return str(self.arena.client.get(f"/api/v1{self.path}").json()["state"])


class InProcessTransitions(clock.TransitionPool):
    """A pool that does the long work in this process."""

    def submit(self, round_id: UUID) -> None:
        lifecycle.run_long_work(round_id)


def run_clock() -> None:
    """Run the clock three times: freeze and write files; publish, close and open; reveal."""
    phase_clock = clock.Clock(get_settings(), InProcessTransitions())
    for _ in range(3):
        phase_clock.advance_due_rounds()


def judge_everything() -> None:
    """Judge all queued guesses and rejudgements in this process."""
    for kind in (Guess, Rejudgement):
        for _ in load_all(select(kind.id).where(kind.state == State.QUEUED)):
            tasks.judge()


def set_submission_times(
    submission: str, received_at: datetime, *, finished_at: datetime | None = None
) -> None:
    """Set when a submission arrived and when its first evaluation ended (default: a second later)."""
    identifier, finished_at = UUID(submission), finished_at or received_at + timedelta(seconds=1)
    first_evaluation = Evaluation.submission_id == identifier, Evaluation.rescore_id.is_(None)
    with transaction() as session:
        session.execute(update(Submission).where(Submission.id == identifier).values(received_at=received_at))
        session.execute(
            update(Evaluation)
            .where(*first_evaluation)
            .values(created_at=received_at, finished_at=finished_at)
        )
    rebuild_standings()


def load_competition(slug: str = "small") -> Competition:
    return load_one(select(Competition).where(Competition.slug == slug))


def set_berlin_windows(**windows: tuple[str, str]) -> None:
    """Move the competition to Berlin's time zone, and set the windows of phases to these local times."""
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        phases = [
            Phase(phase.name, *map(datetime.fromisoformat, windows[phase.name]))
            if phase.name in windows
            else phase
            for phase in parse_rounds(row.file)[""].phases
        ]
        row.file = replace_phases(row.file.replace("Asia/Tokyo", "Europe/Berlin"), phases)
    rebuild_standings()


def load_round(slug: str = "small") -> Round:
    return load_one(select(Round).join(Competition).where(Competition.slug == slug))


def load_round_id(slug: str = "small") -> UUID:
    return load_round(slug).id


def build_outcome(correct: int, rows: int = ROWS) -> dict[str, Any]:
    """Return the outcome of a guess with this many correct rows, as a worker records it."""
    outcome = Outcome(correct / rows, correct=correct, trials=rows)
    return {name: value for name, value in asdict(outcome).items() if value is not None}
