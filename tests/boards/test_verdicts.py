"""The verdicts that boards read: which count, which numbers are shown, and how many are read."""

from dataclasses import replace
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from anoncup.evaluation.verdict_numbers import VerdictNumbers
from app.boards import anonymization, matrix, reidentification, verdicts
from app.competitions import visibility
from app.core.db.models import RecordedVerdict
from app.core.db.transaction import transaction
from tests.support.arena import Arena, load_principal
from tests.support.contest import Contest, judge_everything
from tests.support.database_rows import load_one
from tests.support.query_counter import QueryLog, log_queries
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SETTINGS = '[publication]\nfeedback = "immediate"\n[ranking]\nfinals = 1\n'
BOARDS = {
    "anonymization": anonymization.build_board,
    "reidentification": reidentification.build_board,
    "matrix": matrix.build_matrix,
}


def record_queries(contest: Contest, board_name: str) -> QueryLog:
    """Record the database queries of the organizer's view of a board."""
    with transaction() as session:
        organizer = load_principal(session, contest.arena.organizer_token)
        with log_queries() as queries:
            BOARDS[board_name](session, visibility.authorize_boards(session, organizer, contest.arena.slug))
    return queries


def open_attacked_contest(client: TestClient, slug: str, count: int) -> Contest:
    """Open a contest in which three teams send so many releases, and as many guesses on each target."""
    contest = Contest.create(client, slug=slug, extra_toml=SETTINGS)
    teams = ("red", "blue", "green")
    submissions = [contest.submit(team) for team in teams for _ in range(count)]
    contest.open_attacks()
    for team in teams:
        for target in contest.list_targets(team):
            for rows in range(0 if target["own"] else count):
                guess = contest.build_guess(submissions[0], rows + 1)
                assert contest.submit_guess(team, target["id"], guess).status_code == 202
    judge_everything()
    return contest


def test_a_board_reads_a_row_for_each_team_however_many_submissions_there_are(client: TestClient) -> None:
    """Both contests have the same teams and targets."""
    contests = [open_attacked_contest(client, *contest) for contest in (("small", 1), ("large", 3))]
    for board_name in BOARDS:
        small, large = (record_queries(contest, board_name) for contest in contests)
        assert len(small.statements) == len(large.statements) <= 12, board_name
        assert large.bytes_read < 1.5 * small.bytes_read, board_name
        assert large.reads_verdicts == (board_name != "reidentification")


def test_a_verdict_counts_if_it_has_all_parts_in_the_versions_of_the_rules(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    content = load_one(select(RecordedVerdict.content))
    measures = {f"measures.{name}": str(part["version"]) for name, part in content["measures"].items()}
    attackers = {f"attackers.{name}": str(part["version"]) for name, part in content["attackers"].items()}
    recorded = measures | attackers
    name = next(iter(attackers))
    cases = {
        True: ({}, recorded, {name: recorded[name]}, recorded | {"distances.gower": "9"}),
        False: (recorded | {name: "9"}, recorded | {"attackers.gone": "1"}, {"measures.gone": "1"}),
    }
    for counts, all_versions in cases.items():
        for versions in all_versions:
            query = select(func.count()).select_from(RecordedVerdict)
            assert load_one(query.where(verdicts.has_same_versions(versions))) == counts, versions


def test_uncounted_values_of_older_versions_are_removed() -> None:
    older = VerdictNumbers(
        utility=0.5,
        security=0.25,
        measures={"loss": 3.0, "more": 4.0},
        attackers={"near": 0.25, "late": 0.75},
        correct={"near": 1, "late": 3},
        versions={"measures.loss": "1", "measures.more": "9", "attackers.near": "1", "attackers.late": "1"},
    )
    newer = replace(older, versions={**older.versions, "measures.more": "10", "attackers.late": "2"})
    first, second = UUID(int=1), UUID(int=2)
    assert verdicts.drop_older_versions({first: older, second: newer}) == {
        first: replace(older, measures={"loss": 3.0}, attackers={"near": 0.25}, correct={"near": 1}),
        second: newer,
    }
    assert verdicts.drop_older_versions({first: older}) == {first: older}
