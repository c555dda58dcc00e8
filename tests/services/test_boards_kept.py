"""What the boards keep of verdicts: few bytes asked of the database, and nothing shown that is no more so."""

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
from app.services.accounts import accounts, names
from app.services.boards import anonymization, matrix, reidentification, verdicts
from app.services.boards.verdicts import Ending, Kept, Numbers
from app.services.contests import visibility
from app.services.submissions import evaluations
from tests.support import large_contest
from tests.support.claimed_jobs import claim_evaluation
from tests.support.contest import Contest
from tests.support.large_contest import Size
from tests.support.query_counter import Asked, asked
from tests.support.rejudgings import applied, lenient, reweighed, strict
from tests.support.team_rows import team_id
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SMALL = Size(teams=6, each=3, targets=8, attackers=4, guesses=2)
LARGE = Size(teams=24, each=6, targets=30, attackers=12, guesses=3)
IMMEDIATE = '[publication]\nfeedback = "immediate"'
BOARDS = {
    "anonymization": anonymization.board,
    "reidentification": reidentification.board,
    "matrix": matrix.board,
}


def questions(contest: Contest, which: str) -> Asked:
    """What the board as the organizer sees it asks of the database."""
    with transaction() as session:
        organizer = accounts.authenticate(session, contest.arena.organizer)
        with asked() as noted:
            BOARDS[which](session, visibility.boards(session, organizer, contest.arena.slug))
    return noted


def filled(client: TestClient, size: Size, slug: str) -> Contest:
    contest = Contest.opened(client, slug=slug, more=IMMEDIATE)
    large_contest.fill(contest, size)
    return contest


@pytest.mark.parametrize("which", BOARDS)
def test_a_board_asks_few_and_short_questions_however_many_submissions_there_are(
    client: TestClient, which: str
) -> None:
    small, large = filled(client, SMALL, "small"), filled(client, LARGE, "large")
    verdicts.kept.clear()
    cold = questions(large, which)
    for contest in (small, large):
        questions(contest, which)
    few, many = questions(small, which), questions(large, which)
    assert len(few.statements) == len(many.statements) <= 10
    assert len(cold.statements) <= len(many.statements) + 1
    assert not many.reads_verdicts
    lines = LARGE.teams * LARGE.each + LARGE.targets * (1 + LARGE.attackers)
    assert many.bytes < 16_000 + 200 * lines
    assert cold.reads_verdicts == (which != "reidentification")


def test_a_board_reads_of_later_verdicts_those_it_has_not_read(client: TestClient) -> None:
    contest = filled(client, replace(SMALL, targets=0), "small")
    questions(contest, "anonymization")
    before = questions(contest, "anonymization")
    with transaction() as session:
        verdict = session.scalars(select(Evaluation.verdict).limit(1)).one()
    contest.submit("late")
    after = questions(contest, "anonymization")
    assert after.reads_verdicts
    assert after.bytes - before.bytes < 2 * len(repr(verdict)) + 500


def test_what_changes_about_a_submission_shows_at_once_on_a_board_that_was_read_before(
    client: TestClient,
) -> None:
    contest = Contest.opened(client, more=IMMEDIATE)
    sent = {team: contest.submit(team) for team in ("red", "blue", "green")}
    contest.submit("red")
    changes: tuple[Callable[[], object], ...] = (
        lambda: contest.organize(f"/submissions/{sent['red']}/disqualify"),
        lambda: contest.organize(f"/submissions/{sent['red']}/reinstate"),
        lambda: contest.organize(f"{contest.path}/teams/{team_id('blue')}/disqualify"),
        lambda: contest.organize(f"{contest.path}/teams/{team_id('blue')}/reinstate"),
        lambda: renamed("green", "緑"),
        lambda: applied(contest, reweighed(contest)),
        lambda: applied(contest, strict(contest)),
        lambda: applied(contest, lenient(contest)),
        lambda: contest.submit("blue"),
        contest.attack,
        lambda: contest.guessed("blue", sent["red"], 30),
        lambda: contest.organize(f"{contest.path}/teams/{team_id('red')}/disqualify"),
        lambda: contest.organize(f"{contest.path}/teams/{team_id('red')}/reinstate"),
        contest.close,
    )
    shown = contest.boards()
    for number, change in enumerate(changes):
        change()
        now = contest.boards()
        assert now != shown, number
        verdicts.kept.clear()
        assert contest.boards() == now, number
        shown = now


def renamed(name: str, new: str) -> None:
    with transaction() as session:
        session.execute(update(Team).where(Team.name == name).values(name=new, **names.columns(new)))


def test_a_reinstated_board_has_the_same_bytes_as_before(client: TestClient) -> None:
    contest = filled(client, SMALL, "small")
    before = contest.boards()
    with transaction() as session:
        team = session.scalars(select(Team.id).order_by(Team.id).limit(1)).one()
    for word in ("disqualify", "reinstate"):
        assert contest.organize(f"{contest.path}/teams/{team}/{word}").status_code == 200
    assert contest.boards() == before


def test_what_ended_in_a_transaction_that_failed_is_not_kept(client: TestClient) -> None:
    """The same evaluation may end otherwise later."""
    contest = Contest.opened(client)
    contest.submit("blue")
    contest.submit("red", scored=False)
    with transaction() as session:
        verdict = session.scalars(select(Evaluation.verdict).where(Evaluation.state == State.SCORED)).one()
        waiting = session.scalars(select(Evaluation.id).where(Evaluation.state == State.QUEUED)).one()
    assert verdict is not None
    with transaction() as session:
        claimed = claim_evaluation(session, waiting)
        evaluations.record(session, claimed, verdict=verdict | {"utility": 0.25}, scorer="failing")
        session.flush()
        assert 0.25 in {
            row.utility
            for row in anonymization.board(session, visibility.boards(session, None, "small")).rows
        }
        session.rollback()
    score_everything()
    rows = {row["team"]: row["utility"] for row in contest.board()["rows"]}
    assert set(rows) == {"red", "blue"}
    assert rows["red"] != 0.25


def numbers() -> Numbers:
    return Numbers(0.5, 0.5, 0.0, (), {}, {}, {}, {}, {}, {})


def endings(count: int) -> list[Ending]:
    return [(uuid4(), datetime.now(UTC)) for _ in range(count)]


def test_only_so_many_are_kept_and_of_those_the_ones_asked_for_last() -> None:
    keeps, known = Kept(3), endings(5)
    keeps.put({one: numbers() for one in known[:3]})
    keeps.get(known[:1])
    keeps.put({one: numbers() for one in known[3:]})
    assert set(keeps.get(known)) == {known[0], known[3], known[4]}


def test_many_threads_may_keep_and_ask_at_once() -> None:
    keeps, known = Kept(50), endings(200)

    def work(start: int) -> int:
        for turn in range(300):
            mine = known[(start * 37 + turn) % 150 :][:50]
            keeps.put({one: numbers() for one in mine})
            assert set(keeps.get(mine)) <= set(mine)
        return len(keeps.found)

    with ThreadPoolExecutor(8) as pool:
        assert max(pool.map(work, range(8))) <= 50
    assert len(keeps.get(known)) == 50


def test_kept_numbers_cannot_be_changed_through_a_board(client: TestClient) -> None:
    contest = Contest.opened(client)
    contest.submit("red")
    before = contest.board(organizer=True)
    with transaction() as session:
        organizer = accounts.authenticate(session, contest.arena.organizer)
        (row,) = anonymization.board(session, visibility.boards(session, organizer, "small")).rows
    row.measures.clear()
    row.attackers.clear()
    assert contest.board(organizer=True) == before
