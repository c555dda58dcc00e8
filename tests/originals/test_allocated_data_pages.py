"""Allocated data on the pages: a team's own files, hidden files of organizers and public commitments."""

import re

import pytest
from httpx2 import Response

from tests.support.allocation_track import TEAM_ALLOCATION, build_label_file, install_allocation
from tests.support.arena import ROWS
from tests.support.contest import Contest, run_clock
from tests.support.page_requests import assert_refused, get_page, post_form

pytestmark = pytest.mark.full

SUBMISSIONS_PAGE = "/competitions/small/submissions"
DATA_PAGE = "/competitions/small/organize/data"
HIDDEN_FILE_PATH = "/competitions/small/organize/truth/hidden.csv"
DOWNLOAD_LINK = re.compile(r"/api/v1/competitions/small/own/(\w+)\.csv")


@pytest.fixture(autouse=True)
def allocating_track(monkeypatch: pytest.MonkeyPatch) -> None:
    install_allocation(monkeypatch, TEAM_ALLOCATION)


def upload_hidden_file(contest: Contest, content: bytes = build_label_file(ROWS)) -> Response:
    files = {"table": ("hidden.csv", content)}
    return post_form(contest.arena, HIDDEN_FILE_PATH, files=files, organizer=True)


def test_team_finds_its_allocated_data(contest: Contest) -> None:
    assert upload_hidden_file(contest).status_code == 303
    html_before = get_page(contest.arena, SUBMISSIONS_PAGE, team="red").text
    state = get_page(contest.arena, f"{SUBMISSIONS_PAGE}/state", team="red").text
    assert "as soon as the anonymization phase begins" in html_before
    assert not DOWNLOAD_LINK.search(html_before)
    run_clock()
    html_after = get_page(contest.arena, SUBMISSIONS_PAGE, team="red").text
    assert "no other team gets them" in html_after
    assert DOWNLOAD_LINK.findall(html_after) == ["secret", "labels"]
    assert get_page(contest.arena, f"{SUBMISSIONS_PAGE}/state", team="red").text != state
    digests = contest.arena.get("/competitions/small/own", team="red").json()["files"]
    assert all(digest in html_after for digest in digests.values())


def test_organizers_upload_hidden_files_until_the_allocation(contest: Contest) -> None:
    html = get_page(contest.arena, DATA_PAGE, organizer=True).text
    assert "Files that only you hold" in html
    assert f'action="{HIDDEN_FILE_PATH}"' in html
    assert "It needs these columns: <code>label</code>" in html
    assert "label\nany text" in html
    refused = upload_hidden_file(contest, b"label\nA SECRET LABEL\n")
    assert_refused(refused, 422, "41 lines are needed")
    assert "<code>hidden.csv</code>" in refused.text.partition('role="alert"')[2].partition("</div>")[0]
    assert "SECRET LABEL" not in refused.text
    desk = "/competitions/small/organize"
    missing = "Files that only you hold are missing"
    assert missing in get_page(contest.arena, desk, organizer=True).text
    run_clock()
    assert contest.arena.client.get("/api/v1/competitions/small").json()["seed_commitment"]
    assert upload_hidden_file(contest).status_code == 303
    assert missing not in get_page(contest.arena, desk, organizer=True).text
    updated_html = get_page(contest.arena, DATA_PAGE, organizer=True).text
    (commitment,) = contest.arena.get("/competitions/small").json()["truth_commitments"].values()
    assert commitment in updated_html
    run_clock()
    assert upload_hidden_file(contest).status_code == 409
    assert f'action="{HIDDEN_FILE_PATH}"' not in get_page(contest.arena, DATA_PAGE, organizer=True).text
