"""What a team did in one round does not count in another round of its competition."""

from datetime import UTC, datetime
from uuid import UUID

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update

from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.toml_text import replace_tables
from app.competitions.phases import ANONYMIZATION, REIDENTIFICATION
from app.core.db.models import Round, Submission, Team
from app.core.db.transaction import transaction
from app.submissions import attempts, quota
from app.submissions.models import Attempt, Grant
from tests.support.contest import Contest, load_round_id
from tests.support.database_rows import execute


def add_round(contest: Contest) -> tuple[UUID, UUID]:
    """Add a round in which nothing has happened. Return the ids of the first round and of the new one."""
    first_id = load_round_id(contest.arena.slug)
    with transaction() as session:
        first = session.get_one(Round, first_id)
        competition, scheduled = first.competition, first.rules.phases
        file = competition.file.replace("format = 1", "format = 2")
        file = replace_tables(file, "phases", '[[rounds]]\nname = "first"\n[[rounds]]\nname = "final"\n')
        competition.file, first.name = replace_round_phases(file, "first", scheduled), "first"
        new_round = Round(competition=competition, name="final", position=1, scales={}, original={})
        session.add(new_round)
        session.flush()
        return first_id, new_round.id


def load_caps(round_id: UUID, team_name: str, phase: str) -> dict[str, tuple[int, int]]:
    """Return used number and limit of each cap; in the second phase also the limit of guesses on a target."""
    with transaction() as session:
        round_ = session.get_one(Round, round_id)
        team_id = session.scalars(select(Team.id).where(Team.name == team_name)).one()
        caps = quota.load_caps(session, round_, team_id, phase, datetime.now(UTC))
        guess_limit = quota.load_guess_limit(session, round_, team_id)
        return {cap.name: (cap.used, cap.limit) for cap in caps} | {"guesses": (0, guess_limit)}


def test_caps_and_grants_are_those_of_the_round(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.arena.get_team_token("blue")
    (red_submission,) = contest.publish_targets("red")
    contest.submit_correct_guess("blue", red_submission, 3)
    round_id, other_id = add_round(contest)
    with transaction() as session:
        for team_id in session.scalars(select(Team.id)).all():
            for cap in ("valid_total", "attempts_per_day", "guesses_per_target"):
                session.add(Grant(round_id=round_id, team_id=team_id, cap=cap, amount=2))
        # A refused guess counts as an attempt.
        blue_attempts = select(Attempt.user_id, Attempt.team_id).where(Attempt.phase == REIDENTIFICATION)
        user_id, blue_id = session.execute(blue_attempts).one()
        session.add(Attempt(round_id=round_id, team_id=blue_id, user_id=user_id, phase=REIDENTIFICATION))
    assert load_caps(round_id, "red", ANONYMIZATION) == {
        "valid_per_day": (1, 10),
        "valid_total": (1, 102),
        "attempts_per_day": (1, 52),
        "attempts_total": (1, 500),
        "guesses": (0, 5),
    }
    assert load_caps(other_id, "red", ANONYMIZATION) == {
        "valid_per_day": (0, 10),
        "valid_total": (0, 100),
        "attempts_per_day": (0, 50),
        "attempts_total": (0, 500),
        "guesses": (0, 3),
    }
    assert load_caps(round_id, "blue", REIDENTIFICATION)["attempts_total"] == (1, 500)
    assert load_caps(other_id, "blue", REIDENTIFICATION)["attempts_total"] == (0, 500)


def test_unfinished_uploads_belong_to_their_round(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.submit("red")
    round_id, other_id = add_round(contest)
    with transaction() as session:
        session.execute(update(Attempt).values(ended_at=None, key="same"))
        team = session.scalars(select(Team)).one()
        for identifier, is_pending in ((round_id, True), (other_id, False)):
            round_ = session.get_one(Round, identifier)
            assert attempts.has_pending_uploads(session, round_, ANONYMIZATION) == is_pending
            unfinished = attempts.find_unfinished(session, round_, team, ANONYMIZATION, "same")
            assert (unfinished is not None) == is_pending


def mark_final(contest: Contest, submission: str) -> Response:
    return contest.arena.put(f"/submissions/{submission}/final", team="red", json={"final": True})


def test_finals_are_counted_within_their_round(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml="[ranking]\nfinals = 1\n")
    first, second = contest.submit("red"), contest.submit("red")
    assert mark_final(contest, first).status_code == 200
    assert mark_final(contest, second).json()["code"] == "too_many_finals"
    _, other_id = add_round(contest)
    execute(update(Submission).where(Submission.id == UUID(first)).values(round_id=other_id))
    assert mark_final(contest, second).status_code == 200
