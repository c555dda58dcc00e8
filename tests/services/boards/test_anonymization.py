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

BOARD_PATH = "/competitions/small/boards/anonymization"


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_json_and_csv_agree_in_full_precision(arena: Arena) -> None:
    for team in ("red", "blue"):
        arena.submit(team, seed=len(team))
    score_everything()
    csv_rows = read_csv(arena.get(BOARD_PATH + ".csv").text)
    for row, line in zip(arena.get(BOARD_PATH).json()["rows"], csv_rows, strict=True):
        assert line["team"] == row["team"]
        assert float(line["overall"]) == row["overall"]
        for name, value in (row["measures"] | row["attackers"]).items():
            assert float(line[name]) == value


@pytest.mark.parametrize("prefix", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
def test_team_names_are_escaped_against_formulas_in_the_csv(arena: Arena, prefix: str) -> None:
    name = f"{prefix}1+1, \"quoted\" 'team'"
    arena.submit(name)
    score_everything()
    (line,) = read_csv(arena.get(BOARD_PATH + ".csv").text)
    assert line["team"] == f"'{name}"
    assert arena.get_board()["rows"][0]["team"] == name
    assert all(cell[:1] not in spreadsheet.FORMULA_PREFIXES for cell in line.values())


DISGUISED_PREFIXES = [
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


@pytest.mark.parametrize("prefix", DISGUISED_PREFIXES, ids=ascii)
def test_formulas_behind_ignored_characters_are_escaped(prefix: str) -> None:
    (line,) = csv.reader(io.StringIO(spreadsheet.render_csv([prefix + "1"], []), newline=""))
    assert line == [f"'{prefix}1"]


@pytest.mark.parametrize("cell", ["", " ", "x=1", "1-1", "a@b", "  a", "ー", "力＝1", "'=", "−1"])
def test_text_without_formula_is_not_escaped(cell: str) -> None:
    assert spreadsheet.escape_formula(cell) == cell


def test_row_shows_the_best_entry_and_the_number_of_entries(arena: Arena) -> None:
    worse_release = build_noisy_release(3, arena.table.assign(income=arena.table["income"] * 1.5))
    arena.submit("red", anonymized=worse_release[0], secret=worse_release[1])
    best_id = arena.submit("red", seed=4).json()["id"]
    score_everything()
    (row,) = arena.get(BOARD_PATH, token=arena.get_team_token("red")).json()["rows"]
    assert row["entries"] == 2
    assert row["overall"] == arena.get_submission(best_id, "red")["result"]["overall"]


def test_only_a_teams_members_see_its_row_marked_as_own(arena: Arena) -> None:
    for team in ("red", "blue"):
        arena.submit(team)
    score_everything()
    rows = arena.get(BOARD_PATH, token=arena.get_team_token("red")).json()["rows"]
    assert {row["team"]: row["own"] for row in rows} == {"red": True, "blue": False}
    assert not any(row["own"] for row in arena.get_board()["rows"])


def test_unchanged_board_is_not_sent_again(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    first_response = arena.client.get(API + BOARD_PATH)
    second_response = arena.client.get(
        API + BOARD_PATH, headers={"If-None-Match": first_response.headers["etag"]}
    )
    assert (second_response.status_code, second_response.content) == (304, b"")
    arena.submit("blue", seed=8)
    score_everything()
    changed_response = arena.client.get(
        API + BOARD_PATH, headers={"If-None-Match": first_response.headers["etag"]}
    )
    assert changed_response.status_code == 200


@pytest.mark.parametrize(
    ("audience", "visitor_status", "team_status", "organizer_status"),
    [("public", 200, 200, 200), ("teams", 403, 200, 200), ("organizers", 403, 403, 200)],
)
def test_board_is_shown_to_the_audience_in_the_rules(
    client: TestClient, audience: str, visitor_status: int, team_status: int, organizer_status: int
) -> None:
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml=f'[publication]\nboard = "{audience}"')
    )
    for path in (BOARD_PATH, BOARD_PATH + ".csv"):
        assert client.get(API + path).status_code == visitor_status
        assert arena.get(path, token=arena.get_team_token("red")).status_code == team_status
        assert arena.get(path).status_code == organizer_status


def test_only_organizers_see_submissions_after_the_freeze(client: TestClient) -> None:
    frozen_from = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    arena = Arena.create(
        client, file=build_competition_toml(extra_toml=f"[publication]\nfrozen_from = {frozen_from}")
    )
    arena.submit("red")
    score_everything()
    assert arena.get_board()["rows"] == []
    assert arena.get(BOARD_PATH, token=arena.get_team_token("red")).json()["rows"] == []
    assert len(arena.get(BOARD_PATH).json()["rows"]) == 1


def test_rejected_team_is_listed_last_without_scores(arena: Arena) -> None:
    reversed_table = arena.table.iloc[::-1].reset_index(drop=True)
    secret = "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(reversed_table)))
    arena.submit("cheats", anonymized=write_csv(reversed_table), secret=secret.encode())
    arena.submit("honest")
    score_everything()
    first_row, last_row = arena.get_board()["rows"]
    assert (first_row["team"], first_row["rank"]) == ("honest", 1)
    assert (last_row["team"], last_row["rank"], last_row["utility"], last_row["measures"]) == (
        "cheats",
        None,
        None,
        {},
    )
