"""The laws that a broken contest is held to: an unbroken one keeps them, and each harm is found."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from anoncup.tracks.linkage.permutation import secret_csv
from app.db.models import Attempt, AuditEntry, Evaluation, Guess, Opening, Secret, State, Submission, Target
from app.db.transaction import transaction
from app.services.contests.phases import ANONYMIZATION
from tests.faults import boards
from tests.faults.calls import Caller, Calls, wrong_in
from tests.faults.canaries import Canaries
from tests.faults.laws import laws
from tests.faults.ledger import Ledger, Upload, guess, malformed, release
from tests.support.claimed_jobs import FAULT
from tests.support.contest import Contest, judge_everything
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


class Inside(TestClient):
    """The application in this process, which knows no time-out."""

    def request(self, method: str, url: Any, **more: Any) -> Response:
        more.pop("timeout", None)
        answer: Response = super().request(method, url, **more)
        return answer


@dataclass
class Played:
    """A small contest, played to its end by people who keep a ledger."""

    contest: Contest
    ledger: Ledger
    callers: dict[str, Caller]

    @classmethod
    def opened(cls, client: TestClient) -> "Played":
        contest = Contest.opened(client)
        arena = contest.arena
        tokens = {team: arena.team(team) for team in ("red", "blue")}
        rules = arena.get(f"{contest.path}/competition.toml").text
        ledger = Ledger(arena.slug, arena.organizer, tokens, arena.table, rules)
        calls = Calls("http://localhost", Canaries())
        callers = {}
        for who, token in boards.audiences(ledger).items():
            callers[who] = calls.caller(Random(0), token)
            callers[who].client.close()
            callers[who].client = Inside(client.app, base_url="http://localhost/api/v1")
        return cls(contest, ledger, callers)

    def send(self, upload: Upload) -> Upload:
        self.ledger.add(upload)
        answer = self.callers[upload.team].ask("POST", upload.path, key=upload.key, files=upload.parts)
        upload.answered(answer)
        return upload

    def play(self) -> None:
        for number in range(6):
            self.send(release(self.ledger, ("red", "blue")[number % 2], number))
        self.send(malformed(release(self.ledger, "red", 7)))
        cancelled = self.send(release(self.ledger, "blue", 8))
        self.callers["blue"].ask("POST", f"/submissions/{cancelled.id}/cancel")
        cancelled.cancelled = "yes"
        score_everything()
        self.contest.attack()
        self.guess()
        self.contest.close()

    def guess(self) -> None:
        known = {
            str(each.receipt["commitment"]): each for each in self.ledger.taken("release") if each.receipt
        }
        for team in ("red", "blue"):
            for target in self.contest.targets(team):
                if not target["own"]:
                    victim = known[target["commitment"]]
                    self.send(guess(team, 1, victim, target_id=target["id"]))
        judge_everything()

    def broken(self) -> list[str]:
        return list(laws(self.ledger, self.callers, closes=True))


@pytest.fixture
def played(client: TestClient) -> Iterator[Played]:
    made = Played.opened(client)
    with ExitStack() as open_ones:
        for caller in made.callers.values():
            open_ones.callback(caller.close)
        made.play()
        yield made


def lose(session: Session) -> None:
    lost = session.scalars(
        select(Submission.id).where(Submission.id.not_in(select(Target.submission_id))).limit(1)
    ).one()
    for table in (Evaluation, Secret):
        session.execute(delete(table).where(table.submission_id == lost))
    session.execute(delete(Submission).where(Submission.id == lost))


def of_a_submission(**values: Any) -> Callable[[Session], None]:
    def change(session: Session) -> None:
        chosen = session.scalars(select(Submission.id).limit(1)).one()
        session.execute(update(Submission).where(Submission.id == chosen).values(**values))

    return change


def of_a_scored_one(change: Callable[[Evaluation], None]) -> Callable[[Session], None]:
    def act(session: Session) -> None:
        change(session.scalars(select(Evaluation).where(Evaluation.state == State.SCORED).limit(1)).one())

    return act


def score_otherwise(evaluation: Evaluation) -> None:
    verdict = dict(evaluation.verdict or {})
    evaluation.verdict = verdict | {"utility": verdict["utility"] + 1e-9}


def fail(evaluation: Evaluation) -> None:
    evaluation.state, evaluation.failure = State.ERROR, FAULT


def cancel(evaluation: Evaluation) -> None:
    evaluation.state = State.CANCELLED


def miscount(session: Session) -> None:
    known = session.scalars(select(Submission).limit(1)).one()
    session.add(Attempt(team_id=known.team_id, user_id=known.user_id, phase=ANONYMIZATION))


def turn_again(session: Session) -> None:
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "finals.freeze")).one()
    plain = {"competition_id": entry.competition_id, "actor": entry.actor, "subject": entry.subject}
    session.add(AuditEntry(**plain, action=entry.action))


def replace_a_target(session: Session) -> None:
    opening, other = session.scalars(select(Opening).limit(2)).all()
    opening.salt = other.salt


def choose_another_final(session: Session) -> None:
    other = select(Submission.id).where(Submission.id.not_in(select(Target.submission_id))).limit(1)
    target = session.scalars(select(Target).order_by(Target.name).limit(1)).one()
    target.submission_id = session.scalars(other).one()


def misjudge(session: Session) -> None:
    found = session.scalars(select(Guess).limit(1)).one()
    found.correct = (found.correct or 0) + 1


HARMS: dict[str, tuple[Callable[[Session], None], str]] = {
    "a submission is lost": (lose, "and is not there"),
    "a submission is under another key": (of_a_submission(idempotency_key=str(uuid4())), "sent by nobody"),
    "a digit of a verdict": (of_a_scored_one(score_otherwise), "another verdict than the local score"),
    "an error": (of_a_scored_one(fail), "is ERROR (a fault of ours)"),
    "a cancellation": (of_a_scored_one(cancel), "nobody asked for it"),
    "a mark": (of_a_submission(final=True), "is final: True"),
    "an attempt too many": (miscount, "attempts in anonymization"),
    "a second turn": (turn_again, "in the log 2 times"),
    "a salt": (replace_a_target, "does not open"),
    "another final": (choose_another_final, "the finals were"),
    "a guess": (misjudge, "is SCORED with"),
}


def test_a_contest_in_which_nothing_breaks_keeps_every_law(played: Played) -> None:
    assert played.broken() == []


@pytest.mark.full
@pytest.mark.parametrize("harm", HARMS)
def test_each_harm_is_found(played: Played, harm: str) -> None:
    do, said = HARMS[harm]
    with transaction() as session:
        do(session)
    found = played.broken()
    assert any(said in each for each in found), found


@pytest.mark.full
def test_a_board_that_counts_otherwise_is_found(played: Played) -> None:
    played.ledger.uploads[-1].rows[:] = -1
    found = played.broken()
    assert any("the reidentification board of" in each for each in found), found


def test_a_secret_a_password_and_a_token_are_found_in_whatever_is_said() -> None:
    canaries, source = Canaries(), np.random.default_rng(1).permutation(50)
    canaries.plant("red", source)
    canaries.plant_word("correct horse", "a password")
    assert canaries.seen_in(b"... " + secret_csv(source)) == "the secret of red"
    assert canaries.seen_in(repr([int(each) for each in np.argsort(source)]).encode()) == "the secret of red"
    assert canaries.seen_in(b'{"password": "correct horse"}') == "a password"
    assert canaries.seen_in(secret_csv(np.random.default_rng(2).permutation(50))) is None
    canaries.lift([source])
    assert canaries.seen_in(secret_csv(source)) is None


@pytest.mark.parametrize(
    ("status", "kind", "content", "allowed"),
    [
        (200, "text/html", b"", True),
        (409, "application/problem+json", b"{}", True),
        (503, "application/problem+json", b'{"code": "database_unavailable"}', True),
        (503, "application/json", b'{"code": "database_unavailable"}', False),
        (503, "text/plain", b"Service Unavailable", False),
        (500, "application/problem+json", b'{"code": "internal_error"}', False),
        (502, "text/html", b"", False),
    ],
)
def test_a_fault_shows_as_a_503_that_says_why_and_as_nothing_else(
    status: int, kind: str, content: bytes, allowed: bool
) -> None:
    assert (wrong_in(status, kind, content) is None) == allowed
