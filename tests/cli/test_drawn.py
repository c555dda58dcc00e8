"""What the service draws, by commands: given, fetched, and drawn again after the reveal."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.cli import draw
from anoncup.tables.csv_text import table_csv
from tests.support.allocated_contest import submit
from tests.support.allocation_track import HINTS, OWN, draws, labels
from tests.support.arena import ROWS
from tests.support.command_line import Anoncup
from tests.support.contest import Contest, turn
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SignedIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Contest:
    draws(monkeypatch, OWN)
    return Contest.opened(client)


def test_teams_fetch_their_data_and_draw_them_again_after_the_reveal(
    anoncup: Anoncup, contest: Contest, signed_in: SignedIn, folder: Path
) -> None:
    arena = contest.arena
    (folder / "hidden.csv").write_bytes(labels(ROWS))
    signed_in(arena.organizer)
    assert anoncup("organize", "truth", "small", "hidden", "hidden.csv").status == 0
    assert anoncup("organize", "truth", "small", "other", "hidden.csv").status != 0
    signed_in(arena.team("red"))
    early = anoncup("download", "small", "--own")
    assert early.status != 0
    assert "not ready yet" in early.err
    turn()
    assert anoncup("download", "small", "--own").status == 0
    fetched = {name: (folder / "small" / "own" / f"{name}.csv").read_bytes() for name in ("secret", "labels")}
    told = arena.get("/competitions/small/own", token=arena.team("red")).json()["files"]
    assert {f"{name}.csv": hashlib.sha256(one).hexdigest() for name, one in fetched.items()} == told
    submit(contest, "red")
    score_everything()
    contest.attack()
    contest.close()
    revealed = arena.client.get("/api/v1/competitions/small/draws").json()
    (mine,) = (one for one in revealed["draws"] if one["team"] == "red")
    assert anoncup("download", "small").status == 0
    again = anoncup(
        *("draw", "--competition", "small/competition.toml", "--original", "small/original.csv"),
        *("--seed", revealed["seed"], "--team", "red", "--attempt", str(mine["attempt"])),
        *("--truth", "hidden=hidden.csv", "--into", "again"),
    )
    assert (again.status, again.err) == (0, "")
    assert again.out.splitlines()[0] == f"{revealed['commitment']}  the seed"
    assert {name: (folder / "again" / f"{name}.csv").read_bytes() for name in fetched} == fetched


def test_what_is_drawn_for_all_comes_with_the_original_and_may_be_uploaded_by_name(
    anoncup: Anoncup,
    client: TestClient,
    signed_in: SignedIn,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draws(monkeypatch, HINTS)
    arena = Contest.opened(client).arena
    signed_in(arena.organizer)
    assert anoncup("download", "small").status == 0
    assert not (folder / "small" / "hints.csv").exists()
    turn()
    assert anoncup("download", "small").status == 0
    assert (folder / "small" / "hints.csv").read_text().startswith("rows,number\n40,")
    (folder / "X.csv").write_bytes(table_csv(arena.table))
    (folder / "H.csv").write_bytes(b"rows,number\n40,7\n")
    assert anoncup("organize", "upload", "small", "X.csv", "hints=H.csv").status == 0
    assert arena.get("/competitions/small/original/hints.csv").content == b"rows,number\n40,7\n"


def test_a_seed_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(Exception, match="64 hexadecimal digits"):
        draw.seed_in("not a seed")
