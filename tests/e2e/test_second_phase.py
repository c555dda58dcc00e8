"""The second phase by real processes: the clock turns it, workers judge, both are killed."""

from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

from anoncup.tables.csv_text import table_csv
from app.config import Settings
from app.db.models import Guess, State, Target
from app.db.transaction import transaction
from tests.e2e.stack import kill, move, open_contest, web, worker
from tests.support.arena import ROWS, original_table
from tests.support.contest import two_phase_file
from tests.support.queue import empty_queue
from tests.support.second_phase import joined, row
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full


def states() -> list[tuple[State, int | None]]:
    with transaction() as session:
        return [(guess.state, guess.correct) for guess in session.scalars(select(Guess))]


def test_a_contest_goes_through_its_second_phase_while_workers_and_clocks_are_killed(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path) as url:
        original = {"original": table_csv(original_table())}
        contest = open_contest(url, file=two_phase_file(), original=original, slug="small")
        with worker(tmp_path):
            contest.until_state(contest.submit(), "SCORED")
        move(anonymization=(-3, -2), reidentification=(-1, 1))
        with worker(tmp_path) as first:
            kill(first)  # before it or its clock has turned anything, or right while they do
        with worker(tmp_path):
            assert eventually(lambda: row().published_at is not None)
        with transaction() as session:
            (target,) = session.scalars(select(Target)).all()
        rival = joined(url)
        guess = b"original_row\n" + b"1\n" * ROWS
        sent = httpx2.post(
            f"{url}/api/v1/targets/{target.id}/guesses",
            headers={"Authorization": f"Bearer {rival}"},
            files={"guess": ("g.csv", guess)},
            timeout=PATIENCE_S,
        )
        assert sent.status_code == 202, sent.text
        empty_queue()
        move(anonymization=(-3, -2), reidentification=(-1, -0.1))
        with worker(tmp_path):
            assert eventually(lambda: row().revealed_at is not None)
        assert states() == [(State.SCORED, 1)]
        revealed = httpx2.get(f"{url}/api/v1/targets/{target.id}/secret", timeout=PATIENCE_S)
        assert sorted(map(int, revealed.text.split()[1:])) == list(range(1, ROWS + 1))
