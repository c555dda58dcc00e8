"""Announcements, the audit log, the list of all submissions, and the queue."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from httpx2 import Response
from sqlalchemy import select

from anoncup.tables.csv_text import write_csv
from app.core.db.models import Heartbeat, Member
from app.core.db.transaction import transaction
from tests.support.arena import API, Arena, build_competition_toml
from tests.support.database_rows import load_one
from tests.support.uploads import score_everything
from tests.support.wait import start_stopwatch

pytestmark = pytest.mark.full

COMPETITION_PATH = "/competitions/small"


def read_pages(arena: Arena, path: str, *, token: str | None = None) -> list[list[Any]]:
    """Return all pages by following the ``next`` links."""
    pages, next_path = [], path
    while next_path:
        response = arena.get(next_path.removeprefix(API), token=token)
        assert response.status_code == 200, response.text
        pages.append(response.json())
        link = response.headers.get("link", "")
        next_path = link.partition(">")[0].removeprefix("<")
    return pages


def forge_cursor(*values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def announce(arena: Arena, text: Any) -> Response:
    return arena.post(f"{COMPETITION_PATH}/announcements", json={"text": text})


def test_anyone_reads_announcements_in_pages_newest_first(arena: Arena) -> None:
    for number in range(5):
        assert announce(arena, {"en": f"news {number}", "ja": f"お知らせ {number}"}).status_code == 201
    pages = read_pages(arena, f"{COMPETITION_PATH}/announcements?limit=2")
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [announcement["text"]["en"] for page in pages for announcement in page] == [
        f"news {n}" for n in (4, 3, 2, 1, 0)
    ]
    assert arena.client.get(f"{API}{COMPETITION_PATH}/announcements").json()[0]["text"]["ja"] == "お知らせ 4"


def test_announcement_in_one_language_keeps_its_line_breaks(arena: Arena) -> None:
    announcement = announce(arena, {"ja": "  一行目\r\n二行目\n", "en": None}).json()
    assert announcement["text"] == {"ja": "一行目\n二行目"}


INVALID_TEXTS: list[Any] = [
    {},
    {"en": "   "},
    {"en": "x" * 4001},
    {"en": "a\x00b"},
    {"en": "a\x07b"},
    {"fr": "bonjour"},
    "hello",
]


def test_announcement_without_readable_text_is_refused(arena: Arena) -> None:
    statuses = [(text, announce(arena, text).status_code) for text in INVALID_TEXTS]
    assert statuses == [(text, 422) for text in INVALID_TEXTS]
    assert arena.get(f"{COMPETITION_PATH}/announcements").json() == []


def test_withdrawn_announcement_remains_only_in_the_audit_log(arena: Arena) -> None:
    identifier = announce(arena, {"en": "too early"}).json()["id"]
    assert arena.call("DELETE", f"/announcements/{identifier}").status_code == 204
    assert arena.get(f"{COMPETITION_PATH}/announcements").json() == []
    assert arena.call("DELETE", f"/announcements/{identifier}").json()["code"] == "no_such_announcement"
    withdraw_entry, post_entry = arena.get(f"{COMPETITION_PATH}/audit").json()[:2]
    assert (withdraw_entry["action"], post_entry["action"]) == ("announcement.withdraw", "announcement.post")
    assert withdraw_entry["before"] == post_entry["after"] == {"en": "too early"}


def test_audit_log_records_organizer_actions_with_changes(arena: Arena) -> None:
    code = arena.post(f"{COMPETITION_PATH}/invites", json={"uses": 3}).json()["code"]
    revised_file = build_competition_toml(threshold=0.3)
    assert arena.put(f"{COMPETITION_PATH}/competition.toml", content=revised_file).status_code == 200
    data = write_csv(arena.table.head(20))
    assert arena.put(f"{COMPETITION_PATH}/original/original.csv", content=data).status_code == 200
    entries = arena.get(f"{COMPETITION_PATH}/audit").json()
    second_upload_entry, revision, invited, published, uploaded, created = entries
    assert published["action"] == "competition.publish"
    assert (created["action"], created["subject"], created["before"]) == ("competition.create", "small", None)
    assert uploaded["action"] == second_upload_entry["action"] == "original.upload"
    assert (uploaded["before"], second_upload_entry["before"]) == ({}, uploaded["after"])
    assert len(second_upload_entry["after"]["original"]) == 64
    assert (invited["action"], invited["after"]) == ("invite.create", {"teams": 3})
    assert revision["action"] == "competition.revise"
    assert revision["before"] == created["after"]
    assert {"excessive"} <= set(revision["after"]["changed"]) <= {"excessive", "phases"}
    assert revision["actor"].startswith("organizer ")
    assert code not in json.dumps(arena.get(f"{COMPETITION_PATH}/audit").json())


FORGED_CURSORS = [
    "nonsense",
    "%00",
    forge_cursor(),
    forge_cursor(float("inf")),
    forge_cursor(10**60),
    forge_cursor(True),
    forge_cursor(5, 5),
    forge_cursor("2027-01-01", "x"),
    forge_cursor([], []),
]


@pytest.mark.parametrize("path", ["audit", "announcements", "submissions/all"])
def test_forged_cursor_is_refused(arena: Arena, path: str) -> None:
    responses = {cursor: arena.get(f"{COMPETITION_PATH}/{path}?cursor={cursor}") for cursor in FORGED_CURSORS}
    results = {
        cursor: (response.status_code, response.json()["code"]) for cursor, response in responses.items()
    }
    assert results == dict.fromkeys(FORGED_CURSORS, (422, "invalid_cursor"))


def test_team_lists_own_submissions_and_organizer_lists_all(arena: Arena) -> None:
    submissions = [
        (team, arena.submit(team, seed=seed).json()["id"]) for seed in range(3) for team in ("red", "blue")
    ]
    own = read_pages(arena, f"{COMPETITION_PATH}/submissions?limit=2", token=arena.get_team_token("red"))
    assert [len(page) for page in own] == [2, 1]
    red_ids = [identifier for team, identifier in reversed(submissions) if team == "red"]
    assert [item["id"] for page in own for item in page] == red_ids
    all_pages = read_pages(arena, f"{COMPETITION_PATH}/submissions/all?limit=4")
    assert [item["id"] for page in all_pages for item in page] == [item for _, item in reversed(submissions)]
    (all_rows,) = read_pages(arena, f"{COMPETITION_PATH}/submissions", token=arena.get_team_token("red"))
    assert all_rows == [item for item in all_pages[0] + all_pages[1] if item["team"] == "red"]
    assert [item["queue_position"] for item in all_pages[0]] == [5, 4, 3, 2]  # teams alternate


def test_submissions_can_be_filtered_by_team_and_state(arena: Arena) -> None:
    first = arena.submit("red").json()["id"]
    score_everything()
    second, third = arena.submit("red", seed=2).json()["id"], arena.submit("blue").json()["id"]
    profile = arena.get("/me", team="red").json()

    def list_ids(query: str) -> set[str]:
        return {
            submission["id"] for submission in arena.get(f"{COMPETITION_PATH}/submissions/all?{query}").json()
        }

    assert list_ids("state=SCORED") == {first}
    assert list_ids("state=QUEUED") == {second, third}
    team_query = select(Member.team_id).where(Member.user_id == profile["user_id"])
    red = load_one(team_query)
    assert list_ids(f"team={red}") == {first, second}
    assert list_ids(f"team={red}&state=QUEUED") == {second}
    assert list_ids(f"team={uuid4()}") == set()
    assert arena.get(f"{COMPETITION_PATH}/submissions/all?state=DONE").status_code == 422
    assert arena.get(f"{COMPETITION_PATH}/submissions/all?team=red").status_code == 422


def test_queue_status_reports_waiting_jobs_their_age_and_the_last_sweep(arena: Arena) -> None:
    empty = arena.get(f"{COMPETITION_PATH}/queue").json()
    assert set(empty["waiting"].values()) == set(empty["scoring"].values()) == {0}
    assert (empty["oldest_waiting_s"], empty["broker_depth"], empty["last_sweep_s"]) == (None, 0, None)
    elapsed = start_stopwatch()
    for seed in range(3):
        arena.submit("red", seed=seed)
    with transaction() as session:
        session.add(Heartbeat(task="sweep", at=datetime.now(UTC) - timedelta(seconds=60)))
    queue = arena.get(f"{COMPETITION_PATH}/queue").json()
    assert (queue["waiting"]["evaluations"], queue["scoring"]["evaluations"]) == (3, 0)
    assert queue["broker_depth"] == 3
    assert 0 < queue["oldest_waiting_s"] <= elapsed()
    assert 60 <= queue["last_sweep_s"] <= 60 + elapsed()
    other_arena = Arena.create(arena.client, slug="elsewhere")
    assert other_arena.get("/competitions/elsewhere/queue").json()["waiting"]["evaluations"] == 0
