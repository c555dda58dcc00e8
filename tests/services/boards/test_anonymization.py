"""Tests of the anonymization board: access, content, and agreement of JSON and CSV."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import write_csv
from app.services.boards import spreadsheet
from tests.support.arena import API, Arena, build_competition_toml, build_noisy_release
from tests.support.uploads import score_everything

PATH = "/competitions/small/boards/anonymization"


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_json_and_csv_say_the_same_in_full_precision(arena: Arena) -> None:
    for team in ("red", "blue"):
        arena.submit(team, seed=len(team))
    score_everything()
    csv_rows = read_csv(arena.get(PATH + ".csv").text)
    for row, line in zip(arena.get(PATH).json()["rows"], csv_rows, strict=True):
        assert line["team"] == row["team"]
        assert float(line["overall"]) == row["overall"]
        for name, value in (row["measures"] | row["attackers"]).items():
            assert float(line[name]) == value


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
def test_no_team_name_starts_a_formula_in_the_csv(arena: Arena, start: str) -> None:
    name = f"{start}1+1, \"quoted\" 'team'"
    arena.submit(name)
    score_everything()
    (line,) = read_csv(arena.get(PATH + ".csv").text)
    assert line["team"] == f"'{name}"
    assert arena.get_board()["rows"][0]["team"] == name
    assert all(cell[:1] not in spreadsheet.FORMULA_PREFIXES for cell in line.values())


HIDDEN_STARTS = [
    " =",
    "\u3000=",
    "\u00a0+",
    "\t1",
    "\r1",
    "\n1",
    "\x00=",
    "\x1f@",
    "\ufeff=",
    "\u200b-",
    "\ufe0f=",
    "﹦",
]


@pytest.mark.parametrize("start", HIDDEN_STARTS, ids=ascii)
def test_nothing_that_a_spreadsheet_skips_hides_a_formula(start: str) -> None:
    (line,) = csv.reader(io.StringIO(spreadsheet.render_csv([start + "1"], []), newline=""))
    assert line == [f"'{start}1"]


@pytest.mark.parametrize("cell", ["", " ", "x=1", "1-1", "a@b", "  a", "ー", "力＝1", "'=", "−1"])
def test_other_text_is_left_as_it_is(cell: str) -> None:
    assert spreadsheet.escape_formula(cell) == cell


def test_a_team_stands_with_its_best_and_the_number_of_its_entries(arena: Arena) -> None:
    worse = build_noisy_release(3, arena.table.assign(income=arena.table["income"] * 1.5))
    arena.submit("red", anonymized=worse[0], secret=worse[1])
    best = arena.submit("red", seed=4).json()["id"]
    score_everything()
    (row,) = arena.get(PATH, token=arena.get_team_token("red")).json()["rows"]
    assert row["entries"] == 2
    assert row["overall"] == arena.get_submission(best, "red")["result"]["overall"]


def test_your_own_row_is_marked_for_you_alone(arena: Arena) -> None:
    for team in ("red", "blue"):
        arena.submit(team)
    score_everything()
    rows = arena.get(PATH, token=arena.get_team_token("red")).json()["rows"]
    assert {row["team"]: row["own"] for row in rows} == {"red": True, "blue": False}
    assert not any(row["own"] for row in arena.get_board()["rows"])


def test_a_board_that_has_not_changed_is_not_sent_again(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    first = arena.client.get(API + PATH)
    second = arena.client.get(API + PATH, headers={"If-None-Match": first.headers["etag"]})
    assert (second.status_code, second.content) == (304, b"")
    arena.submit("blue", seed=8)
    score_everything()
    changed = arena.client.get(API + PATH, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


@pytest.mark.parametrize(
    ("open_to", "visitor", "team", "organizer"),
    [("public", 200, 200, 200), ("teams", 403, 200, 200), ("organizers", 403, 403, 200)],
)
def test_the_board_is_open_to_whom_the_file_says(
    client: TestClient, open_to: str, visitor: int, team: int, organizer: int
) -> None:
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml=f'[publication]\nboard = "{open_to}"')
    )
    for path in (PATH, PATH + ".csv"):
        assert client.get(API + path).status_code == visitor
        assert arena.get(path, token=arena.get_team_token("red")).status_code == team
        assert arena.get(path).status_code == organizer


def test_a_frozen_board_shows_later_submissions_to_organizers_only(client: TestClient) -> None:
    frozen = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml=f"[publication]\nfrozen_from = {frozen}")
    )
    arena.submit("red")
    score_everything()
    assert arena.get_board()["rows"] == []
    assert arena.get(PATH, token=arena.get_team_token("red")).json()["rows"] == []
    assert len(arena.get(PATH).json()["rows"]) == 1


def test_a_rejected_team_is_listed_last_without_rank_or_numbers(arena: Arena) -> None:
    reversed_table = arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(reversed_table)))
    arena.submit("cheats", anonymized=write_csv(reversed_table), secret=secret.encode())
    arena.submit("honest")
    score_everything()
    first, last = arena.get_board()["rows"]
    assert (first["team"], first["rank"]) == ("honest", 1)
    assert (last["team"], last["rank"], last["utility"], last["measures"]) == ("cheats", None, None, {})
