"""A contest of monthly pseudonyms."""

import hashlib
from typing import Any

import pytest
from fastapi.testclient import TestClient
from numpy.random import PCG64, Generator

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import with_tables
from anoncup.tracks.monthly.example import example_data
from tests.support.arena import API, Arena
from tests.support.contest import Contest, two_phase_file
from tests.support.uploads import score_everything

SLUG = "cup-2017"
TRACK = TRACKS["monthly"]
ORIGINAL = example_data(6)
METHODS = {"red": "pseudonyms", "blue": "noisy_purchases"}


def competition() -> str:
    windows = two_phase_file()
    text = with_tables(template(2017), "phases", windows[windows.index("[[phases]]") :])
    shown = 'feedback = "immediate"\nreveal_notice_hours = 0'
    return with_tables(text, "publication", f"[publication]\n{shown}")


def released(team: str) -> tuple[bytes, bytes]:
    """A team's release and its answer."""
    rules = parse_competition(competition())
    original, _ = TRACK.parse_original(ORIGINAL, rules)
    method = TRACK.methods[METHODS[team]]
    release, answer = TRACK.anonymize(method, original, rules, Generator(PCG64(len(team))), {})
    return TRACK.files_of(release)["transactions"], TRACK.answers.write(answer)


@pytest.fixture
def contest(client: TestClient, arena: Arena) -> Contest:
    """The template with all of its data, which shows guesses at once."""
    return opened(client, arena, *ORIGINAL)


def opened(client: TestClient, arena: Arena, *files: str) -> Contest:
    assert arena.post("/competitions", content=competition()).status_code == 201
    for name in files:
        answer = arena.put(f"/competitions/{SLUG}/original/{name}.csv", content=ORIGINAL[name])
        assert answer.status_code == 200, answer.text
    assert answer.json()["original_rows"] == 6
    return Contest(Arena(client, arena.organizer, SLUG, arena.table))


def send(contest: Contest, team: str, **changed: bytes) -> Any:
    release, secret = released(team)
    parts = {"transactions": release, "secret": secret} | changed
    files = {name: (f"{name}.csv", content) for name, content in parts.items()}
    return contest.arena.post(f"{contest.path}/submissions", token=contest.arena.team(team), files=files)


def scored(contest: Contest, team: str) -> str:
    answer = send(contest, team)
    assert answer.status_code == 202, answer.text
    assert answer.json()["sha256"] == {"transactions.csv": hashlib.sha256(released(team)[0]).hexdigest()}
    score_everything()
    return str(answer.json()["id"])


def guess_with(answer: bytes, right: int) -> bytes:
    """Right about the first customers, who are named in all months; wrong about the others."""
    head, *lines = answer.decode().splitlines()
    wrong = [",".join([line.split(",")[0], *("nobody" for _ in line.split(",")[1:])]) for line in lines]
    return "\n".join([head, *lines[:right], *wrong[right:], ""]).encode()


def guessed(contest: Contest, team: str, target: str, question: str, content: bytes) -> None:
    headers = {"Authorization": f"Bearer {contest.arena.team(team)}"}
    answer = contest.arena.client.post(
        f"{API}/targets/{target}/guesses",
        headers=headers,
        files={"guess": ("g.csv", content)},
        data={"question": question},
    )
    assert answer.status_code == 202, answer.text
