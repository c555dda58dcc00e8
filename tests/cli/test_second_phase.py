"""Commands of the second phase: download of data and targets, guesses and boards."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, update

from anoncup.tables.csv_text import write_csv
from app.core.db import engine
from app.core.db.models import Guess, State
from tests.support.arena import ROWS, Arena
from tests.support.command_line import CommandRunner, run_worker
from tests.support.contest import Contest, judge_everything

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, sign_in_as: SignIn) -> Contest:
    """A contest in its second phase with three targets; the team blue, which owns one, is signed in."""
    opened_contest = Contest.create(client, extra_toml='[publication]\nfeedback = "immediate"')
    for team in ("red", "green", "blue"):
        opened_contest.submit(team)
    opened_contest.open_attacks()
    sign_in_as(opened_contest.arena.get_team_token("blue"))
    return opened_contest


def list_foreign_targets(contest: Contest) -> list[str]:
    return [target["name"] for target in contest.list_targets("blue") if not target["own"]]


# Files of the competition.


def test_existing_files_are_overwritten_only_on_request(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    assert anoncup("download", "small", "--into", folder).status == 0
    second_result = anoncup("download", "small", "--into", folder, "--json")
    assert [file["new"] for file in second_result.json] == [False, False]
    (folder / "original.csv").write_text("mine")
    refused_result = anoncup("download", "small", "--into", folder)
    assert (refused_result.status, refused_result.stdout) == (2, "")
    assert (folder / "original.csv").read_text() == "mine"
    assert anoncup("download", "small", "--into", folder, "--replace").status == 0
    assert (folder / "original.csv").read_bytes() == write_csv(arena.table)
    assert sorted(path.name for path in folder.iterdir()) == ["competition.toml", "original.csv"]


def test_unknown_competition_creates_no_files(
    anoncup: CommandRunner, arena: Arena, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url)
    assert anoncup("download", "nowhere").status == 2
    assert [path for path in folder.rglob("*") if path.is_file()] == []


# Targets.


def test_unpacked_targets_match_the_manifest(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    result = anoncup("download", "small", "--targets")
    assert (result.status, result.stderr) == (0, "")
    manifest = contest.arena.get("/competitions/small/manifest").json()
    digests = {target["name"]: target["files"]["anonymized.csv"] for target in manifest["targets"]}
    for name in list_foreign_targets(contest):
        content = (folder / "small" / "targets" / name / "anonymized.csv").read_bytes()
        assert hashlib.sha256(content).hexdigest() == digests[name]
    assert (folder / "small" / "targets" / "commitments.csv").exists()
    assert not (folder / "small" / "targets.zip").exists()
    assert all(
        "(unchanged)" in line for line in anoncup("download", "small", "--targets").stdout.splitlines()
    )


# Guesses.


def build_guess(contest: Contest, name: str, rows: int) -> bytes:
    """Build a guess on the named target that is right on ``rows`` rows."""
    owners = {contest.find_target(submission)["name"]: submission for submission in contest.secrets}
    return contest.build_guess(owners[name], rows)


def test_guess_is_sent_by_target_name_or_id(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    name, identifier = next(
        (target["name"], target["id"]) for target in contest.list_targets("blue") if not target["own"]
    )
    (folder / "g.csv").write_bytes(build_guess(contest, name, 7))
    first = anoncup("guess", f"small/{name}", "--file", "g.csv", "--json")
    assert (first.status, first.json["answered"], first.json["guesses_left"]) == (0, 7, 2)
    (folder / "g.csv").write_bytes(build_guess(contest, name, 8))
    second = anoncup("guess", identifier, "--file", "g.csv")
    assert (second.status, second.stderr) == (0, "")
    judge_everything()
    guesses = anoncup("guesses", "small", "--json").json
    assert [(guess["target"], guess["correct"]) for guess in guesses] == [(name, 8), (name, 7)]
    assert name in anoncup("guesses", "small").stdout


def test_waiting_for_the_judge_shows_the_result_of_a_guess(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    first, second = list_foreign_targets(contest)
    (folder / "g.csv").write_bytes(build_guess(contest, first, 7))
    arguments = ("guess", f"small/{first}", "--file", "g.csv", "--wait")
    with run_worker(judge_everything):
        result = anoncup(*arguments)
        assert result.status == 0, result.stderr
        assert {"SCORED", "7"} <= set(result.stdout.split())
        (folder / "mine").mkdir()
        for name in (first, second):
            (folder / "mine" / f"{name}.csv").write_bytes(build_guess(contest, name, 9))
        (folder / "mine" / f"{second}.csv").write_text("original_row\n1\n")
        several = anoncup("guess", "small", "--file", "mine", "--wait", "--json")
    assert several.status == 2
    listed = anoncup("guesses", "small", "--json").json
    assert several.json[0] == listed[0]
    assert (several.json[0]["status"], several.json[0]["correct"]) == ("SCORED", 9)
    assert several.json[1]["problem"]["errors"]


@pytest.mark.parametrize(("state", "status"), [(State.REFUSED, 1), (State.ERROR, 70)])
def test_waiting_exits_with_the_status_of_the_guess(
    anoncup: CommandRunner, contest: Contest, folder: Path, state: State, status: int
) -> None:
    def judge() -> None:
        with engine.get_engine().begin() as connection:
            values = {"state": state, "finished_at": func.now()}
            connection.execute(update(Guess).where(Guess.state == State.QUEUED).values(values))

    name = list_foreign_targets(contest)[0]
    (folder / "g.csv").write_bytes(build_guess(contest, name, 7))
    with run_worker(judge):
        result = anoncup("guess", f"small/{name}", "--file", "g.csv", "--wait", "--json")
    assert (result.status, result.json["status"]) == (status, state)


def test_same_file_is_the_same_guess_unless_requested(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    name = list_foreign_targets(contest)[0]
    (folder / "g.csv").write_bytes(build_guess(contest, name, 7))
    arguments = ("guess", f"small/{name}", "--file", "g.csv", "--json")
    first, same, repeated = (anoncup(*arguments, *options).json for options in ((), (), ("--again",)))
    assert same == first
    assert (repeated["id"] != first["id"], repeated["guesses_left"]) == (True, first["guesses_left"] - 1)
    while (result := anoncup(*arguments, "--again")).status == 0:
        pass
    assert (result.status, "only the organizers can raise" in result.stderr) == (2, True)
    assert "again from" not in result.stderr


def test_folder_of_guesses_is_sent_for_each_target(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    (folder / "mine").mkdir()
    for name in list_foreign_targets(contest):
        (folder / "mine" / f"{name}.csv").write_bytes(build_guess(contest, name, ROWS))
        (folder / "mine" / f"._{name}.csv").write_bytes(b"\x00\x05\x16\x07 Mac OS X")
    (folder / "mine" / ".DS_Store").write_bytes(b"Bud1")
    result = anoncup("guess", "small", "--file", "mine", "--json")
    assert result.status == 0
    assert [guess["target"] for guess in result.json] == sorted(list_foreign_targets(contest))
    judge_everything()
    rows = contest.get_board("reidentification")["rows"]
    assert next(row for row in rows if row["team"] == "blue")["identified"] == 2 * ROWS


def test_file_for_an_unknown_target_stops_all_guesses(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    (folder / "mine").mkdir()
    for name in (*list_foreign_targets(contest), "notes"):
        (folder / "mine" / f"{name}.csv").write_bytes(b"original_row\n")
    result = anoncup("guess", "small", "--file", "mine")
    assert (result.status, result.stdout) == (2, "")
    assert "no target notes" in result.stderr
    assert anoncup("guesses", "small").stdout == "no guesses\n"


EMPTY_GUESS = b"original_row\n" + b"0\n" * ROWS


def test_guess_without_answers_is_sent_with_a_warning(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    name = list_foreign_targets(contest)[0]
    (folder / "g.csv").write_bytes(EMPTY_GUESS)
    result = anoncup("guess", f"small/{name}", "--file", "g.csv", "--json")
    assert (result.status, result.json["answered"]) == (0, 0)
    assert result.stderr == f"warning: {name}: no_answer: no line is answered, so the guess finds nobody\n"
    (folder / "mine").mkdir()
    (folder / "mine" / f"{name}.csv").write_bytes(EMPTY_GUESS)
    assert anoncup("guess", "small", "--file", "mine").stderr == result.stderr
    assert anoncup("guess", "small", "--file", "mine", "--no-check").stderr == ""


@pytest.mark.parametrize(
    "board_name",
    [
        "matrix",
        *(pytest.param(value, marks=pytest.mark.full) for value in ("anonymization", "reidentification")),
    ],
)
def test_every_board_can_be_printed(anoncup: CommandRunner, contest: Contest, board_name: str) -> None:
    red = next(iter(contest.secrets))
    contest.submit_correct_guess("blue", red, 5)
    path = f"/competitions/small/boards/{board_name}"
    token = contest.arena.get_team_token("blue")
    result = anoncup("board", "small", "--which", board_name, "--json")
    assert result.json == json.loads(contest.arena.get(path, token=token).text)
    assert "blue *" in anoncup("board", "small", "--which", board_name).stdout
    csv = anoncup("board", "small", "--which", board_name, "--csv").stdout
    assert csv.encode() == contest.arena.get(f"{path}.csv", token=token).content
    assert anoncup("board", "small", "--which", board_name, "--csv", "--json").status == 2
