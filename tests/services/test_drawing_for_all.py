"""What the service draws once for all, in place of files that the organizers have not uploaded."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import table_csv
from tests.support.allocated_contest import PATH, acts, opened
from tests.support.allocation_track import HINTS
from tests.support.arena import ROWS
from tests.support.contest import competition_row, turn
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def test_what_is_drawn_for_all_is_given_out_with_the_original_and_again_when_that_changes(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = opened(client, monkeypatch, HINTS)
    arena = contest.arena
    early = arena.submit("red")
    assert (early.status_code, early.json()["code"]) == (409, "not_drawn_yet")
    assert arena.get(f"{PATH}/original/hints.csv").json()["code"] == "no_such_file"
    turn()
    first = arena.get(f"{PATH}/original/hints.csv").text
    assert first.splitlines()[1].startswith(f"{ROWS},")
    told = arena.get(PATH).json()
    assert told["original_sha256"]["hints.csv"] == hashlib.sha256(first.encode()).hexdigest()
    assert arena.submit("red").status_code == 202
    score_everything()
    assert arena.get(f"{PATH}/submissions/all").json()[0]["status"] == "SCORED"
    assert [entry.after for entry in acts("data.draw")] == [dict(competition_row().drawn)]


def test_hints_are_drawn_anew_when_the_data_change_and_never_over_uploaded_ones(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = opened(client, monkeypatch, HINTS)
    arena = contest.arena
    turn()
    first = arena.get(f"{PATH}/original/hints.csv").text
    longer = arena.table.iloc[[0, *range(ROWS)]]
    arena.put(f"{PATH}/original/original.csv", content=table_csv(longer))
    assert competition_row().drawn == {}
    turn()
    second = arena.get(f"{PATH}/original/hints.csv").text
    assert second == first.replace(f"\n{ROWS},", f"\n{ROWS + 1},")
    uploaded = b"rows,number\n1,2\n"
    assert arena.put(f"{PATH}/original/hints.csv", content=uploaded).status_code == 200
    turn()
    assert competition_row().drawn == {}
    assert arena.get(f"{PATH}/original/hints.csv").content == uploaded
