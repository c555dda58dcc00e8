"""The invariants of fault runs: an undisturbed contest meets them, and each kind of damage is reported."""

from collections.abc import Callable
from dataclasses import dataclass
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
        callers = expected_boards.create_callers(CallRecorder("http://localhost", Canaries()), ledger)
        for caller in callers.values():
            caller.client = InProcessClient(client.app, base_url="http://localhost/api/v1")
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
        releases = self.ledger.list_releases_by_commitment()
        for team in ("red", "blue"):
            for target in self.contest.list_targets(team):
                if not target["own"]:
                    victim = releases[target["commitment"]]
                    self.send(build_guess(team, 1, victim, target_id=target["id"]))
        judge_everything()

    def list_problems(self) -> list[str]:
        return list(check_competition(self.ledger, self.callers, is_played_to_end=True))


@pytest.fixture
def played_contest(client: TestClient) -> PlayedContest:
    contest = PlayedContest.open(client)
    contest.play()
    return contest


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
    query = select(RecordedVerdict).join(Evaluation, Evaluation.id == RecordedVerdict.evaluation_id)
    verdict = session.scalars(query.where(Evaluation.state == State.SCORED).limit(1)).one()
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
    fields = {"competition_id": entry.competition_id, "thing": entry.thing}
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


DAMAGES: dict[str, Callable[[Session], None]] = {
    "is ERROR (a fault of ours)": change_evaluation(mark_error),
    "nobody asked for it": change_evaluation(mark_cancelled),
    "another verdict than the local score": change_utility,
    "is final: True": change_submission(final=True),
    "attempts in anonymization": add_attempt,
    "in the log 2 times": repeat_audit_entry,
    "does not open": replace_salt,
    "the finals were": replace_target,
    "is SCORED with": change_guess_score,
}
"""Damages by the words with which they are reported."""
LOSSES: dict[str, Callable[[Session], None]] = {
    "and is not there": delete_submission,
    "sent by nobody": change_submission(idempotency_key=str(uuid4())),
}
"""Damages that keep other checks from being made."""


def test_every_kind_of_damage_of_a_contest_is_reported(played_contest: PlayedContest) -> None:
    ledger = played_contest.ledger

    def require_reports(damages: dict[str, Callable[[Session], None]]) -> None:
        for damage in damages.values():
            with transaction() as session:
                damage(session)
        problems = "\n".join(played_contest.list_problems())
        assert [words for words in damages if words not in problems] == [], problems

    def deny_receipt(_: Session) -> None:
        guess = ledger.list_accepted("guess")[0]
        guess.receipt, guess.refusal, guess.failed_tries = None, (404, "no_such_target"), 1

    def change_answers(_: Session) -> None:
        ledger.uploads[-1].rows[:] = -1

    assert played_contest.list_problems() == []
    require_reports(DAMAGES)
    require_reports({"the reidentification board of": change_answers})
    require_reports(LOSSES | {"was refused ((404": deny_receipt})


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
