"""The cache of verdicts: boards need few and short queries and never show outdated numbers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from app.db.models import Evaluation, State, Team
from app.db.transaction import transaction
from app.services.accounts import names, tokens
from app.services.boards import anonymization, matrix, reidentification, verdicts
from app.services.boards.verdicts import EvaluationKey, NumbersCache, VerdictNumbers
from app.services.contests import visibility
from app.services.submissions import evaluations
from tests.support import large_contest
from tests.support.contest import Contest
from tests.support.database_rows import execute, load_one, load_team_id
from tests.support.job_claims import claim_evaluation
from tests.support.large_contest import ContestSize
from tests.support.query_counter import QueryLog, log_queries
from tests.support.rescores import (
    apply_rescore,
    build_lenient_file,
    build_reweighted_file,
    build_strict_file,
)
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SMALL_SIZE = ContestSize(teams=6, submissions_per_team=3, targets=8, attackers=4, guesses_per_target=2)
LARGE_SIZE = ContestSize(teams=24, submissions_per_team=6, targets=30, attackers=12, guesses_per_target=3)
IMMEDIATE_FEEDBACK = '[publication]\nfeedback = "immediate"'
BOARDS = {
    "anonymization": anonymization.build_board,
    "reidentification": reidentification.build_board,
    "matrix": matrix.build_matrix,
}


def record_queries(contest: Contest, board_name: str) -> QueryLog:
    """Record the database queries of the organizer's view of a board."""
    with transaction() as session:
        organizer = tokens.authenticate(session, contest.arena.organizer_token)
        with log_queries() as queries:
            BOARDS[board_name](session, visibility.authorize_boards(session, organizer, contest.arena.slug))
    return queries


def open_filled_contest(client: TestClient, size: ContestSize, slug: str) -> Contest:
    contest = Contest.create(client, slug=slug, extra_toml=IMMEDIATE_FEEDBACK)
    large_contest.fill(contest, size)
    return contest


@pytest.mark.parametrize("board_name", BOARDS)
def test_board_queries_do_not_grow_with_the_number_of_submissions(
    client: TestClient, board_name: str
) -> None:
    small_contest, large_contest = (
        open_filled_contest(client, SMALL_SIZE, "small"),
        open_filled_contest(client, LARGE_SIZE, "large"),
    )
    verdicts.numbers_cache.clear()
    uncached_queries = record_queries(large_contest, board_name)
    for contest in (small_contest, large_contest):
        record_queries(contest, board_name)
    small_queries, large_queries = (
        record_queries(small_contest, board_name),
        record_queries(large_contest, board_name),
    )
    assert len(small_queries.statements) == len(large_queries.statements) <= 10
    assert len(uncached_queries.statements) <= len(large_queries.statements) + 1
    assert not large_queries.reads_verdicts
    row_count = LARGE_SIZE.teams * LARGE_SIZE.submissions_per_team + LARGE_SIZE.targets * (
        1 + LARGE_SIZE.attackers
    )
    assert large_queries.bytes_read < 16_000 + 200 * row_count
    assert uncached_queries.reads_verdicts == (board_name != "reidentification")


def test_board_reads_only_uncached_verdicts(client: TestClient) -> None:
    contest = open_filled_contest(client, replace(SMALL_SIZE, targets=0), "small")
    record_queries(contest, "anonymization")
    cached_queries = record_queries(contest, "anonymization")
    verdict = load_one(select(Evaluation.verdict).where(Evaluation.state == State.SCORED).limit(1))
    contest.submit("late")
    new_queries = record_queries(contest, "anonymization")
    assert new_queries.reads_verdicts
    assert new_queries.bytes_read - cached_queries.bytes_read < 2 * len(repr(verdict)) + 500


def test_cached_board_shows_changes_at_once(
    client: TestClient,
) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE_FEEDBACK)
    submission_ids = {team: contest.submit(team) for team in ("red", "blue", "green")}
    contest.submit("red")
    changes: tuple[Callable[[], object], ...] = (
        lambda: contest.post_as_organizer(f"/submissions/{submission_ids['red']}/disqualify"),
        lambda: contest.post_as_organizer(f"/submissions/{submission_ids['red']}/reinstate"),
        lambda: contest.post_as_organizer(f"{contest.path}/teams/{load_team_id('blue')}/disqualify"),
        lambda: contest.post_as_organizer(f"{contest.path}/teams/{load_team_id('blue')}/reinstate"),
        lambda: rename_team("green", "緑"),
        lambda: apply_rescore(contest, build_reweighted_file(contest)),
        lambda: apply_rescore(contest, build_strict_file(contest)),
        lambda: apply_rescore(contest, build_lenient_file(contest)),
        lambda: contest.submit("blue"),
        contest.open_attacks,
        lambda: contest.submit_correct_guess("blue", submission_ids["red"], 30),
        lambda: contest.post_as_organizer(f"{contest.path}/teams/{load_team_id('red')}/disqualify"),
        lambda: contest.post_as_organizer(f"{contest.path}/teams/{load_team_id('red')}/reinstate"),
        contest.close_attacks,
    )
    previous_boards = contest.get_boards()
    for number, change in enumerate(changes):
        change()
        current_boards = contest.get_boards()
        assert current_boards != previous_boards, number
        verdicts.numbers_cache.clear()
        assert contest.get_boards() == current_boards, number
        previous_boards = current_boards


def rename_team(name: str, new_name: str) -> None:
    execute(update(Team).where(Team.name == name).values(name=new_name, name_key=names.build_key(new_name)))


def test_verdicts_of_a_failed_transaction_are_not_cached(client: TestClient) -> None:
    """The same evaluation may get another verdict later."""
    contest = Contest.create(client)
    contest.submit("blue")
    contest.submit("red", score=False)
    with transaction() as session:
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.state == State.SCORED)).one()
        queued_id = session.scalars(select(Evaluation.id).where(Evaluation.state == State.QUEUED)).one()
    assert verdict is not None
    with transaction() as session:
        claim = claim_evaluation(session, queued_id)
        evaluations.record_verdict(session, claim, verdict=verdict | {"utility": 0.25}, scorer="failing")
        session.flush()
        assert 0.25 in {
            row.utility
            for row in anonymization.build_board(
                session, visibility.authorize_boards(session, None, "small")
            ).rows
        }
        session.rollback()
    score_everything()
    rows = {row["team"]: row["utility"] for row in contest.get_board()["rows"]}
    assert set(rows) == {"red", "blue"}
    assert rows["red"] != 0.25


def make_verdict_numbers() -> VerdictNumbers:
    return VerdictNumbers(0.5, 0.5, 0.0, (), {}, {}, {}, {}, {}, {})


def make_evaluation_keys(count: int) -> list[EvaluationKey]:
    return [(uuid4(), datetime.now(UTC)) for _ in range(count)]


def test_cache_keeps_the_most_recently_used_verdicts() -> None:
    cache, keys = NumbersCache(3), make_evaluation_keys(5)
    cache.store({key: make_verdict_numbers() for key in keys[:3]})
    cache.get(keys[:1])
    cache.store({key: make_verdict_numbers() for key in keys[3:]})
    assert set(cache.get(keys)) == {keys[0], keys[3], keys[4]}


def test_cache_is_thread_safe() -> None:
    cache, keys = NumbersCache(50), make_evaluation_keys(200)

    def use_cache(start: int) -> int:
        for step in range(300):
            own_keys = keys[(start * 37 + step) % 150 :][:50]
            cache.store({key: make_verdict_numbers() for key in own_keys})
            assert set(cache.get(own_keys)) <= set(own_keys)
        return len(cache.entries)

    with ThreadPoolExecutor(8) as pool:
        assert max(pool.map(use_cache, range(8))) <= 50
    assert len(cache.get(keys)) == 50


def test_changing_a_board_does_not_change_the_cache(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.submit("red")
    original_board = contest.get_board(organizer=True)
    with transaction() as session:
        organizer = tokens.authenticate(session, contest.arena.organizer_token)
        (row,) = anonymization.build_board(
            session, visibility.authorize_boards(session, organizer, "small")
        ).rows
    row.measures.clear()
    row.attackers.clear()
    assert contest.get_board(organizer=True) == original_board
