"""A team's first phase by commands: hand in, follow, choose, look at the board."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, update

from anoncup.client import transport
from anoncup.competition.templates import template
from anoncup.messages import Message, Statement
from anoncup.rules.toml_text import with_tables
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from app.db import engine
from app.db.models import Evaluation, State
from tests.support import shop_files
from tests.support.arena import Arena, competition_file, noisy_release
from tests.support.command_line import Anoncup, working
from tests.support.contest import judge_everything
from tests.support.uploads import score_everything

SignedIn = Callable[[str], None]


@pytest.fixture
def release(arena: Arena, folder: Path, signed_in: SignedIn) -> list[str | Path]:
    """The options of a good release; the team red is signed in."""
    signed_in(arena.team("red"))
    table, secret = noisy_release(1, arena.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    return ["--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]


def only(listed: Any) -> Any:
    assert len(listed) == 1
    return listed[0]


@pytest.mark.full
def test_competitions_are_listed_for_visitors(
    anoncup: Anoncup, arena: Arena, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", url + "/")
    done = anoncup("competitions")
    assert done.status == 0
    assert "small" in done.out
    assert anoncup("competitions", "--json").json == arena.get("/competitions").json()


def test_a_release_is_received_with_a_receipt(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    done = anoncup("submit", "small", *release, "--comment", "初めて")
    assert (done.status, done.err) == (0, "")
    found = only(arena.get("/competitions/small/submissions", token=arena.team("red")).json())
    assert found["comment"] == "初めて"
    for word in (found["id"], found["commitment"], *found["sha256"].values(), "valid_total: 99"):
        assert word in done.out


@pytest.mark.full
def test_a_receipt_as_json_is_the_services_own(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    receipt = anoncup("submit", "small", *release, "--json").json
    found = arena.submission(receipt["id"], "red")
    assert receipt == {name: found[name] for name in receipt}
    assert receipt["status"] == "QUEUED"


def test_the_service_checks_a_release_without_the_original(
    anoncup: Anoncup, arena: Arena, folder: Path, release: list[str | Path]
) -> None:
    good = anoncup("check", "--service", "--competition", "small", *release, "--json")
    assert (good.status, good.json) == (0, {"verdict": "well-formed", "violations": [], "warnings": []})
    (folder / "competition.toml").write_text(competition_file("small"))
    named = ["--service", "--competition", folder / "competition.toml"]
    assert anoncup("check", *named, *release).out.strip() == "well-formed"
    (folder / "Y.csv").write_bytes(table_csv(arena.table.assign(income="many")))
    bad = anoncup("check", *named, *release)
    assert bad.status == 2
    assert "Y.csv" in bad.err
    assert "income, row 1: not a decimal number" in " ".join(bad.err.split())
    listed = json.loads(anoncup("check", *named, *release, "--json").out)
    assert (listed["errors"][0]["file"], listed["total"]) == ("Y.csv", len(arena.table))
    half = arena.table.iloc[:10]
    (folder / "Y.csv").write_bytes(table_csv(half))
    (folder / "s.csv").write_bytes(secret_csv(half.index.to_numpy()))
    few = anoncup("check", *named, *release, "--json")
    assert (few.status, few.json["verdict"]) == (1, "rejected")
    assert few.json["violations"][0]["code"] == "too_few_rows"
    assert arena.get("/competitions/small/submissions", token=arena.team("red")).json() == []
    quota = arena.get("/competitions/small/quota", token=arena.team("red")).json()
    assert {cap["used"] for cap in quota["caps"]} == {0}


@pytest.mark.full
def test_a_check_by_a_service_that_is_away_exits_with_three(
    anoncup: Anoncup, release: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "PAUSES_S", ())
    monkeypatch.setenv("ANONCUP_URL", "http://127.0.0.1:1")
    assert anoncup("check", "--service", "--competition", "small", *release).status == 3


def test_waiting_shows_the_result_of_a_scored_release(anoncup: Anoncup, release: list[str | Path]) -> None:
    with working(score_everything):
        done = anoncup("submit", "small", *release, "--wait")
    assert (done.status, done.err) == (0, "")
    for word in ("SCORED", "accepted", "mean_mae", "euc2", "overall"):
        assert word in done.out


@pytest.mark.full
def test_waiting_for_a_release_that_the_rules_reject_exits_with_one(
    anoncup: Anoncup, arena: Arena, folder: Path, release: list[str | Path]
) -> None:
    half = arena.table.iloc[:10]
    (folder / "Y.csv").write_bytes(table_csv(half))
    (folder / "s.csv").write_bytes(secret_csv(half.index.to_numpy()))
    with working(score_everything):
        done = anoncup("submit", "small", *release, "--wait", "--json")
    assert (done.status, done.json["status"]) == (1, "REJECTED")
    assert done.json["result"]["violations"][0]["code"] == "too_few_rows"
    assert "anoncup: too_few_rows: 10 rows are left; at least 20 must be" in done.err
    listed = anoncup("submissions", "small").out
    assert "REJECTED" in listed
    assert f"{done.json['result']['overall']:.6g}" not in listed
    assert f"{done.json['result']['utility']:.6g}" in listed


@pytest.mark.full
def test_waiting_for_a_submission_that_is_withdrawn_exits_with_two(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    def withdraw() -> None:
        path = "/competitions/small/submissions"
        while not (listed := arena.get(path, token=arena.team("red")).json()):
            pass
        arena.post(f"/submissions/{listed[0]['id']}/cancel", token=arena.team("red"))

    thread = threading.Thread(target=withdraw)
    thread.start()
    done = anoncup("submit", "small", *release, "--wait", "--json")
    thread.join()
    assert (done.status, done.json["status"]) == (2, "CANCELLED")


@pytest.mark.full
def test_waiting_for_a_submission_whose_scoring_failed_exits_with_seventy(
    anoncup: Anoncup, release: list[str | Path]
) -> None:
    over = threading.Event()

    def fail() -> None:
        while not over.wait(0.1):
            with engine.get_engine().begin() as connection:
                failure = Statement("scoring_failed", Message("lost"))
                values = {"state": State.ERROR, "failure": failure, "finished_at": func.now()}
                connection.execute(update(Evaluation).values(values))

    thread = threading.Thread(target=fail)
    thread.start()
    done = anoncup("submit", "small", *release, "--wait")
    over.set()
    thread.join()
    assert (done.status, "lost" in done.out) == (70, True)


def test_a_malformed_release_is_told_with_file_row_column_and_code(
    anoncup: Anoncup, arena: Arena, folder: Path, release: list[str | Path]
) -> None:
    text = (folder / "Y.csv").read_text().splitlines()
    text[3] = text[3].rpartition(",")[0] + ",x"
    (folder / "Y.csv").write_text("\n".join(text))
    done = anoncup("submit", "small", *release)
    assert (done.status, done.out) == (2, "")
    assert "\n  Y.csv, row 3: not_a_number: rent" in done.err
    assert done.err.endswith(" (line 4: 'x')\n")
    again = anoncup("submit", "small", *release, "--json")
    (one,) = again.json["errors"]
    assert (again.status, again.err) == (2, done.err)
    assert (one["file"], one["row"], one["column"], one["code"]) == ("Y.csv", 3, "rent", "not_a_number")
    assert (one["line"], one["values"]["value"]) == (4, "x")
    assert anoncup("submissions", "small").out == "no submissions\n"
    assert attempts(arena) == 0
    unread = anoncup("submit", "small", *release, "--no-check", "--json")
    assert (unread.status, unread.err, unread.json["errors"]) == (2, done.err, again.json["errors"])
    assert attempts(arena) == 1


def attempts(arena: Arena) -> int:
    quota = arena.get("/competitions/small/quota", token=arena.team("red")).json()
    return int(next(one["used"] for one in quota["caps"] if one["name"] == "attempts_per_day"))


@pytest.mark.full
def test_a_secret_that_cannot_be_right_is_told_before_anything_is_sent(
    anoncup: Anoncup, arena: Arena, folder: Path, release: list[str | Path]
) -> None:
    (folder / "s.csv").write_text("original_row\n" + "1\n" * len(arena.table))
    done = anoncup("submit", "small", *release)
    assert (done.status, done.out) == (2, "")
    assert "s.csv, row 2: " in done.err
    assert attempts(arena) == 0


@pytest.mark.full
def test_a_release_of_another_track_is_refused_before_it_is_sent(
    anoncup: Anoncup, folder: Path, release: list[str | Path]
) -> None:
    done = anoncup("submit", "small", *release, "--customers", folder / "Y.csv")
    assert (done.status, done.out) == (2, "")
    assert "--customers and --transactions" in done.err


def test_submissions_are_listed_and_shown_with_every_measure(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert identifier in anoncup("submissions", "small").out
    assert anoncup("submissions", "small", identifier, "--json").json == arena.submission(identifier, "red")
    shown = anoncup("submissions", "small", identifier)
    assert (shown.status, "cross_count" in shown.out) == (0, True)
    assert anoncup("submissions", "other", identifier).status == 2


@pytest.mark.full
def test_a_submission_is_withdrawn_and_quota_told(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    identifier = anoncup("submit", "small", *release, "--json").json["id"]
    before = {cap["name"]: cap["used"] for cap in anoncup("quota", "small", "--json").json["caps"]}
    assert anoncup("cancel", identifier).out == f"{identifier} is CANCELLED\n"
    after = {cap["name"]: cap["used"] for cap in anoncup("quota", "small", "--json").json["caps"]}
    assert (before["valid_total"], after["valid_total"], after["attempts_total"]) == (1, 0, 1)
    shown = anoncup("quota", "small")
    assert shown.status == 0
    assert all(name in shown.out for name in after)


@pytest.mark.full
def test_finals_are_marked_and_unmarked(anoncup: Anoncup, arena: Arena, release: list[str | Path]) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert anoncup("final", identifier).out == f"{identifier} is one of your finals\n"
    assert arena.submission(identifier, "red")["final"] is True
    assert anoncup("final", identifier, "--off", "--json").json["final"] is False


@pytest.mark.full
def test_used_up_quota_says_when_there_is_more(
    anoncup: Anoncup, signed_in: SignedIn, arena: Arena, folder: Path
) -> None:
    tight = Arena.opened(
        arena.client, slug="tight", file=competition_file("tight", more="[limits]\nvalid_per_day = 1")
    )
    signed_in(tight.team("red"))
    table, secret = noisy_release(1, tight.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    words = ["submit", "tight", "--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]
    assert anoncup(*words).status == 0
    done = anoncup(*words)
    assert (done.status, done.out) == (2, "")
    assert "again from 20" in done.err


def test_the_board_is_shown_and_printed_as_csv_and_json(
    anoncup: Anoncup, arena: Arena, release: list[str | Path]
) -> None:
    arena.submit("red")
    arena.submit("[bold]青[/x]")
    score_everything()
    judge_everything()
    shown = anoncup("board", "small")
    assert "red *" in shown.out
    assert "[bold]青[/x]" in shown.out
    path = "/competitions/small/boards/anonymization"
    assert anoncup("board", "small", "--json").json == arena.get(path, token=arena.team("red")).json()
    csv = arena.get(f"{path}.csv", token=arena.team("red")).content
    assert anoncup("board", "small", "--csv").out.encode() == csv
    assert anoncup("board", "small", "--csv", "--json").status == 2


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        ["submissions", "nowhere"],
        ["quota", "../me"],
        ["board", "nowhere"],
        ["cancel", "not-an-id"],
        ["final", "00000000-0000-0000-0000-000000000000"],
        ["board", "small", "--which", "other"],
        ["submit", "small"],
    ],
    ids=" ".join,
)
def test_what_is_not_there_exits_with_two(
    anoncup: Anoncup, release: list[str | Path], words: list[str]
) -> None:
    done = anoncup(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err


@pytest.mark.full
def test_the_track_of_two_files_is_served_by_the_same_commands(
    anoncup: Anoncup, arena: Arena, folder: Path, signed_in: SignedIn
) -> None:
    window = competition_file()
    text = with_tables(template(2016), "phases", window[window.index("[[phases]]") :])
    contents = {
        "c.toml": text, "customers.csv": shop_files.CUSTOMERS, "transactions.csv": shop_files.TRANSACTIONS,
        "M.csv": shop_files.RELEASED_CUSTOMERS, "T.csv": shop_files.RELEASED_TRANSACTIONS,
        "s.csv": "original_row\n3\n1\n2\n",
    }  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_text(content, "utf-8")
    signed_in(arena.organizer)
    assert anoncup("organize", "create", "c.toml").status == 0
    done = anoncup("organize", "upload", "cup-2016", "customers.csv", "transactions.csv")
    assert (done.status, done.err) == (0, "")
    signed_in(Arena(arena.client, arena.organizer, "cup-2016", arena.table).team("red"))
    done = anoncup("download", "cup-2016")
    assert (folder / "cup-2016" / "transactions.csv").read_text() == shop_files.TRANSACTIONS
    words = ["submit", "cup-2016", "--customers", "M.csv", "--transactions", "T.csv", "--secret", "s.csv"]
    with working(score_everything):
        done = anoncup(*words, "--wait", "--json")
    assert done.status == {"SCORED": 0, "REJECTED": 1}[done.json["status"]]
    assert set(done.json["sha256"]) == {"customers.csv", "transactions.csv"}
    (folder / "T.csv").write_text("nonsense\n")
    assert "\n  T.csv" in anoncup(*words).err
