"""Commands for allocated files: upload of organizer data, download, and reproduction after the reveal."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.support.allocated_contest import submit_release
from tests.support.allocation_track import (
    TEAM_ALLOCATION,
    build_label_file,
    install_allocation,
)
from tests.support.arena import ROWS
from tests.support.command_line import CommandRunner
from tests.support.contest import Contest, run_clock
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    install_allocation(monkeypatch, TEAM_ALLOCATION)
    return Contest.create(client)


def test_teams_download_and_later_reproduce_their_allocation(
    anoncup: CommandRunner, contest: Contest, sign_in_as: SignIn, folder: Path
) -> None:
    arena = contest.arena
    (folder / "hidden.csv").write_bytes(build_label_file(ROWS))
    sign_in_as(arena.organizer_token)
    assert (
        arena.put("/competitions/small/truth/hidden.csv", content=build_label_file(ROWS)).status_code == 200
    )
    sign_in_as(arena.get_team_token("red"))
    early_download = anoncup("download", "small", "--own")
    assert early_download.status != 0
    assert "not ready yet" in early_download.stderr
    run_clock()
    assert anoncup("download", "small", "--own").status == 0
    fetched = {name: (folder / "small" / "own" / f"{name}.csv").read_bytes() for name in ("secret", "labels")}
    digests = arena.get("/competitions/small/own", team="red").json()["files"]
    assert {f"{name}.csv": hashlib.sha256(item).hexdigest() for name, item in fetched.items()} == digests
    submit_release(contest, "red")
    score_everything()
    contest.open_attacks()
    contest.close_attacks()
    revealed = arena.client.get("/api/v1/competitions/small/allocations").json()
    (own_draw,) = (item for item in revealed["allocations"] if item["team"] == "red")
    assert anoncup("download", "small").status == 0
    result = anoncup(
        *("draw", "--competition", "small/competition.toml", "--original", "small/original.csv"),
        *("--seed", revealed["seed"], "--team", "red", "--attempt", str(own_draw["attempt"])),
        *("--truth", "hidden=hidden.csv", "--into", "again"),
    )
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == f"{revealed['commitment']}  the seed"
    assert {name: (folder / "again" / f"{name}.csv").read_bytes() for name in fetched} == fetched
