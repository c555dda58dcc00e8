"""What the service draws, on the pages: the team's own data, what organizers hold, what everybody is told."""

import re

import pytest
from fastapi.testclient import TestClient

from tests.support.allocation_track import HINTS, OWN, draws, labels
from tests.support.arena import ROWS
from tests.support.contest import Contest, turn
from tests.web.reader import page, send

pytestmark = pytest.mark.full

SENT = "/competitions/small/submissions"
RULES = "/competitions/small/rules"
DATA = "/competitions/small/organize/data"
TRUTH = "/competitions/small/organize/truth/hidden.csv"
LINK = re.compile(r"/api/v1/competitions/small/own/(\w+)\.csv")


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    draws(monkeypatch, OWN)
    return Contest.opened(client)


def give(contest: Contest, content: bytes) -> int:
    files = {"table": ("hidden.csv", content)}
    return int(send(contest.arena, TRUTH, files=files, organizer=True).status_code)


@pytest.mark.parametrize(
    ("language", "awaited", "there"),
    [
        ("en", "as soon as the anonymization phase begins", "Nobody else gets them"),
        ("ja", "が始まるとすぐ", "誰にも"),
    ],
)
def test_a_team_finds_its_data_and_its_page_that_is_open_learns_of_them(
    contest: Contest, language: str, awaited: str, there: str
) -> None:
    assert give(contest, labels(ROWS)) == 303
    before = page(contest.arena, SENT, team="red", language=language).text
    state = page(contest.arena, f"{SENT}/state", team="red").text
    assert awaited in before
    assert not LINK.search(before)
    turn()
    after = page(contest.arena, SENT, team="red", language=language).text
    assert there in after
    assert LINK.findall(after) == ["secret", "labels"]
    assert page(contest.arena, f"{SENT}/state", team="red").text != state
    told = contest.arena.get("/competitions/small/own", token=contest.arena.team("red")).json()["files"]
    assert all(digest in after for digest in told.values())


def test_organizers_give_what_they_hold_until_the_first_team_has_its_data(contest: Contest) -> None:
    shown = page(contest.arena, DATA, organizer=True).text
    assert "Files that only you hold" in shown
    assert f'action="{TRUTH}"' in shown
    assert give(contest, b"label\nA SECRET LABEL\n") == 422
    desk = "/competitions/small/organize"
    missing = "Files that only you hold are missing"
    assert missing in page(contest.arena, desk, organizer=True).text
    turn()
    assert contest.arena.client.get("/api/v1/competitions/small").json()["seed_commitment"]
    assert give(contest, labels(ROWS)) == 303
    assert missing not in page(contest.arena, desk, organizer=True).text
    given = page(contest.arena, DATA, organizer=True).text
    (commitment,) = contest.arena.get("/competitions/small").json()["truth_commitments"].values()
    assert commitment in given
    turn()
    assert f'action="{TRUTH}"' not in page(contest.arena, DATA, organizer=True).text
    assert give(contest, labels(ROWS)) == 409


def test_a_truth_file_that_is_refused_is_not_shown_again(contest: Contest) -> None:
    files = {"table": ("hidden.csv", b"label\nA SECRET LABEL\n")}
    refused = send(contest.arena, TRUTH, files=files, organizer=True).text
    assert "41 lines are needed" in refused
    assert "SECRET LABEL" not in refused


def test_the_rules_tell_the_commitment_and_later_where_the_seed_is(contest: Contest) -> None:
    assert "SHA-256:" not in page(contest.arena, RULES).text
    give(contest, labels(ROWS))
    turn()
    commitment = contest.arena.get("/competitions/small").json()["seed_commitment"]
    for language, said in (("en", "anyone can repeat the draw"), ("ja", "誰でも抽選を再現できます")):
        shown = page(contest.arena, RULES, language=language).text
        assert commitment in shown
        assert said in shown
    contest.attack()
    contest.close()
    assert "/api/v1/competitions/small/draws" in page(contest.arena, RULES).text


def test_what_is_drawn_for_all_is_offered_with_the_original_once_it_is_there(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws(monkeypatch, HINTS)
    arena = Contest.opened(client).arena
    link = "/api/v1/competitions/small/original/hints.csv"
    assert link not in page(arena, RULES).text
    assert "optional" in page(arena, DATA, organizer=True).text
    turn()
    assert link in page(arena, RULES).text
    assert "drawn by the service" in page(arena, DATA, organizer=True).text
    kit = arena.get("/competitions/small/kit.zip").content
    assert b"original/hints.csv" in kit
