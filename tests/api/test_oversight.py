"""What organizers say and see: announcements, the audit log, everybody's submissions, the queue."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from httpx2 import Response
from sqlalchemy import event, select

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from app.db import engine
from app.db.models import Heartbeat, Member
from app.db.transaction import transaction
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, Arena, competition_file, numbers
from tests.support.uploads import score_everything
from tests.support.wait import stopwatch

pytestmark = pytest.mark.full

HERE = "/competitions/small"


def walked(arena: Arena, path: str, *, token: str | None = None) -> list[list[Any]]:
    """Every page, following the links."""
    pages, following = [], path
    while following:
        answer = arena.get(following.removeprefix(API), token=token)
        assert answer.status_code == 200, answer.text
        pages.append(answer.json())
        link = answer.headers.get("link", "")
        following = link.partition(">")[0].removeprefix("<")
    return pages


def forged(*place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def announce(arena: Arena, text: Any) -> Response:
    return arena.post(f"{HERE}/announcements", json={"text": text})


def actions(arena: Arena) -> list[str]:
    return [entry["action"] for entry in arena.get(f"{HERE}/audit").json()]


def test_announcements_are_read_by_everybody_newest_first_and_page_by_page(arena: Arena) -> None:
    for number in range(5):
        assert announce(arena, {"en": f"news {number}", "ja": f"お知らせ {number}"}).status_code == 201
    pages = walked(arena, f"{HERE}/announcements?limit=2")
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [one["text"]["en"] for page in pages for one in page] == [f"news {n}" for n in (4, 3, 2, 1, 0)]
    assert arena.client.get(f"{API}{HERE}/announcements").json()[0]["text"]["ja"] == "お知らせ 4"


def test_an_announcement_may_be_in_one_language_and_keeps_its_lines(arena: Arena) -> None:
    said = announce(arena, {"ja": "  一行目\r\n二行目\n", "en": None}).json()
    assert said["text"] == {"ja": "一行目\n二行目"}


SAYS_NOTHING: list[Any] = [
    {},
    {"en": "   "},
    {"en": "x" * 4001},
    {"en": "a\x00b"},
    {"en": "a\x07b"},
    {"fr": "bonjour"},
    {"en": 5},
    "hello",
    None,
    {"en": ["hello"]},
]


def test_an_announcement_that_says_nothing_readable_is_refused(arena: Arena) -> None:
    said = [(text, announce(arena, text).status_code) for text in SAYS_NOTHING]
    assert said == [(text, 422) for text in SAYS_NOTHING]
    assert arena.get(f"{HERE}/announcements").json() == []


def test_half_a_character_is_refused(arena: Arena) -> None:
    body = b'{"text": {"en": "\\ud800"}}'
    headers = {"Authorization": f"Bearer {arena.organizer}", "Content-Type": "application/json"}
    answer = arena.client.post(f"{API}{HERE}/announcements", content=body, headers=headers)
    assert answer.status_code == 422


def test_a_withdrawn_announcement_is_gone_but_for_the_audit_log(arena: Arena) -> None:
    identifier = announce(arena, {"en": "too early"}).json()["id"]
    assert arena.call("DELETE", f"/announcements/{identifier}").status_code == 204
    assert arena.get(f"{HERE}/announcements").json() == []
    assert arena.call("DELETE", f"/announcements/{identifier}").json()["code"] == "no_such_announcement"
    withdrawn, posted = arena.get(f"{HERE}/audit").json()[:2]
    assert (withdrawn["action"], posted["action"]) == ("announcement.withdraw", "announcement.post")
    assert withdrawn["before"] == posted["after"] == {"en": "too early"}


def test_what_organizers_do_is_in_the_audit_log_with_what_it_changed(arena: Arena) -> None:
    code = arena.post(f"{HERE}/invites", json={"uses": 3}).json()["code"]
    revised = competition_file(threshold=0.3)
    assert arena.put(f"{HERE}/competition.toml", content=revised).status_code == 200
    data = table_csv(arena.table.head(20))
    assert arena.put(f"{HERE}/original/original.csv", content=data).status_code == 200
    uploaded_again, revision, invited, uploaded, created = arena.get(f"{HERE}/audit").json()
    assert (created["action"], created["subject"], created["before"]) == ("competition.create", "small", None)
    assert uploaded["action"] == uploaded_again["action"] == "original.upload"
    assert (uploaded["before"], uploaded_again["before"]) == ({}, uploaded["after"])
    assert len(uploaded_again["after"]["original"]) == 64
    assert (invited["action"], invited["after"]) == ("invite.create", {"teams": 3})
    assert revision["action"] == "competition.revise"
    assert revision["before"] == created["after"]
    assert {"excessive"} <= set(revision["after"]["changed"]) <= {"excessive", "phases"}
    assert revision["actor"].startswith("organizer ")
    assert code not in json.dumps(arena.get(f"{HERE}/audit").json())


def test_an_act_that_is_refused_leaves_no_trace_in_the_audit_log(arena: Arena) -> None:
    before = actions(arena)
    token = arena.team("red")
    arena.post(f"{HERE}/announcements", json={"text": {"en": "hi"}}, token=token)
    arena.put(f"{HERE}/competition.toml", content=competition_file("other"))
    arena.put(f"{HERE}/original/original.csv", content=b"nonsense")
    assert [one for one in actions(arena) if one != "invite.create"] == before


def test_a_file_put_again_unchanged_is_no_act(arena: Arena) -> None:
    file = competition_file(threshold=0.3)
    arena.put(f"{HERE}/competition.toml", content=file)
    before = actions(arena)
    assert arena.put(f"{HERE}/competition.toml", content=file).status_code == 200
    assert actions(arena) == before


def test_the_audit_log_is_walked_page_by_page(arena: Arena) -> None:
    for number in range(5):
        announce(arena, {"en": str(number)})
    pages = walked(arena, f"{HERE}/audit?limit=3")
    assert [len(page) for page in pages] == [3, 3, 1]
    found = [entry["number"] for page in pages for entry in page]
    assert found == sorted(found, reverse=True)


def test_a_competition_shows_its_own_audit_entries_only(arena: Arena) -> None:
    other = Arena.opened(arena.client, slug="elsewhere")
    assert {entry["subject"] for entry in arena.get(f"{HERE}/audit").json()} == {"small"}
    assert other.get(f"{HERE}/audit").status_code == 403


NOT_OURS = [
    "nonsense",
    "あ",
    "%00",
    forged(),
    forged(1, 2, 3),
    forged(float("inf")),
    forged(10**60),
    forged(None),
    forged(True),
    forged({}),
    forged(5, 5),
    forged("2027-01-01", 5),
    forged("2027-01-01", "x"),
    forged([], []),
]


@pytest.mark.parametrize("path", ["audit", "announcements", "submissions/all"])
def test_a_cursor_that_is_not_ours_is_refused(arena: Arena, path: str) -> None:
    answers = {cursor: arena.get(f"{HERE}/{path}?cursor={cursor}") for cursor in NOT_OURS}
    said = {cursor: (answer.status_code, answer.json()["code"]) for cursor, answer in answers.items()}
    assert said == dict.fromkeys(NOT_OURS, (422, "invalid_cursor"))


def test_a_cursor_beyond_all_entries_finds_none(arena: Arena) -> None:
    assert arena.get(f"{HERE}/audit?cursor={forged(0)}").json() == []
    assert len(arena.get(f"{HERE}/audit?cursor={forged(10**18)}").json()) == 2
    for moment in ("0001-01-01T00:00:00+23:59", "2001-01-01"):
        cursor = forged(moment, str(uuid4()))
        assert arena.get(f"{HERE}/submissions/all?cursor={cursor}").json() == []


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "1e9"])
def test_a_page_has_a_bounded_size(arena: Arena, limit: str) -> None:
    assert arena.get(f"{HERE}/audit?limit={limit}").status_code == 422


def test_a_team_walks_its_own_submissions_and_an_organizer_everybodys(arena: Arena) -> None:
    sent = [
        (team, arena.submit(team, seed=seed).json()["id"]) for seed in range(3) for team in ("red", "blue")
    ]
    own = walked(arena, f"{HERE}/submissions?limit=2", token=arena.team("red"))
    assert [len(page) for page in own] == [2, 1]
    reds = [identifier for team, identifier in reversed(sent) if team == "red"]
    assert [one["id"] for page in own for one in page] == reds
    everybodys = walked(arena, f"{HERE}/submissions/all?limit=4")
    assert [one["id"] for page in everybodys for one in page] == [one for _, one in reversed(sent)]
    (whole,) = walked(arena, f"{HERE}/submissions", token=arena.team("red"))
    assert whole == [one for one in everybodys[0] + everybodys[1] if one["team"] == "red"]
    assert [one["queue_position"] for one in everybodys[0]] == [5, 4, 3, 2]  # the teams in turn


def test_everybodys_submissions_are_chosen_by_team_and_state(arena: Arena) -> None:
    first = arena.submit("red").json()["id"]
    score_everything()
    second, third = arena.submit("red", seed=2).json()["id"], arena.submit("blue").json()["id"]
    signed = arena.get("/me", token=arena.team("red")).json()

    def chosen(query: str) -> set[str]:
        return {one["id"] for one in arena.get(f"{HERE}/submissions/all?{query}").json()}

    assert chosen("state=SCORED") == {first}
    assert chosen("state=QUEUED") == {second, third}
    with transaction() as session:
        wanted = select(Member.team_id).where(Member.user_id == signed["user_id"])
        red = session.scalars(wanted).one()
    assert chosen(f"team={red}") == {first, second}
    assert chosen(f"team={red}&state=QUEUED") == {second}
    assert chosen(f"team={uuid4()}") == set()
    assert arena.get(f"{HERE}/submissions/all?state=DONE").status_code == 422
    assert arena.get(f"{HERE}/submissions/all?team=red").status_code == 422


def test_a_list_of_many_asks_no_more_questions_than_a_list_of_one(arena: Arena) -> None:
    asked: list[str] = []

    def note(*arguments: Any) -> None:
        asked.append(arguments[2])

    def questions() -> int:
        asked.clear()
        arena.get(f"{HERE}/submissions", token=arena.team("red"))
        return len(asked)

    arena.submit("red")
    event.listen(engine.get_engine(), "before_cursor_execute", note)
    try:
        alone = questions()
        for seed in range(2, 6):
            arena.submit("red", seed=seed)
        assert questions() == alone > 0
    finally:
        event.remove(engine.get_engine(), "before_cursor_execute", note)


def test_the_queue_says_what_waits_how_long_and_whether_anybody_sweeps(arena: Arena) -> None:
    empty = arena.get(f"{HERE}/queue").json()
    assert set(empty["waiting"].values()) == set(empty["scoring"].values()) == {0}
    assert (empty["oldest_waiting_s"], empty["broker_depth"], empty["last_sweep_s"]) == (None, 0, None)
    passed = stopwatch()
    for seed in range(3):
        arena.submit("red", seed=seed)
    with transaction() as session:
        session.add(Heartbeat(task="sweep", at=datetime.now(UTC) - timedelta(seconds=60)))
    found = arena.get(f"{HERE}/queue").json()
    assert (found["waiting"]["evaluations"], found["scoring"]["evaluations"]) == (3, 0)
    assert found["broker_depth"] == 3
    assert 0 < found["oldest_waiting_s"] <= passed()
    assert 60 <= found["last_sweep_s"] <= 60 + passed()
    other = Arena.opened(arena.client, slug="elsewhere")
    assert other.get("/competitions/elsewhere/queue").json()["waiting"]["evaluations"] == 0


def test_a_token_that_may_only_read_sees_nothing_of_the_organizers(arena: Arena) -> None:
    with transaction() as session:
        name = f"administrator {next(numbers)}"
        made = accounts.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        token = accounts.issue_token(session, made, name="reader", scopes=("read", "submit"))
    for path in ("audit", "queue", "submissions/all"):
        answer = arena.get(f"{HERE}/{path}", token=token)
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert arena.post(f"{HERE}/announcements", token=token, json={"text": {"en": "x"}}).status_code == 403
