"""The second phase with real processes, while clock and workers are killed."""

from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

from anoncup.tables.csv_text import write_csv
from app.config import Settings
from app.core.db.models import Guess, State, Target
from app.core.db.transaction import transaction
from tests.support.arena import ROWS, build_original_table
from tests.support.contest import build_two_phase_toml, load_round
from tests.support.queue import empty_queue
from tests.support.second_phase import join_second_team
from tests.support.service_processes import kill, move_phases, open_contest, run_web_server, run_worker
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full


def load_guess_states() -> list[tuple[State, int | None]]:
    with transaction() as session:
        return [(guess.state, guess.correct) for guess in session.scalars(select(Guess))]


def test_second_phase_survives_killed_workers_and_clocks(settings: Settings, tmp_path: Path) -> None:
    with run_web_server(tmp_path) as url:
        original = {"original": write_csv(build_original_table())}
        contest = open_contest(url, file=build_two_phase_toml(), original=original, slug="small")
        with run_worker(tmp_path):
            contest.wait_for_state(contest.submit(), "SCORED")
        move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
        with run_worker(tmp_path) as first:
            kill(first)  # before or during the first transition of its clock
        with run_worker(tmp_path):
            assert poll_until(lambda: load_round().published_at is not None)
        with transaction() as session:
            (target,) = session.scalars(select(Target)).all()
        rival_token = join_second_team(url)
        guess = b"original_row\n" + b"1\n" * ROWS
        response = httpx2.post(
            f"{url}/api/v1/targets/{target.id}/guesses",
            headers={"Authorization": f"Bearer {rival_token}"},
            files={"guess": ("g.csv", guess)},
            timeout=TIMEOUT_S,
        )
        assert response.status_code == 202, response.text
        empty_queue()
        move_phases(anonymization=(-3, -2), reidentification=(-1, -0.1))
        with run_worker(tmp_path):
            assert poll_until(lambda: load_round().revealed_at is not None)
        assert load_guess_states() == [(State.SCORED, 1)]
        secret_response = httpx2.get(f"{url}/api/v1/targets/{target.id}/secret", timeout=TIMEOUT_S)
        assert sorted(map(int, secret_response.text.split()[1:])) == list(range(1, ROWS + 1))
