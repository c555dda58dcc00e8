"""Files that the service allocates once for all teams because the organizers have not uploaded them."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import write_csv
from tests.support.allocated_contest import COMPETITION_PATH, create_contest, load_audit_entries
from tests.support.allocation_track import SHARED_ALLOCATION
from tests.support.arena import ROWS
from tests.support.contest import load_round, run_clock
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def test_shared_allocations_are_published_with_the_original(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, SHARED_ALLOCATION)
    arena = contest.arena
    early_response = arena.submit("red")
    assert (early_response.status_code, early_response.json()["code"]) == (409, "not_drawn_yet")
    assert arena.get(f"{COMPETITION_PATH}/original/hints.csv").json()["code"] == "no_such_file"
    run_clock()
    hints = arena.get(f"{COMPETITION_PATH}/original/hints.csv").text
    assert hints.splitlines()[1].startswith(f"{ROWS},")
    description = arena.get(COMPETITION_PATH).json()
    assert description["original_sha256"]["hints.csv"] == hashlib.sha256(hints.encode()).hexdigest()
    assert arena.submit("red").status_code == 202
    score_everything()
    assert arena.get(f"{COMPETITION_PATH}/submissions/all").json()[0]["status"] == "SCORED"
    assert [entry.after for entry in load_audit_entries("data.draw")] == [dict(load_round().shared_files)]


def test_shared_allocations_follow_the_original_and_never_replace_uploads(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest = create_contest(client, monkeypatch, SHARED_ALLOCATION)
    arena = contest.arena
    run_clock()
    first_hints = arena.get(f"{COMPETITION_PATH}/original/hints.csv").text
    longer_table = arena.table.iloc[[0, *range(ROWS)]]
    arena.put(f"{COMPETITION_PATH}/original/original.csv", content=write_csv(longer_table))
    assert load_round().shared_files == {}
    run_clock()
    second_hints = arena.get(f"{COMPETITION_PATH}/original/hints.csv").text
    assert second_hints == first_hints.replace(f"\n{ROWS},", f"\n{ROWS + 1},")
    uploaded_hints = b"rows,number\n1,2\n"
    assert arena.put(f"{COMPETITION_PATH}/original/hints.csv", content=uploaded_hints).status_code == 200
    run_clock()
    assert load_round().shared_files == {}
    assert arena.get(f"{COMPETITION_PATH}/original/hints.csv").content == uploaded_hints
