"""The anonymization board: JSON and CSV of one query, for each audience."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, text, update

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from app.db import engine
from app.db.models import Submission, User
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.boards import anonymization, verdicts
from app.services.contests import visibility
from app.services.contests.contest import parsed
from tests.support.arena import API, PASSWORD, Arena, competition_file, numbers
from tests.support.contest import dated
from tests.support.uploads import score_everything


def board(arena: Arena, *, token: str | None = None, **headers: str) -> Response:
    return asked(arena, "anonymization", token=token, headers=headers)


def board_csv(arena: Arena, *, token: str | None = None) -> Response:
    return asked(arena, "anonymization.csv", token=token, headers={})


def asked(arena: Arena, name: str, *, token: str | None, headers: dict[str, str]) -> Response:
    if token:
        headers = headers | {"Authorization": f"Bearer {token}"}
    answer: Response = arena.client.get(f"{API}/competitions/{arena.slug}/boards/{name}", headers=headers)
    return answer


def rows_of(answer: Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def administrator() -> str:
    with transaction() as session:
        name = f"administrator {next(numbers)}"
        user = accounts.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        return accounts.issue_token(session, user, name="test")


@pytest.fixture
def played(arena: Arena) -> Arena:
    """Three teams: two ranked, one of them with two entries, one rejected."""
    for team, seed in (("red", 1), ("red", 2), ("=blue", 3)):
        assert arena.submit(team, seed=seed).status_code == 202
    turned = arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(turned)))
    arena.submit("green", anonymized=table_csv(turned), secret=secret.encode())
    score_everything()
    return arena


def test_json_and_csv_say_the_same_in_full_precision(played: Arena) -> None:
    answer = board(played)
    found = answer.json()
    table = list(csv.DictReader(io.StringIO(board_csv(played).text)))
    assert [row["team"] for row in found["rows"]] == [row["team"].removeprefix("'") for row in table]
    assert len(table) == 3
    for row, line in zip(found["rows"], table, strict=True):
        for key in ("rank", "entries", "overall", "utility", "security"):
            assert number(line[key]) == row[key]
        received = row["received_at"]
        assert (received is None) == (line["received_at"] == "")
        if received:
            assert datetime.fromisoformat(line["received_at"]) == datetime.fromisoformat(received)
        for name in found["measures"]:
            assert number(line[name]) == row["measures"].get(name)
        for name in found["attackers"]:
            assert number(line[name]) == row["attackers"].get(name)


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def test_the_board_shows_the_numbers_of_the_best_submission_to_the_last_digit(played: Arena) -> None:
    token = played.team("red")
    own = played.get(f"/competitions/{played.slug}/submissions", token=token).json()
    best = min(own, key=lambda one: one["result"]["overall"])
    (row,) = [row for row in rows_of(board(played, token=token)) if row["team"] == "red"]
    assert row["overall"] == best["result"]["overall"]
    assert row["received_at"] == best["received_at"]
    assert row["measures"] == {name: one["value"] for name, one in best["result"]["measures"].items()}
    assert row["attackers"] == {name: one["rate"] for name, one in best["result"]["attackers"].items()}


def test_every_scored_submission_of_a_team_counts_as_an_entry(played: Arena) -> None:
    entries = {row["team"]: row["entries"] for row in rows_of(board(played))}
    assert entries == {"red": 2, "=blue": 1, "green": 1}
    played.submit("=blue", seed=8)
    assert rows_of(board(played)) == rows_of(board(played))
    assert {row["team"]: row["entries"] for row in rows_of(board(played))}["=blue"] == 1  # not scored yet
    score_everything()
    assert {row["team"]: row["entries"] for row in rows_of(board(played))}["=blue"] == 2


def test_a_team_with_rejected_submissions_only_comes_last_without_numbers(played: Arena) -> None:
    last = rows_of(board(played))[-1]
    assert last["team"] == "green"
    assert [last[key] for key in ("rank", "overall", "utility", "security", "received_at")] == [None] * 5
    assert (last["measures"], last["attackers"]) == ({}, {})


def test_each_team_sees_its_own_row_marked_and_no_other(played: Arena) -> None:
    assert {row["team"]: row["own"] for row in rows_of(board(played, token=played.team("red")))} == {
        "red": True,
        "=blue": False,
        "green": False,
    }
    for token in (None, played.organizer):
        assert not any(row["own"] for row in rows_of(board(played, token=token)))


@pytest.mark.full
@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", '="a",b'])
def test_a_team_name_starts_no_formula_in_a_spreadsheet(arena: Arena, name: str) -> None:
    arena.submit(name)
    score_everything()
    (line,) = csv.DictReader(io.StringIO(board_csv(arena).text))
    assert line["team"] == "'" + name
    (row,) = rows_of(board(arena))
    assert row["team"] == name


@pytest.mark.full
@pytest.mark.parametrize("name", ['The "Quoted", with, commas', "改行なし,「かぎ」", "a;b\u2028c", "x" * 100])
def test_any_team_name_comes_whole_out_of_the_csv(arena: Arena, name: str) -> None:
    arena.submit(name)
    score_everything()
    content = board_csv(arena)
    assert content.headers["content-type"] == "text/csv; charset=utf-8"
    (line,) = csv.DictReader(io.StringIO(content.content.decode(), newline=""))
    assert line["team"] == name


@pytest.mark.parametrize("ask", [board, board_csv], ids=["json", "csv"])
def test_a_board_that_has_not_changed_is_not_sent_again(played: Arena, ask: Callable[..., Response]) -> None:
    name = "anonymization" if ask is board else "anonymization.csv"
    first = ask(played)
    tag = first.headers["etag"]
    for known in (tag, tag.removeprefix("W/"), f"W/{tag.removeprefix('W/')}", f'"other", {tag}'):
        again = asked(played, name, token=None, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = asked(played, name, token=None, headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)
    assert "private" in first.headers["cache-control"]
    assert {"Authorization", "Cookie"} <= set(first.headers["vary"].replace(" ", "").split(","))
    played.submit("red", seed=9)
    score_everything()
    changed = asked(played, name, token=None, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["etag"] != tag) == (200, True)


def test_the_tag_of_one_audience_fits_no_other_whose_board_differs(played: Arena) -> None:
    tag = board(played, token=played.team("red")).headers["etag"]
    headers = {"If-None-Match": tag}
    assert asked(played, "anonymization", token=played.team("=blue"), headers=headers).status_code == 200


@pytest.mark.full
def test_a_board_rebuilt_from_nothing_has_the_same_bytes(played: Arena) -> None:
    before = board(played), board_csv(played)
    parsed.cache_clear()
    verdicts.kept.clear()
    engine.get_engine().dispose()
    with transaction() as session:  # rows in another physical order
        session.execute(update(Submission).values(comment="touched"))
        session.execute(text("UPDATE evaluations SET failure = failure"))
    after = board(played), board_csv(played)
    assert [one.content for one in before] == [one.content for one in after]
    assert before[0].headers["etag"] == after[0].headers["etag"]


@pytest.mark.full
def test_the_clock_of_the_database_connection_does_not_show_in_the_board(played: Arena) -> None:
    before = board_csv(played).content
    with transaction() as session:
        session.execute(text("SET LOCAL TIME ZONE 'Asia/Tokyo'"))
        sight = visibility.boards(session, None, played.slug)
        assert anonymization.as_csv(anonymization.board(session, sight)).encode() == before


OPEN_TO = {
    # publication.board: visitor, team, other competition's team, organizer, other organizer, administrator
    "public": (200, 200, 200, 200, 200, 200),
    "teams": (403, 200, 403, 200, 403, 200),
    "organizers": (403, 403, 403, 200, 403, 200),
}


@pytest.mark.parametrize("setting", OPEN_TO)
def test_the_board_is_open_to_whom_the_competition_says(client: TestClient, setting: str) -> None:
    elsewhere = Arena.opened(client, slug="elsewhere")
    file = competition_file(more=f'[publication]\nboard = "{setting}"')
    arena = Arena.opened(client, file=file)
    arena.submit("red")
    score_everything()
    tokens = (
        None,
        arena.team("red"),
        elsewhere.team("blue"),
        arena.organizer,
        elsewhere.organizer,
        administrator(),
    )
    answers = [(board(arena, token=token), board_csv(arena, token=token)) for token in tokens]
    assert tuple(answer.status_code for answer, _ in answers) == OPEN_TO[setting]
    assert tuple(answer.status_code for _, answer in answers) == OPEN_TO[setting]
    for answer in (answer for pair in answers for answer in pair if answer.status_code == 403):
        assert answer.json()["code"] == "board_not_open"
        assert "red" not in answer.text
        assert "etag" not in answer.headers


def test_a_known_tag_opens_no_closed_board(client: TestClient) -> None:
    arena = Arena.opened(client, file=competition_file(more='[publication]\nboard = "organizers"'))
    tag = board(arena, token=arena.organizer).headers["etag"]
    assert asked(arena, "anonymization", token=None, headers={"If-None-Match": tag}).status_code == 403


def frozen(client: TestClient, at: datetime) -> Arena:
    file = competition_file(more=f"[publication]\nfrozen_from = {at.isoformat()}")
    return Arena.opened(client, file=file)


@pytest.mark.full
def test_a_frozen_board_hides_later_submissions_from_all_but_organizers(client: TestClient) -> None:
    now = datetime.now(UTC)
    arena = frozen(client, now)
    early = arena.submit("red", seed=1).json()["id"]
    arena.submit("red", seed=2)
    arena.submit("blue", seed=3)
    score_everything()
    dated(early, now - timedelta(hours=1))
    everything = {row["team"]: row["entries"] for row in rows_of(board(arena, token=arena.organizer))}
    assert everything == {"red": 2, "blue": 1}
    assert rows_of(board(arena, token=administrator())) == rows_of(board(arena, token=arena.organizer))
    stranger = Arena.opened(client, slug="elsewhere").organizer
    for token in (None, arena.team("red"), arena.team("blue"), stranger):
        assert [(row["team"], row["entries"]) for row in rows_of(board(arena, token=token))] == [("red", 1)]
        assert "blue" not in board_csv(arena, token=token).text
        shown = datetime.fromisoformat(board(arena, token=token).json()["frozen_from"])
        assert shown == now


@pytest.mark.full
def test_a_submission_scored_at_the_very_moment_of_freezing_is_hidden(client: TestClient) -> None:
    now = datetime.now(UTC)
    arena = frozen(client, now)
    identifier = arena.submit("red").json()["id"]
    score_everything()
    for ended, visible in ((now, 0), (now - timedelta(microseconds=1), 1)):
        dated(identifier, now - timedelta(hours=1), ended=ended)
        assert len(rows_of(board(arena))) == visible


@pytest.mark.full
def test_a_board_that_will_be_frozen_later_shows_everything_until_then(client: TestClient) -> None:
    arena = frozen(client, datetime.now(UTC) + timedelta(hours=1))
    arena.submit("red")
    score_everything()
    assert len(rows_of(board(arena))) == 1


@pytest.mark.full
def test_the_board_of_another_competition_shows_nothing_of_this_one(client: TestClient) -> None:
    here, there = (Arena.opened(client, slug=slug) for slug in ("here", "there"))
    here.submit("red")
    score_everything()
    assert (len(rows_of(board(here))), rows_of(board(there))) == (1, [])


def test_no_board_names_a_person(played: Arena) -> None:
    with transaction() as session:
        names = [user.name for user in session.scalars(select(User))]
    shown = board(played).text + board_csv(played).text
    assert not [name for name in names if name in shown]
