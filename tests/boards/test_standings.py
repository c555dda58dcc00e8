"""Laws of the stored standings, in contests of random events."""

import threading
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text

from anoncup.rules.toml_text import replace_tables
from app.boards import standing_updates
from app.boards.facts import EarlierScore
from app.boards.load_facts import iter_public_scores
from app.core.db.models import AttackStanding, Evaluation, Guess, Round, Series, Standing, State, Target
from app.core.db.transaction import transaction
from app.core.pages import notation
from app.submissions import evaluations
from tests.support.database_rows import load_all, load_one
from tests.support.job_claims import claim_evaluation
from tests.support.live_contest import LiveContest
from tests.support.page_requests import get_page
from tests.support.random_contests import build_evaluation, build_verdict, compare_csv, unrecorded_versions
from tests.support.rankings import RANKINGS
from tests.support.standings import rebuild_standings
from tests.support.two_rounds import create_two_rounds
from tests.support.visitor_pages import parse_ranking
from tests.support.wait import poll_until

__all__ = ["unrecorded_versions"]  # a fixture of every test here

VIEWERS: tuple[dict[str, Any], ...] = ({}, {"team": "red"}, {"organizer": True})


def load_standings() -> list[tuple[Any, ...]]:
    """Return all rows of both tables."""
    with transaction() as session:
        return [
            tuple(row)
            for table in (Standing.__table__, AttackStanding.__table__)
            for row in session.execute(select(table).order_by(*table.primary_key))
        ]


def require_rebuilt_standings(event: object) -> None:
    """Compare the rows with those of standings that are computed again."""
    stored = load_standings()
    rebuild_standings()
    assert load_standings() == stored, event


def require_consistent_boards(live: LiveContest) -> None:
    """Compare the board, its CSV, its history and its page."""
    contest = live.contest
    for viewer in VIEWERS:
        board, history = (contest.get_board(name, **viewer) for name in ("anonymization", "history"))
        compare_csv("anonymization", board, contest.get_board_response("anonymization.csv", **viewer).text)
        steps = {team["team"]: team["steps"][-1] for team in history["teams"]}
        for name in ("overall", "utility", "security", "score"):
            assert {team: step[name] for team, step in steps.items() if step["overall"] is not None} == {
                row["team"]: row[name] for row in board["rows"] if row["overall"] is not None
            }, (viewer, name)
        lines = [
            line.split(",") for line in contest.get_board_response("history.csv", **viewer).text.splitlines()
        ]
        assert len(lines) == 1 + sum(len(team["steps"]) for team in history["teams"])
        page = get_page(live.arena, f"{live.path}/boards/anonymization", **viewer).text
        for row, cells in zip(board["rows"], parse_ranking(page), strict=True):
            assert row["overall"] is None or notation.format_score(row["overall"]) in cells


@pytest.mark.parametrize(
    ("ranking", "seed"),
    [
        ("formula that compares", 1),
        *(pytest.param(ranking, seed, marks=pytest.mark.full) for ranking in RANKINGS for seed in (2, 3)),
    ],
)
def test_stored_standings_are_those_that_would_be_computed_now(
    client: TestClient, ranking: str, seed: int
) -> None:
    live = LiveContest(client, seed, RANKINGS[ranking])
    for attacks in (False, True):
        if attacks:
            live.contest.open_attacks()
            require_rebuilt_standings("publication")
        events = live.list_events(attacks=attacks)
        for event in (*events, *live.rng.permutation(events)):  # type: ignore[arg-type]
            event()
            require_rebuilt_standings(event)
        require_consistent_boards(live)
    live.close()
    require_rebuilt_standings("close")
    require_consistent_boards(live)


@pytest.fixture(params=["score", pytest.param("formula that compares", marks=pytest.mark.full)])
def live(client: TestClient, request: pytest.FixtureRequest) -> LiveContest:
    return LiveContest(client, 1, RANKINGS[request.param] + '[publication]\nfeedback = "immediate"\n')


@pytest.mark.full
def test_transactions_may_commit_in_another_order_than_their_moments(live: LiveContest) -> None:
    for team in ("red", "blue", "red"):
        live.contest.submit(team, score=False)
    first, *later = load_all(select(Evaluation.id).order_by(Evaluation.created_at))
    with transaction() as session:
        now = datetime.now(UTC)
        verdict = build_verdict(build_evaluation(live.rng, now, now, "SCORED"))
        claim = claim_evaluation(session, first)
        evaluation = evaluations.record_verdict(session, claim, verdict=verdict, scorer="by hand")
        assert evaluation is not None
        for evaluation_id in later:
            with transaction() as other_session:
                live.score(other_session, evaluation_id)
        standing_updates.refresh_evaluation(session, evaluation)
    require_rebuilt_standings("verdicts")


@pytest.mark.full
def test_a_refresh_waits_for_another_one_of_the_round(live: LiveContest) -> None:
    """It would miss what the other one takes into account."""
    (red, _) = live.contest.publish_targets("red", "blue")
    target = str(load_one(select(Target.id).where(Target.submission_id == UUID(red))))
    for _ in range(2):
        live.contest.submit_guess("blue", target, live.contest.build_guess(red, 1))
    first, second = load_all(select(Guess.id).where(Guess.state == State.QUEUED))

    def judge_second() -> None:
        with transaction() as session:
            live.judge(session, second)

    thread = threading.Thread(target=judge_second)
    with transaction() as session:
        live.judge(session, first)
        session.flush()
        thread.start()
        assert poll_until(lambda: is_a_lock_awaited() or not thread.is_alive())
    thread.join()
    require_rebuilt_standings("guesses")
    (row,) = (row for row in live.contest.get_board("matrix")["rows"] if not row["built_in"])
    assert [cell["trials"] for cell in row["cells"] if cell] == [2]


@pytest.mark.full
def test_refreshes_of_two_rounds_wait_for_each_other(client: TestClient) -> None:
    """A change of all rounds and one of the last would otherwise take their locks in different orders."""
    create_two_rounds(client)
    first_round, second_round = load_all(select(Round.id).order_by(Round.position))

    def refresh_second() -> None:
        with transaction() as session:
            standing_updates.refresh(session, second_round)

    thread = threading.Thread(target=refresh_second)
    with transaction() as session:
        standing_updates.refresh(session, first_round)
        thread.start()
        assert poll_until(lambda: is_a_lock_awaited() or not thread.is_alive())
        assert thread.is_alive()
    thread.join()


@pytest.mark.full
def test_later_rounds_read_hidden_scores_from_the_close_on(client: TestClient) -> None:
    live = LiveContest(client, 1, '[publication]\nfeedback = "hidden"\n')

    def read_public_scores() -> list[EarlierScore]:
        with transaction() as session:
            (round_,) = session.scalars(select(Round))
            return list(iter_public_scores(session, round_, AttackStanding))

    live.contest.publish_targets("red", "blue")
    for _ in range(4):
        live.guess()
    scores = {score: team for team, score in load_attack_scores(Series.ALL_GUESSES)}
    assert scores
    assert read_public_scores() == []
    live.close()
    assert {score.score: score.team_id for score in read_public_scores()} == scores


def load_attack_scores(series: Series) -> list[tuple[Any, ...]]:
    """Return team and score of each row of the re-identification board."""
    columns = AttackStanding.team_id, AttackStanding.score
    with transaction() as session:
        return [
            tuple(row) for row in session.execute(select(*columns).where(AttackStanding.series == series))
        ]


def is_a_lock_awaited() -> bool:
    waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    with transaction() as session:
        return bool(session.scalar(waiting))


@pytest.mark.full
def test_a_frozen_board_has_the_rows_before_its_moment(live: LiveContest) -> None:
    for _ in range(6):
        live.submit()
    live.contest.publish_targets("red", "blue")
    for _ in range(4):
        live.guess()
    viewers = VIEWERS[:2]
    names = ("anonymization", "reidentification", "matrix", "history")

    def read_boards(viewer: dict[str, Any]) -> list[Any]:
        boards = [live.contest.get_board(name, **viewer) for name in names]
        return [board.get("rows", board.get("teams")) for board in boards]

    before = [read_boards(viewer) for viewer in viewers]
    file = live.arena.get(f"{live.path}/competition.toml").text
    publication = f'[publication]\nfeedback = "immediate"\nfrozen_from = {datetime.now(UTC).isoformat()}\n'
    response = live.arena.put(
        f"{live.path}/competition.toml", content=replace_tables(file, "publication", publication)
    )
    assert response.status_code == 200, response.text
    for event in (live.guess, live.guess, live.guess, live.adjust, live.add_or_remove_baseline):
        event()
    assert [read_boards(viewer) for viewer in viewers] == before
    assert read_boards({"organizer": True})[0] != before[0][0]
