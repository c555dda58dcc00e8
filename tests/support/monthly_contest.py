"""A contest of the monthly track."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from numpy.random import PCG64, Generator

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import replace_tables
from anoncup.tracks.monthly.example import make_example_data
from tests.support.arena import Arena
from tests.support.contest import Contest, build_two_phase_toml
from tests.support.uploads import score_everything

SLUG = "cup-2017"
TRACK = TRACKS["monthly"]
ORIGINAL = make_example_data(6)
METHODS = {"red": "pseudonyms", "blue": "noisy_purchases"}


def build_competition_toml() -> str:
    windows = build_two_phase_toml()
    text = replace_tables(template(2017), "phases", windows[windows.index("[[phases]]") :])
    publication = 'feedback = "immediate"\nreveal_notice_hours = 0'
    return replace_tables(text, "publication", f"[publication]\n{publication}")


def build_release(team: str) -> tuple[bytes, bytes]:
    """Return a team's release and its answer."""
    rules = parse_competition(build_competition_toml())
    original, _ = TRACK.parse_original(ORIGINAL, rules)
    method = TRACK.methods[METHODS[team]]
    release, answer = TRACK.anonymize(method, original, rules, Generator(PCG64(len(team))), {})
    return TRACK.files_of(release)["transactions"], TRACK.answer_spec.write(answer)


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """Return a contest of the 2017 template with all data, which shows guesses at once."""
    return create_contest(client)


def create_contest(client: TestClient, files: Mapping[str, bytes] = ORIGINAL) -> Contest:
    return Contest(Arena.create(client, slug=SLUG, file=build_competition_toml(), original=files))


def submit_release(contest: Contest, team: str, **replaced_files: bytes) -> Any:
    release, secret = build_release(team)
    parts = {"transactions": release, "secret": secret} | replaced_files
    files = {name: (f"{name}.csv", content) for name, content in parts.items()}
    return contest.arena.post(f"{contest.path}/submissions", team=team, files=files)


def submit_and_score(contest: Contest, team: str) -> str:
    response = submit_release(contest, team)
    assert response.status_code == 202, response.text
    assert response.json()["sha256"] == {
        "transactions.csv": hashlib.sha256(build_release(team)[0]).hexdigest()
    }
    score_everything()
    return str(response.json()["id"])


def build_guess(answer: bytes, correct_count: int) -> bytes:
    """Return a guess that is correct in all months for the first ``correct_count`` customers only."""
    header, *lines = answer.decode().splitlines()
    wrong_lines = [",".join([line.split(",")[0], *("nobody" for _ in line.split(",")[1:])]) for line in lines]
    return "\n".join([header, *lines[:correct_count], *wrong_lines[correct_count:], ""]).encode()


def submit_guess(contest: Contest, team: str, target: str, question: str, content: bytes) -> None:
    response = contest.submit_guess(team, target, content, question=question)
    assert response.status_code == 202, response.text
