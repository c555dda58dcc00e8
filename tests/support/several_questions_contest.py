"""A contest with two questions in its second phase."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.contest import Contest, build_two_phase_toml
from tests.support.several_questions_track import (
    QUESTIONS_TOML,
    SEVERAL_QUESTIONS_TRACK,
    build_value_claims,
)
from tests.support.track_package import install_track


@pytest.fixture(autouse=True, scope="module")
def installed_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with install_track(
        SEVERAL_QUESTIONS_TRACK, "tests.support.several_questions_track", tmp_path_factory.mktemp("packages")
    ):
        yield


def create_contest(client: TestClient, questions_toml: str = QUESTIONS_TOML) -> tuple[Contest, str]:
    """Create the contest, open the second phase and return it with red's submission."""
    extra_toml = f'{questions_toml}\n[publication]\nfeedback = "immediate"\n'
    file = build_two_phase_toml(extra_toml=extra_toml).replace('track = "microdata"', 'track = "riddles"')
    contest = Contest(Arena.create(client, file=file))
    submission = contest.submit("red")
    contest.submit("blue")
    contest.open_attacks()
    return contest, submission


def build_claims(contest: Contest, submission: str, correct_count: int) -> bytes:
    """Return a guess of ages, correct on the first ``correct_count`` rows and abstaining on the others."""
    return build_value_claims(contest.arena.table["age"], contest.secrets[submission], correct_count)
