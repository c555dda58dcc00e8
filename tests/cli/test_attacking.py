"""The second phase by commands: fetch, guess, look; and the competition's files before it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient

from anoncup.tables.csv_text import table_csv
from tests.support.arena import ROWS, Arena, competition_file
from tests.support.command_line import Anoncup
from tests.support.contest import Contest, judge_everything
from tests.support.wait import PATIENCE_S

pytestmark = pytest.mark.full

SignedIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, signed_in: SignedIn) -> Contest:
    """Two targets in the open second phase; the team blue, which owns one of them, is signed in."""
    made = Contest.opened(client, more='[publication]\nfeedback = "immediate"')
    for team in ("red", "green", "blue"):
        made.submit(team)
    made.attack()
    signed_in(made.arena.team("blue"))
    return made


def foreign(contest: Contest) -> list[str]:
    return [target["name"] for target in contest.targets("blue") if not target["own"]]


# The competition's own files.


def test_a_competition_is_fetched_ready_for_the_local_commands(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    done = anoncup("download", "small")
    assert (done.status, done.err) == (0, "")
    assert sorted(path.name for path in (folder / "small").iterdir()) == ["competition.toml", "original.csv"]
    assert (folder / "small" / "original.csv").read_bytes() == table_csv(arena.table)
    words = ["--competition", "small/competition.toml", "--original", "small/original.csv"]
    assert anoncup("check", *words, "--anonymized", "small/original.csv").status == 0


def test_a_file_of_ones_own_is_not_overwritten_unless_one_says_so(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    assert anoncup("download", "small", "--into", folder).status == 0
    again = anoncup("download", "small", "--into", folder, "--json")
    assert [each["new"] for each in again.json] == [False, False]
    (folder / "original.csv").write_text("mine")
    refused = anoncup("download", "small", "--into", folder)
    assert (refused.status, refused.out) == (2, "")
    assert (folder / "original.csv").read_text() == "mine"
    assert anoncup("download", "small", "--into", folder, "--replace").status == 0
    assert (folder / "original.csv").read_bytes() == table_csv(arena.table)
    assert sorted(path.name for path in folder.iterdir()) == ["competition.toml", "original.csv"]


def test_the_kit_is_fetched_as_it_is(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    assert anoncup("download", "small", "--kit").status == 0
    served = httpx2.get(
        f"{url}/api/v1/competitions/small/kit.zip", timeout=PATIENCE_S
    ).content  # with the address in it
    assert (folder / "small" / "kit.zip").read_bytes() == served
    assert anoncup("download", "small", "--kit", "--targets").status == 2


def test_nothing_is_made_of_a_mistaken_name(
    anoncup: Anoncup, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    assert anoncup("download", "nowhere").status == 2
    arena.post("/competitions", content=competition_file("empty"))
    assert anoncup("download", "empty", "--into", "there").status == 2
    assert [path for path in folder.rglob("*") if path.is_file()] == []


# Targets.


def test_targets_are_listed_as_the_service_lists_them(anoncup: Anoncup, contest: Contest) -> None:
    assert anoncup("targets", "small", "--json").json == contest.targets("blue")
    shown = anoncup("targets", "small")
    assert shown.status == 0
    assert all(name in shown.out for name in foreign(contest))


def test_targets_are_unpacked_and_are_what_the_manifest_says(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    done = anoncup("download", "small", "--targets")
    assert (done.status, done.err) == (0, "")
    manifest = contest.arena.get("/competitions/small/manifest").json()
    digests = {target["name"]: target["files"]["anonymized.csv"] for target in manifest["targets"]}
    for name in foreign(contest):
        content = (folder / "small" / "targets" / name / "anonymized.csv").read_bytes()
        assert hashlib.sha256(content).hexdigest() == digests[name]
    assert (folder / "small" / "targets" / "commitments.csv").exists()
    assert not (folder / "small" / "targets.zip").exists()
    assert all("(unchanged)" in line for line in anoncup("download", "small", "--targets").out.splitlines())


def test_targets_need_somebody_who_is_signed_in(
    anoncup: Anoncup, contest: Contest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANONCUP_TOKEN")
    done = anoncup("download", "small", "--targets")
    assert (done.status, "run anoncup login" in done.err) == (2, True)
    assert not (folder / "small").exists()


# Guesses.


def right(contest: Contest, name: str, rows: int) -> bytes:
    """A guess on the target of that name, right on ``rows`` rows."""
    owners = {contest.target_of(submission)["name"]: submission for submission in contest.secrets}
    return contest.right_on(owners[name], rows)


def test_a_guess_is_handed_in_by_the_targets_name_or_id(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    name, identifier = next((one["name"], one["id"]) for one in contest.targets("blue") if not one["own"])
    (folder / "g.csv").write_bytes(right(contest, name, 7))
    first = anoncup("guess", f"small/{name}", "--file", "g.csv", "--json")
    assert (first.status, first.json["answered"], first.json["guesses_left"]) == (0, 7, 2)
    (folder / "g.csv").write_bytes(right(contest, name, 8))
    second = anoncup("guess", identifier, "--file", "g.csv")
    assert (second.status, second.err) == (0, "")
    judge_everything()
    listed = anoncup("guesses", "small", "--json").json
    assert [(each["target"], each["correct"]) for each in listed] == [(name, 8), (name, 7)]
    assert name in anoncup("guesses", "small").out


def test_the_same_file_is_the_same_guess_unless_another_is_asked_for(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    name = foreign(contest)[0]
    (folder / "g.csv").write_bytes(right(contest, name, 7))
    words = ("guess", f"small/{name}", "--file", "g.csv", "--json")
    first, same, other = (anoncup(*words, *more).json for more in ((), (), ("--again",)))
    assert same == first
    assert (other["id"] != first["id"], other["guesses_left"]) == (True, first["guesses_left"] - 1)


def test_a_folder_of_guesses_is_handed_in_target_by_target(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    (folder / "mine").mkdir()
    for name in foreign(contest):
        (folder / "mine" / f"{name}.csv").write_bytes(right(contest, name, ROWS))
    done = anoncup("guess", "small", "--file", "mine", "--json")
    assert done.status == 0
    assert [each["target"] for each in done.json] == sorted(foreign(contest))
    judge_everything()
    rows = contest.board("reidentification")["rows"]
    assert next(row for row in rows if row["team"] == "blue")["identified"] == 2 * ROWS


def test_one_refused_guess_does_not_keep_the_others_back(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    good, bad = foreign(contest)
    (folder / "mine").mkdir()
    (folder / "mine" / f"{good}.csv").write_bytes(right(contest, good, 1))
    (folder / "mine" / f"{bad}.csv").write_text("original_row\n1\n")
    done = anoncup("guess", "small", "--file", "mine", "--json")
    assert done.status == 2
    found = {each["target"]: "problem" in each for each in done.json}
    assert found == {good: False, bad: True}
    assert len(anoncup("guesses", "small", "--json").json) == 1


def test_a_file_for_a_target_that_there_is_not_keeps_all_back(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    (folder / "mine").mkdir()
    for name in (*foreign(contest), "notes"):
        (folder / "mine" / f"{name}.csv").write_bytes(b"original_row\n")
    done = anoncup("guess", "small", "--file", "mine")
    assert (done.status, done.out) == (2, "")
    assert "no target notes" in done.err
    assert anoncup("guesses", "small").out == "no guesses\n"


def test_a_malformed_guess_is_told_with_its_row(anoncup: Anoncup, contest: Contest, folder: Path) -> None:
    name = foreign(contest)[0]
    lines = ["original_row", *["0"] * ROWS]
    lines[3] = "x"
    (folder / "g.csv").write_text("\n".join(lines))
    done = anoncup("guess", f"small/{name}", "--file", "g.csv")
    assert (done.status, done.out) == (2, "")
    assert "\n  g.csv, row 3: " in done.err


NOBODY = b"original_row\n" + b"0\n" * ROWS


def test_a_guess_that_answers_nothing_is_warned_of_and_sent(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    name = foreign(contest)[0]
    (folder / "g.csv").write_bytes(NOBODY)
    done = anoncup("guess", f"small/{name}", "--file", "g.csv", "--json")
    assert (done.status, done.json["answered"]) == (0, 0)
    assert done.err == f"anoncup: {name}: no_answer: no line is answered, so the guess finds nobody\n"
    (folder / "mine").mkdir()
    (folder / "mine" / f"{name}.csv").write_bytes(NOBODY)
    assert anoncup("guess", "small", "--file", "mine").err == done.err
    assert anoncup("guess", "small", "--file", "mine", "--no-check").err == ""


def test_a_malformed_guess_that_is_checked_first_costs_no_attempt(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    (folder / "g.csv").write_text("original_row\n1\n")
    words = ("guess", f"small/{foreign(contest)[0]}", "--file", "g.csv")
    for more, used in ((), 0), (("--no-check",), 1):
        assert anoncup(*words, *more).status == 2
        caps = contest.arena.get(f"{contest.path}/quota", token=contest.arena.team("blue")).json()["caps"]
        assert {cap["used"] for cap in caps} == {used}


@pytest.mark.parametrize(
    "target", ["small/T99", *(pytest.param(one, marks=pytest.mark.full) for one in ("nowhere/T01", "T01"))]
)
def test_a_guess_on_no_target_exits_with_two(
    anoncup: Anoncup, contest: Contest, folder: Path, target: str
) -> None:
    (folder / "g.csv").write_text("original_row\n")
    done = anoncup("guess", target, "--file", "g.csv")
    assert (done.status, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize(
    "which",
    ["matrix", *(pytest.param(one, marks=pytest.mark.full) for one in ("anonymization", "reidentification"))],
)
def test_every_board_is_shown_and_printed(anoncup: Anoncup, contest: Contest, which: str) -> None:
    red = next(iter(contest.secrets))
    contest.guessed("blue", red, 5)
    path = f"/competitions/small/boards/{which}"
    token = contest.arena.team("blue")
    found = anoncup("board", "small", "--which", which, "--json")
    assert found.json == json.loads(contest.arena.get(path, token=token).text)
    assert "blue *" in anoncup("board", "small", "--which", which).out
    csv = anoncup("board", "small", "--which", which, "--csv").out
    assert csv.encode() == contest.arena.get(f"{path}.csv", token=token).content
