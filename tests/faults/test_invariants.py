"""The invariants of fault runs: an undisturbed contest meets them, and each kind of damage is reported."""

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

from anoncup.tracks.linkage.permutation import write_secret
from app.competitions.phases import ANONYMIZATION
from app.core.db.models import (
    AuditEntry,
    Evaluation,
    Guess,
    Opening,
    RecordedVerdict,
    Secret,
    State,
    Submission,
    Target,
)
from app.core.db.transaction import transaction
from app.submissions.models import Attempt
from tests.faults import expected_boards
from tests.faults.calls import Caller, CallRecorder, find_problem
from tests.faults.canaries import Canaries
from tests.faults.expected_boards import check_competition
from tests.faults.ledger import Ledger, LedgerUpload, build_guess, build_release, make_malformed
from tests.support.contest import Contest, judge_everything
from tests.support.job_claims import FAILURE
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


class InProcessClient(TestClient):
    """Client of the application in this process; ignores timeouts."""

    def request(self, method: str, url: Any, **options: Any) -> Response:
        options.pop("timeout", None)
        response: Response = super().request(method, url, **options)
        return response


@dataclass
class PlayedContest:
    """A small contest, played to its end with a ledger."""

    contest: Contest
    ledger: Ledger
    callers: dict[str, Caller]

    @classmethod
    def open(cls, client: TestClient) -> "PlayedContest":
        contest = Contest.create(client)
        arena = contest.arena
        tokens = {team: arena.get_team_token(team) for team in ("red", "blue")}
        rules = arena.get(f"{contest.path}/competition.toml").text
        ledger = Ledger(arena.slug, arena.organizer_token, tokens, arena.table, rules)
        recorder = CallRecorder("http://localhost", Canaries())
        callers = {}
        for audience, token in expected_boards.get_audience_tokens(ledger).items():
            callers[audience] = recorder.create_caller(Random(0), token)
            callers[audience].client.close()
            callers[audience].client = InProcessClient(client.app, base_url="http://localhost/api/v1")
        return cls(contest, ledger, callers)

    def send(self, upload: LedgerUpload) -> LedgerUpload:
        self.ledger.add(upload)
        reply = self.callers[upload.team].request("POST", upload.path, key=upload.key, files=upload.parts)
        upload.record_answer(reply)
        return upload

    def play(self) -> None:
        for number in range(6):
            self.send(build_release(self.ledger, ("red", "blue")[number % 2], number))
        self.send(make_malformed(build_release(self.ledger, "red", 7)))
        cancelled = self.send(build_release(self.ledger, "blue", 8))
        self.callers["blue"].request("POST", f"/submissions/{cancelled.id}/cancel")
        cancelled.cancelled = "yes"
        score_everything()
        self.contest.open_attacks()
        self.guess_targets()
        self.contest.close_attacks()

    def guess_targets(self) -> None:
        releases = {
            str(upload.receipt["commitment"]): upload
            for upload in self.ledger.list_accepted("release")
            if upload.receipt
        }
        for team in ("red", "blue"):
            for target in self.contest.list_targets(team):
                if not target["own"]:
                    victim = releases[target["commitment"]]
                    self.send(build_guess(team, 1, victim, target_id=target["id"]))
        judge_everything()

    def list_problems(self) -> list[str]:
        return list(check_competition(self.ledger, self.callers, is_played_to_end=True))


@pytest.fixture
def played_contest(client: TestClient) -> Iterator[PlayedContest]:
    contest = PlayedContest.open(client)
    with ExitStack() as exit_stack:
        for caller in contest.callers.values():
            exit_stack.callback(caller.close)
        contest.play()
        yield contest


def delete_submission(session: Session) -> None:
    submission_id = session.scalars(
        select(Submission.id).where(Submission.id.not_in(select(Target.submission_id))).limit(1)
    ).one()
    evaluation_ids = select(Evaluation.id).where(Evaluation.submission_id == submission_id)
    session.execute(delete(RecordedVerdict).where(RecordedVerdict.evaluation_id.in_(evaluation_ids)))
    for table in (Evaluation, Secret):
        session.execute(delete(table).where(table.submission_id == submission_id))
    session.execute(delete(Submission).where(Submission.id == submission_id))


def change_submission(**values: Any) -> Callable[[Session], None]:
    def apply(session: Session) -> None:
        scored_ids = select(Evaluation.submission_id).where(Evaluation.state == State.SCORED).limit(1)
        submission_id = session.scalars(scored_ids).one()
        session.execute(update(Submission).where(Submission.id == submission_id).values(**values))

    return apply


def change_evaluation(change: Callable[[Evaluation], None]) -> Callable[[Session], None]:
    def apply(session: Session) -> None:
        change(session.scalars(select(Evaluation).where(Evaluation.state == State.SCORED).limit(1)).one())

    return apply


def change_utility(session: Session) -> None:
    verdict = session.scalars(select(RecordedVerdict).limit(1)).one()
    verdict.content = verdict.content | {"utility": verdict.content["utility"] + 1e-9}


def mark_error(evaluation: Evaluation) -> None:
    evaluation.state, evaluation.failure = State.ERROR, FAILURE


def mark_cancelled(evaluation: Evaluation) -> None:
    evaluation.state = State.CANCELLED


def add_attempt(session: Session) -> None:
    submission = session.scalars(select(Submission).limit(1)).one()
    fields = {"round_id": submission.round_id, "team_id": submission.team_id, "user_id": submission.user_id}
    session.add(Attempt(**fields, phase=ANONYMIZATION))


def repeat_audit_entry(session: Session) -> None:
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "finals.freeze")).one()
    fields = {"competition_id": entry.competition_id, "actor": entry.actor, "subject": entry.subject}
    session.add(AuditEntry(**fields, action=entry.action))


def replace_salt(session: Session) -> None:
    opening, other_opening = session.scalars(select(Opening).limit(2)).all()
    opening.salt = other_opening.salt


def replace_target(session: Session) -> None:
    submission_ids = select(Submission.id).where(Submission.id.not_in(select(Target.submission_id))).limit(1)
    target = session.scalars(select(Target).order_by(Target.name).limit(1)).one()
    target.submission_id = session.scalars(submission_ids).one()


def change_guess_score(session: Session) -> None:
    guess = session.scalars(select(Guess).limit(1)).one()
    guess.correct = (guess.correct or 0) + 1


DAMAGES: dict[str, tuple[Callable[[Session], None], str]] = {
    "a submission is lost": (delete_submission, "and is not there"),
    "a submission is under another key": (change_submission(idempotency_key=str(uuid4())), "sent by nobody"),
    "a digit of a verdict": (change_utility, "another verdict than the local score"),
    "an error": (change_evaluation(mark_error), "is ERROR (a fault of ours)"),
    "a cancellation": (change_evaluation(mark_cancelled), "nobody asked for it"),
    "a mark": (change_submission(final=True), "is final: True"),
    "an attempt too many": (add_attempt, "attempts in anonymization"),
    "a second turn": (repeat_audit_entry, "in the log 2 times"),
    "a salt": (replace_salt, "does not open"),
    "another final": (replace_target, "the finals were"),
    "a guess": (change_guess_score, "is SCORED with"),
}


def test_undisturbed_contest_violates_no_invariant(played_contest: PlayedContest) -> None:
    assert played_contest.list_problems() == []


@pytest.mark.full
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_kind_of_damage_is_reported(played_contest: PlayedContest, damage: str) -> None:
    apply_damage, expected = DAMAGES[damage]
    with transaction() as session:
        apply_damage(session)
    problems = played_contest.list_problems()
    assert any(expected in problem for problem in problems), problems


@pytest.mark.full
def test_wrong_board_is_reported(played_contest: PlayedContest) -> None:
    played_contest.ledger.uploads[-1].rows[:] = -1
    problems = played_contest.list_problems()
    assert any("the reidentification board of" in problem for problem in problems), problems


@pytest.mark.full
def test_guess_at_an_unknown_target_that_is_stored_is_reported(played_contest: PlayedContest) -> None:
    guess = played_contest.ledger.list_accepted("guess")[0]
    guess.receipt, guess.refusal, guess.lost_tries = None, (404, "no_such_target"), 1
    problems = played_contest.list_problems()
    assert any("was refused ((404" in problem for problem in problems), problems


def test_canaries_are_found_in_any_content() -> None:
    canaries, source = Canaries(), np.random.default_rng(1).permutation(50)
    canaries.plant("red", source)
    canaries.plant_word("correct horse", "a password")
    assert canaries.find_leak(b"... " + write_secret(source)) == "the secret of red"
    assert canaries.find_leak(repr([int(row) for row in np.argsort(source)]).encode()) == "the secret of red"
    assert canaries.find_leak(b'{"password": "correct horse"}') == "a password"
    assert canaries.find_leak(write_secret(np.random.default_rng(2).permutation(50))) is None
    canaries.remove([source])
    assert canaries.find_leak(write_secret(source)) is None


@pytest.mark.parametrize(
    ("status", "kind", "content", "is_allowed"),
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
def test_faults_must_appear_as_503_with_a_code(
    status: int, kind: str, content: bytes, is_allowed: bool
) -> None:
    assert (find_problem(status, kind, content) is None) == is_allowed
