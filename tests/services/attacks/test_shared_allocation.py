"""Files that the service allocates once for all teams because the organizers have not uploaded them."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import write_csv
from tests.support.allocated_contest import PATH, create_contest, load_audit_entries
from tests.support.allocation_track import SHARED_ALLOCATION
from tests.support.arena import ROWS
from tests.support.contest import load_competition, run_clock
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def test_shared_allocations_are_published_with_the_original(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, SHARED_ALLOCATION)
    arena = contest.arena
    early = arena.submit("red")
    assert (early.status_code, early.json()["code"]) == (409, "not_drawn_yet")
    assert arena.get(f"{PATH}/original/hints.csv").json()["code"] == "no_such_file"
    run_clock()
    first = arena.get(f"{PATH}/original/hints.csv").text
    assert first.splitlines()[1].startswith(f"{ROWS},")
    description = arena.get(PATH).json()
    assert description["original_sha256"]["hints.csv"] == hashlib.sha256(first.encode()).hexdigest()
    assert arena.submit("red").status_code == 202
    score_everything()
    assert arena.get(f"{PATH}/submissions/all").json()[0]["status"] == "SCORED"
    assert [entry.after for entry in load_audit_entries("data.draw")] == [dict(load_competition().drawn)]


def test_shared_allocations_are_made_anew_for_new_data_and_never_replace_uploads(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, SHARED_ALLOCATION)
    arena = contest.arena
    run_clock()
    first = arena.get(f"{PATH}/original/hints.csv").text
    longer_table = arena.table.iloc[[0, *range(ROWS)]]
    arena.put(f"{PATH}/original/original.csv", content=write_csv(longer_table))
    assert load_competition().drawn == {}
    run_clock()
    second = arena.get(f"{PATH}/original/hints.csv").text
    assert second == first.replace(f"\n{ROWS},", f"\n{ROWS + 1},")
    uploaded = b"rows,number\n1,2\n"
    assert arena.put(f"{PATH}/original/hints.csv", content=uploaded).status_code == 200
    run_clock()
    assert load_competition().drawn == {}
    assert arena.get(f"{PATH}/original/hints.csv").content == uploaded
