"""Sets of re-scores: previewed, applied or cancelled, while the contest goes on."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.db.models import Evaluation, Rescore, State
from app.db.transaction import transaction
from tests.recorded import verdict
from tests.support.accounts import acts, told
from tests.support.contest import Contest, competition_row, held, turn
from tests.support.rejudgings import (
    applied,
    begin,
    begun,
    end,
    end_set_evaluation,
    file_of,
    lenient,
    preview,
    reweighed,
    strict,
)
from tests.support.uploads import score_everything
from workers import score

pytestmark = pytest.mark.full


@pytest.fixture
def contest(client: TestClient) -> Contest:
    return Contest.opened(client)


def history(submission: str) -> list[tuple[bool, str]]:
    """All evaluations of a submission, the oldest first: whether it counts, and how it ended."""
    with transaction() as session:
        query = select(Evaluation).where(Evaluation.submission_id == UUID(submission))
        return [(one.current, one.state) for one in session.scalars(query.order_by(Evaluation.created_at))]


def test_a_set_changes_nothing_until_it_is_applied_and_then_all_at_once(contest: Contest) -> None:
    sent = [contest.submit(team) for team in ("red", "blue", "red")]
    before = contest.boards()
    shown = [contest.arena.get(f"/submissions/{one}").json() for one in sent]
    identifier = begun(contest, strict(contest))
    assert preview(contest, identifier)["state"] == "scoring"
    assert told(end(contest, identifier, "apply")) == (409, "rescore_scoring")
    score_everything()
    assert preview(contest, identifier)["state"] == "ready"
    assert contest.boards() == before
    assert [contest.arena.get(f"/submissions/{one}").json() for one in sent] == shown
    rows = preview(contest, identifier)["rows"]
    assert [row["submission_id"] for row in rows] == sent
    assert {(row["before"]["status"], row["after"]["status"]) for row in rows} == {("SCORED", "REJECTED")}
    assert {tuple(row["after"]["violations"]) for row in rows} == {("excessive_anonymization",)}
    assert {row["after"]["rank"] for row in rows} == {None}
    assert end(contest, identifier, "apply").json()["state"] == "applied"
    assert {row["rank"] for row in contest.board()["rows"]} == {None}
    assert contest.arena.get(f"/submissions/{sent[0]}").json()["status"] == "REJECTED"
    for word in ("apply", "cancel"):
        assert told(end(contest, identifier, word)) == (409, "rescore_ended")
    assert all(history(one) == [(False, "SCORED"), (True, "REJECTED")] for one in sent)
    assert "1e-07" in file_of(contest) or "0.0000001" in file_of(contest)


def test_the_ranks_of_the_preview_are_those_of_the_board_before_and_after(client: TestClient) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    sent = {team: contest.submit(team) for team in ("red", "blue", "green")}
    contest.attack()
    contest.guessed("blue", sent["red"], 40)
    for text in (reweighed(contest), strict(contest), lenient(contest)):
        before = ranks(contest)
        found = applied(contest, text)
        assert {row["team"]: row["before"]["rank"] for row in found["rows"]} == before
        assert {row["team"]: row["after"]["rank"] for row in found["rows"]} == ranks(contest)
    assert set(ranks(contest).values()) == {1, 2, 3}


def ranks(contest: Contest) -> dict[str, int | None]:
    return {row["team"]: row["rank"] for row in contest.board(organizer=True)["rows"]}


def test_a_rejected_target_stops_counting_and_comes_back_with_a_set_that_accepts_it(
    client: TestClient,
) -> None:
    contest = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    red = contest.submit("red")
    contest.submit("blue")
    contest.attack()
    contest.guessed("blue", red, 12)
    before = contest.boards()
    target, right = contest.target_of(red)["id"], contest.right_on(red, 1)
    applied(contest, strict(contest))
    assert contest.targets("blue") == [
        one | {"withdrawn": True} for one in contest.targets("blue") if one["own"]
    ]
    assert contest.guess("blue", target, right).status_code == 404
    assert all(row["identified"] is None for row in contest.board("reidentification")["rows"])
    assert contest.board("matrix")["targets"] == []
    applied(contest, lenient(contest))
    assert contest.boards() == before
    assert contest.guess("blue", target, right).status_code == 202
    assert history(red) == [(False, "SCORED"), (False, "REJECTED"), (True, "SCORED")]


def test_a_cancelled_set_leaves_everything_as_it_was(contest: Contest) -> None:
    red = contest.submit("red")
    before, file = contest.boards(), file_of(contest)
    identifier = begun(contest, strict(contest))
    assert end(contest, identifier, "cancel").json()["state"] == "cancelled"
    score_everything()
    assert history(red) == [(True, "SCORED"), (False, "CANCELLED")]
    assert (contest.boards(), file_of(contest)) == (before, file)
    for word in ("apply", "cancel"):
        assert told(end(contest, identifier, word)) == (409, "rescore_ended")
    assert [one["state"] for one in contest.arena.get(f"{contest.path}/rescores").json()] == ["cancelled"]
    assert [action for _, action, _ in acts()][-2:] == ["rescore.begin", "rescore.cancel"]


def test_an_applied_set_keeps_the_file_that_it_replaced_and_a_cancelled_one_none(contest: Contest) -> None:
    contest.submit("red")
    before = competition_row().file
    cancelled = begun(contest, reweighed(contest))
    assert end(contest, cancelled, "cancel").status_code == 200
    applied(contest, strict(contest))
    assert competition_row().file != before
    with transaction() as session:
        kept = session.scalars(select(Rescore.replaced_file).order_by(Rescore.created_at)).all()
    assert kept == [None, before]


def test_what_comes_in_while_a_set_is_open_is_scored_by_both(contest: Contest) -> None:
    contest.submit("red")
    identifier = begun(contest, strict(contest))
    score_everything()
    new = contest.submit("blue", scored=False)
    assert told(end(contest, identifier, "apply")) == (409, "rescore_scoring")
    score_everything()
    assert contest.arena.get(f"/submissions/{new}").json()["status"] == "SCORED"
    assert end(contest, identifier, "apply").status_code == 200
    assert history(new) == [(False, "SCORED"), (True, "REJECTED")]
    after = contest.submit("blue")
    assert history(after) == [(True, "REJECTED")]


def test_what_is_cancelled_while_a_set_is_open_stays_cancelled(contest: Contest) -> None:
    contest.submit("red")
    gone = contest.submit("blue", scored=False)
    identifier = begun(contest, strict(contest))
    path = f"/submissions/{gone}/cancel"
    assert contest.arena.post(path, token=contest.arena.team("blue")).json()["status"] == "CANCELLED"
    score_everything()
    found = preview(contest, identifier)
    assert (found["total"], found["state"]) == (1, "ready")
    assert end(contest, identifier, "apply").status_code == 200
    assert contest.arena.get(f"/submissions/{gone}").json()["status"] == "CANCELLED"


@pytest.mark.parametrize("scored", [True, False])
def test_a_set_that_failed_on_what_is_or_will_be_scored_is_not_applied(
    contest: Contest, scored: bool
) -> None:
    contest.submit("blue")
    red = contest.submit("red", scored=scored)
    identifier = begun(contest, strict(contest))
    end_set_evaluation(red, current=False)
    # all others of the set are scored; what the rules in force have still to score is not
    with held(Evaluation.rescore_id.is_distinct_from(UUID(identifier))):
        score.score()
    assert told(end(contest, identifier, "apply")) == (409, "rescore_failed")
    assert end(contest, identifier, "cancel").status_code == 200


def test_what_failed_before_may_succeed_by_a_set(contest: Contest) -> None:
    red = contest.submit("red", scored=False)
    end_set_evaluation(red, current=True)
    applied(contest, reweighed(contest))
    assert history(red) == [(False, "ERROR"), (True, "SCORED")]


def test_one_set_at_a_time_and_no_new_file_meanwhile(contest: Contest) -> None:
    contest.submit("red")
    contest.arena.team("blue")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: begin(contest, strict(contest)), range(4)))
    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409]
    assert {told(one)[1] for one in answers if one.status_code == 409} == {"rescore_open"}
    renamed = file_of(contest).replace("Small cup", "Little cup")
    refused = contest.arena.put(f"{contest.path}/competition.toml", content=renamed)
    assert told(refused) == (409, "rescore_open")
    (identifier,) = [one.json()["id"] for one in answers if one.status_code == 202]
    assert end(contest, identifier, "cancel").status_code == 200
    assert contest.arena.put(f"{contest.path}/competition.toml", content=renamed).status_code == 200


def test_data_columns_and_names_are_no_matter_of_a_set(contest: Contest) -> None:
    contest.submit("red")
    text = file_of(contest)
    for old, new in (('"small"', '"other"'), ('["income", "rent"]', '["rent", "income"]')):
        changed = text.replace(old, new)
        assert changed != text
        assert begin(contest, changed).status_code == 409
    for broken in ("", "\x00", "format = 2"):
        assert begin(contest, broken).status_code == 422
    assert contest.arena.get(f"{contest.path}/rescores").json() == []


def test_a_deadline_moved_while_a_set_is_open_stays_moved(contest: Contest) -> None:
    contest.submit("red")
    text = strict(contest)
    identifier = begun(contest, text)
    moved = (datetime.now(UTC) + timedelta(hours=5)).replace(microsecond=0)
    path = f"{contest.path}/phases/anonymization/extend"
    assert contest.organize(path, end=moved.isoformat()).status_code == 200
    score_everything()
    assert end(contest, identifier, "apply").status_code == 200
    assert moved.isoformat() in file_of(contest)


def test_a_set_begun_before_the_freeze_and_applied_after_it(contest: Contest) -> None:
    """The clock does not wait for a set, and the set cannot undo what the clock did."""
    red = contest.submit("red")
    identifier = begun(contest, strict(contest))
    contest.attack()
    assert contest.state() == "reidentification"
    score_everything()
    assert end(contest, identifier, "apply").status_code == 200
    assert contest.target_of(red)["withdrawn"]
    turn()
    assert contest.state() == "reidentification"


REJECTED = verdict(measures={}, attackers={})


def test_cancelling_a_submission_against_applying_a_set_never_loses_the_cancellation(
    contest: Contest,
) -> None:
    """Whichever is first: a submission whose team was told CANCELLED is cancelled."""
    team = contest.arena.team("red")
    for _ in range(6):
        gone = contest.submit("red", scored=False)
        identifier = begun(contest, strict(contest))
        with transaction() as session:
            session.execute(
                update(Evaluation)
                .where(Evaluation.rescore_id == UUID(identifier))
                .values(state=State.REJECTED, verdict=REJECTED)
            )
        with ThreadPoolExecutor(2) as pool:
            cancelling = pool.submit(contest.arena.post, f"/submissions/{gone}/cancel", token=team)
            applying = pool.submit(end, contest, identifier, "apply")
        told_state = cancelling.result().json().get("status")
        found = contest.arena.get(f"/submissions/{gone}").json()["status"]
        assert (told_state == "CANCELLED") == (found == "CANCELLED")
        assert applying.result().status_code == 200
        with transaction() as session:
            session.execute(update(Evaluation).where(Evaluation.state == "QUEUED").values(state="ERROR"))
