"""Standings by ranking functions of packages: workers run them in the sandbox, and boards show the result."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.boards import standing_updates
from app.boards.fold import TableRows
from app.boards.models import Standing
from app.boards.standing_updates import StaleClaim
from app.config import get_settings
from app.core.db.models import StaleStanding
from app.core.db.transaction import BEGINNING, END, transaction
from app.jobs import leases, queue
from tests.support.contest import Contest, load_round_id
from tests.support.database_rows import execute, load_all, load_team_id
from tests.support.page_requests import get_page
from tests.support.ranking_packages import (
    BEST_DEFENDERS_CODE,
    FUNCTIONS,
    build_ranking_toml,
    install_ranking_package,
    replace_code,
)
from tests.support.standings import load_standings, rebuild_standings
from tests.support.two_rounds import create_two_rounds, play_both_rounds
from workers import rank


@pytest.fixture(params=[False, True], ids=["service's interpreter", "own interpreter"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with install_ranking_package(tmp_path, BEST_DEFENDERS_CODE, has_own_interpreter=request.param) as file:
        yield file


@pytest.fixture
def own_package(tmp_path: Path) -> Iterator[Path]:
    with install_ranking_package(tmp_path, BEST_DEFENDERS_CODE, has_own_interpreter=True) as file:
        yield file


def create(client: TestClient, *functions: str) -> Contest:
    extra_toml = build_ranking_toml(functions or FUNCTIONS) + '[publication]\nfeedback = "immediate"\n'
    return Contest.create(client, extra_toml=extra_toml)


def list_marks() -> list[StaleStanding]:
    return list(load_all(select(StaleStanding)))


def compute_everything() -> None:
    """Compute the marked standings at once, also after a failure."""
    execute(update(StaleStanding).values(not_before=None))
    while any(mark.not_before is None for mark in list_marks()):
        rank.compute_next()


def play(contest: Contest) -> None:
    """Let three teams submit, and attack each other with different success."""
    red, blue, green = contest.publish_targets("red", "blue", "green")
    for team, submission, correct in (
        ("red", blue, 9),
        ("red", green, 4),
        ("blue", red, 3),
        ("blue", green, 7),
        ("green", red, 1),
    ):
        contest.submit_correct_guess(team, submission, correct)


def list_scores(contest: Contest, board: str) -> dict[str, tuple[Any, ...]]:
    answer = contest.arena.get(f"{contest.path}/boards/{board}").json()
    return {row["team"]: (row["rank"], row.get("score"), row.get("parts")) for row in answer["rows"]}


def test_attacks_on_the_best_defenders_rank_the_teams(client: TestClient, package: Path) -> None:
    contest = create(client)
    play(contest)
    # The most that others found is 3 of red and 7 of green, the two best defenders, and 9 of blue.
    assert list_scores(contest, "reidentification") == {
        "blue": (1, 10.0, "3 + 7"),
        "green": (2, 8.0, "1 + 7"),
        "red": (3, 7.0, "3 + 4"),
    }
    scores = list_scores(contest, "anonymization")
    assert {team: parts for team, (_, _, parts) in scores.items()} == dict.fromkeys(scores, "100 - 50 E")
    assert list_marks() == []


def test_rebuilt_standings_are_the_stored_ones(
    client: TestClient, own_package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create(client)
    play(contest)
    stored = load_standings()
    monkeypatch.setattr(rank, "MAX_MOMENTS", 2)
    rebuild_standings()
    assert load_standings() == stored  # the last state, until a worker has computed them
    compute_everything()
    assert load_standings() == stored


def test_parts_are_shown_where_scores_are_exact(client: TestClient, own_package: Path) -> None:
    contest = create(client)
    play(contest)

    def read(path: str, team: str | None) -> str:
        return contest.arena.get(f"{contest.path}/boards/{path}", team=team).text

    for board in ("anonymization", "reidentification"):
        own_rows = [
            row["team"]
            for row in contest.arena.get(f"{contest.path}/boards/{board}", team="red").json()["rows"]
            if "parts" in row
        ]
        assert own_rows == ["red"]
    assert read("reidentification.csv", None).splitlines()[0].endswith(",parts")
    assert read("reidentification.csv", "red").count("3 + 4") == 1
    page = get_page(contest.arena, f"{contest.path}/boards/reidentification", organizer=True).text
    assert '<span class="unit" title="3 + 7">3 + 7</span>' in page


FAILURES = {
    "import os; os._exit(0)": "the scoring process was killed",
    "while True: pass": "the boards took longer than the limit of 10 s",
    "return 7": "returned int instead of a sequence of Ranked",
    "return [Ranked(team, 1) for team in board.teams] * 2": "each team of the board once",
    "raise ZeroDivisionError": "ZeroDivisionError",
}
"""Code of a function, with a part of its failure."""


def write_function(file: Path, code: str) -> None:
    replace_code(file, f"def rank_releases(board):\n    {code}\n\nrank_attacks = rank_releases")


def test_failing_function_leaves_the_last_state(
    client: TestClient, own_package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create(client, "releases")
    contest.submit("red")
    stored = load_standings()
    for code, expected_reason in FAILURES.items():
        monkeypatch.setattr(rank, "LIMIT_S", 10.0 if "while" in code else 60.0)
        write_function(own_package, code)
        rebuild_standings()
        compute_everything()
        (mark,) = list_marks()
        assert mark.failure is not None, code
        message = str(mark.failure.message)
        assert mark.failure.code == "package_failed", message
        assert message.startswith("the ranking function of the package bestof "), message
        assert expected_reason in message
        assert load_standings() == stored
    contest.submit("blue")  # nothing is lost meanwhile
    assert load_standings() == stored
    dashboard = f"{contest.path}/organize"
    page = get_page(contest.arena, dashboard, organizer=True).text
    assert "The boards keep their state of" in page
    assert "ranking function of the package bestof failed" in page
    page = get_page(contest.arena, dashboard, organizer=True, language="ja").text
    assert "パッケージ bestof の順位付け関数が失敗しました" in page
    red = f"{contest.path}/teams/{load_team_id('red')}"
    assert contest.arena.post(f"{red}/disqualify").status_code == 200
    assert load_standings() == stored
    assert list_scores(contest, "anonymization") == {}
    assert contest.arena.post(f"{red}/reinstate").status_code == 200
    replace_code(own_package, BEST_DEFENDERS_CODE)
    compute_everything()
    assert list_scores(contest, "anonymization").keys() == {"red", "blue"}
    assert "The boards keep" not in get_page(contest.arena, dashboard, organizer=True).text


def test_scores_of_earlier_rounds_are_read_and_followed(client: TestClient, own_package: Path) -> None:
    rounds = create_two_rounds(
        client, extra_toml=build_ranking_toml(("attacks",)) + '[publication]\nfeedback = "immediate"\n'
    )
    play_both_rounds(rounds)
    compute_everything()
    assert list_scores(rounds["preliminary"], "reidentification")["blue"][1:] == (2.0, "0 + 2")
    assert list_scores(rounds["final"], "reidentification")["blue"][1:] == (4.0, "0 + 2 + 2")
    assert list_scores(rounds["final"], "reidentification")["late"][1:] == (2.0, "0 + 2")


@pytest.fixture
def marked_round(client: TestClient) -> Contest:
    """A round without functions whose standings are marked as stale."""
    contest = Contest.create(client)
    contest.submit("red")
    with transaction() as session:
        standing_updates.mark_stale(session, load_round_id(), since=BEGINNING)
    return contest


def claim_next() -> StaleClaim | None:
    with transaction() as session:
        return standing_updates.claim_stale(session)


def end_lease() -> None:
    """Let the lease end, as if the worker had been killed some time ago."""
    execute(update(StaleStanding).values(leased_until=datetime.now(UTC)))


def store(claim: StaleClaim) -> None:
    """Store for a worker that there are no standings at all."""
    with transaction() as session:
        standing_updates.store_claimed(session, claim, [TableRows(Standing, [])], until=END)


def test_change_during_a_claim_is_not_lost(marked_round: Contest) -> None:
    later = datetime.now(UTC)
    claim = claim_next()
    assert claim is not None
    assert claim.since == BEGINNING
    with transaction() as session:
        standing_updates.mark_stale(session, claim.round_id, since=later)
    assert claim_next() is None
    store(claim)
    second_claim = claim_next()
    assert second_claim is not None
    assert second_claim.since == later


def test_verdict_while_a_worker_computes_is_not_undone(marked_round: Contest) -> None:
    claim, stored = claim_next(), load_standings()
    assert claim is not None
    marked_round.submit("blue")
    assert load_standings() == stored
    store(claim)
    rank.compute_next()
    assert load_team_id("blue") in load_all(select(Standing.team_id))
    assert list_marks() == []


def test_claim_of_a_dead_worker_is_taken_over_and_its_result_dropped(marked_round: Contest) -> None:
    first_claim, stored = claim_next(), load_standings()
    assert first_claim is not None
    assert stored != []
    end_lease()
    no_messages = dict.fromkeys(queue.QUEUES, 0)
    with transaction() as session:
        requeued = leases.requeue_unattended(session, waiting_messages=no_messages)
        requeued_again = leases.requeue_unattended(session, waiting_messages=no_messages | {queue.SCORE: 1})
    assert (requeued, requeued_again) == ({queue.SCORE: 1}, {})
    second_claim = claim_next()
    assert second_claim is not None
    assert second_claim.since == BEGINNING
    store(first_claim)
    end_lease()
    rank.compute_next()
    store(second_claim)
    assert (list_marks(), load_standings()) == ([], stored)


def test_lost_workers_do_not_end_the_job(marked_round: Contest) -> None:
    for _ in range(get_settings().scoring_attempts + 1):
        assert claim_next() is not None
        end_lease()
    rank.compute_next()
    assert list_marks() == []
