"""Commands of ``anoncup organize``: competitions as files."""

import hashlib
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup import schemas
from anoncup.client import Client
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.rules.timetable import replace_phases
from anoncup.tables.csv_text import write_csv
from tests.support import membership_contest, shop_contest
from tests.support.arena import API, PASSWORD, Arena, build_competition_toml
from tests.support.command_line import CommandRunner
from tests.support.contest import Contest
from tests.support.two_rounds import build_round, build_two_round_toml

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]
ONCE_MORE = "nothing changed\n"


@pytest.fixture
def contest(client: TestClient, sign_in_as: SignIn) -> Contest:
    """Two teams with a scored submission each; the organizer is signed in."""
    opened_contest = Contest.create(client)
    opened_contest.submit("red")
    opened_contest.submit("ブルー/2")
    sign_in_as(opened_contest.arena.organizer_token)
    return opened_contest


@pytest.fixture
def organized_arena(arena: Arena, sign_in_as: SignIn) -> Arena:
    """An organizer who is signed in."""
    sign_in_as(arena.organizer_token)
    return arena


def test_file_is_applied_with_its_data_once(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    (folder / "c.toml").write_text(build_competition_toml("made"), "utf-8")
    (folder / "X.csv").write_bytes(write_csv(organized_arena.table))
    first = anoncup("organize", "apply", "c.toml", "--original", "X.csv")
    assert (first.status, first.stderr) == (0, "")
    assert first.stdout.startswith("created made\nuploaded original.csv\n")
    assert organized_arena.get("/competitions/made").json()["original_rows"] == len(organized_arena.table)
    audit = organized_arena.get("/competitions/made/audit").json()
    for arguments in ([], ["--original", "X.csv"]):
        again = anoncup("organize", "apply", "c.toml", *arguments)
        assert (again.status, again.stderr) == (0, "")
        assert again.stdout.startswith(ONCE_MORE)
    assert organized_arena.get("/competitions/made/audit").json() == audit


def test_draft_is_published_with_the_password_and_consent_to_warnings(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path, url: str
) -> None:
    (folder / "c.toml").write_text(build_competition_toml("made"), "utf-8")
    (folder / "X.csv").write_bytes(write_csv(organized_arena.table))
    command, password = ("organize", "apply", "c.toml", "--publish", "--password-stdin"), f"{PASSWORD}\n"
    incomplete = anoncup(*command, typed=password)
    assert (incomplete.status, "the original data are missing" in incomplete.stderr) == (2, True)
    page = f"{url}/competitions/made"
    assert f"draft at {page}, for organizers only; --publish makes it public once" in incomplete.stdout
    shown = anoncup("organize", "show", "made").stdout
    assert "missing:\n  no_original: the original data are missing\n" in shown
    warned = anoncup(*command, "--original", "X.csv", typed=password)
    assert (warned.status, "nobody can join: there is no open invite" in warned.stderr) == (2, True)
    assert organized_arena.client.get(f"{API}/competitions/made").status_code == 404
    published = anoncup(*command, "--yes", typed=password)
    assert (published.status, "\n  no_report: " in published.stdout) == (0, True)
    assert published.stdout.endswith(f"\npublished {page}\n")
    assert organized_arena.client.get(f"{API}/competitions/made").json()["state"] == "anonymization"
    assert anoncup(*command).stdout.startswith(ONCE_MORE)


def apply_draft(anoncup: CommandRunner, arena: Arena, folder: Path) -> str:
    """Create a draft with data from ``c.toml`` and ``X.csv``, and return its file."""
    text = build_competition_toml("made")
    (folder / "c.toml").write_text(text, "utf-8")
    (folder / "X.csv").write_bytes(write_csv(arena.table))
    assert anoncup("organize", "apply", "c.toml", "--original", "X.csv").status == 0
    return text


def test_changed_file_is_applied_and_its_changes_are_told(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    text = apply_draft(anoncup, organized_arena, folder)
    (folder / "c.toml").write_text(text.replace("threshold = 0.2", "threshold = 0.3"), "utf-8")
    result = anoncup("organize", "apply", "c.toml", "--json")
    assert result.json["changes"] == [{"key": "excessive.threshold", "old": 0.2, "new": 0.3}]
    assert (result.json["created"], result.json["uploaded"]) == (False, {})
    assert "threshold = 0.3" in organized_arena.get("/competitions/made/competition.toml").text
    assert anoncup("organize", "apply", "c.toml").stdout.startswith(ONCE_MORE)


def test_data_of_several_files_are_given_in_the_order_of_the_track(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    (folder / "c.toml").write_text(template(2016), "utf-8")
    (folder / "c.csv").write_text(shop_contest.CUSTOMERS, "utf-8")
    (folder / "t.csv").write_text(shop_contest.TRANSACTIONS, "utf-8")
    arguments = ["organize", "apply", "c.toml", "--original", "c.csv"]
    refused = anoncup(*arguments)
    assert (refused.status, "needs 2 --original: customers, transactions" in refused.stderr) == (2, True)
    assert organized_arena.get("/competitions/cup-2016").status_code == 404
    result = anoncup(*arguments, "--original", "t.csv")
    assert (result.status, result.stderr) == (0, "")
    assert organized_arena.get("/competitions/cup-2016").json()["original_rows"] is not None
    (folder / "t.csv").write_text(shop_contest.TRANSACTIONS.replace("\n", "\r\n"), "utf-8", newline="")
    changed = anoncup(*arguments, "--original", "t.csv")
    assert "uploaded transactions.csv\n" in changed.stdout


def test_only_new_data_of_a_published_contest_are_warned_of(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    apply_draft(anoncup, organized_arena, folder)
    command = ["organize", "apply", "c.toml", "--original", "X.csv"]
    published = anoncup(*command, "--publish", "--yes", "--password-stdin", typed=f"{PASSWORD}\n")
    (folder / "X.csv").write_bytes(write_csv(organized_arena.table.iloc[::-1]))
    changed = anoncup(*command)
    assert [
        (result.status, "teams may have the earlier data" in result.stderr) for result in (published, changed)
    ] == [(0, False), (0, True)]


def test_only_tracks_with_a_threshold_have_the_address_of_a_report(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    for text, has_report in (
        (build_competition_toml("made"), True),
        (membership_contest.build_competition_toml(), False),
    ):
        (folder / "c.toml").write_text(text, "utf-8")
        assert ("/organize/threshold" in anoncup("organize", "apply", "c.toml").stdout) is has_report


def test_data_are_uploaded_for_the_named_round(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    rounds = {name: build_round(name, begins=days) for name, days in (("preliminary", 1), ("final", 7))}
    (folder / "c.toml").write_text(build_two_round_toml("made", **rounds), "utf-8")
    (folder / "X.csv").write_bytes(write_csv(organized_arena.table))
    result = anoncup("organize", "apply", "c.toml", "--round", "final", "--original", "X.csv")
    assert (result.status, result.stderr) == (0, "")
    rows = {
        name: organized_arena.get(f"/competitions/made.{name}").json()["original_rows"] for name in rounds
    }
    assert rows == {"preliminary": None, "final": len(organized_arena.table)}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"slug = 1\ntitle = ]", "line 2"),
        (b"\xff\xfe", "c.toml is not UTF-8 text"),
        (build_competition_toml("../made").encode(), "slug"),
        (
            build_competition_toml("made").replace("threshold = 0.2", "threshold = -1").encode(),
            "excessive.threshold",
        ),
        (build_competition_toml("made").replace("[excessive]", "[excess]").encode(), "excess"),
    ],
)
def test_invalid_file_is_refused_with_its_place(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path, content: bytes, place: str
) -> None:
    (folder / "c.toml").write_bytes(content)
    result = anoncup("organize", "apply", "c.toml")
    assert (result.status, result.stdout) == (2, "")
    assert place in result.stderr
    assert organized_arena.get("/competitions/made").status_code == 404


def test_invalid_data_are_refused_with_file_and_row(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    (folder / "c.toml").write_text(build_competition_toml("made"), "utf-8")
    header, first, *rest = write_csv(organized_arena.table).decode().splitlines()
    (folder / "X.csv").write_text("\n".join([header, f"{first},1", *rest, ""]))
    result = anoncup("organize", "apply", "c.toml", "--original", "X.csv")
    assert (result.status, "X.csv, row 1: ragged_row: " in result.stderr) == (2, True)
    assert result.stdout == ""
    assert organized_arena.get("/competitions/made").status_code == 404
    (folder / "X.csv").write_bytes(write_csv(organized_arena.table))
    repaired = anoncup("organize", "apply", "c.toml", "--original", "X.csv")
    assert (repaired.status, "uploaded original.csv\n" in repaired.stdout) == (0, True)


def test_file_and_data_that_do_not_fit_change_nothing(
    anoncup: CommandRunner, organized_arena: Arena, folder: Path
) -> None:
    text = apply_draft(anoncup, organized_arena, folder)
    stored = organized_arena.get("/competitions/made").json()
    (folder / "c.toml").write_text(text.replace('["income", "rent"]', '["income", "wealth"]'), "utf-8")
    unknown = anoncup("organize", "apply", "c.toml", "--original", "X.csv")
    assert (unknown.status, "no column is 'wealth'" in unknown.stderr) == (2, True)
    (folder / "c.toml").write_text(text.replace('["income", "rent"]', '["income"]'), "utf-8")
    without_data = anoncup("organize", "apply", "c.toml")
    assert (without_data.status, "original_needed" in without_data.stderr) == (2, True)
    assert organized_arena.get("/competitions/made").json() == stored
    together = anoncup("organize", "apply", "c.toml", "--original", "X.csv")
    assert (together.status, "uploaded original.csv\n" in together.stdout) == (0, True)


def test_earlier_end_needs_the_password(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    text = contest.arena.get("/competitions/small/competition.toml").text
    first, last = parse_competition(text).phases
    nearer = replace(last, end=last.end - timedelta(hours=1))
    (folder / "c.toml").write_text(replace_phases(text, (first, nearer)))
    unconfirmed = anoncup("organize", "apply", "c.toml")
    assert (unconfirmed.status, "--password-stdin" in unconfirmed.stderr) == (2, True)
    wrong = anoncup("organize", "apply", "c.toml", "--password-stdin", typed="wrong\n")
    assert (wrong.status, "wrong_password" in wrong.stderr) == (2, True)
    assert contest.arena.get("/competitions/small/competition.toml").text == text
    result = anoncup("organize", "apply", "c.toml", "--password-stdin", typed=f"{PASSWORD}\n")
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith("phases[1].end: ")


def test_competition_is_shown(anoncup: CommandRunner, contest: Contest, url: str) -> None:
    result = anoncup("organize", "show", "small")
    assert (result.status, result.stderr) == (0, "")
    fields = dict(re.findall(r"^([a-z ]+?) {2,}(.*)$", result.stdout, re.MULTILINE))
    shown = {name: fields[name] for name in ("title", "time zone", "state", "threshold", "invites")}
    assert shown == {
        "title": "en: Small cup, ja: 小さな杯",
        "time zone": "Asia/Tokyo",
        "state": "anonymization",
        "threshold": "0.2",
        "invites": f"{url}/competitions/small/organize/teams",
    }
    assert "reidentification" in result.stdout
    assert (
        anoncup("organize", "show", "small", "--json").json == contest.arena.get("/competitions/small").json()
    )
    assert anoncup("organize", "show", "nothing").status == 2


def test_export_is_written_to_a_new_file(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    result = anoncup("organize", "export", "small")
    assert (result.status, result.stderr) == (0, "")
    with zipfile.ZipFile(folder / "small.zip") as packed:
        assert packed.testzip() is None
        assert "competition.toml" in packed.namelist()
    assert hashlib.sha256((folder / "small.zip").read_bytes()).hexdigest() in result.stdout
    assert anoncup("organize", "export", "small").status == 2
    assert anoncup("organize", "export", "small", "--into", "nowhere/e.zip").status == 2
    assert [path.name for path in folder.iterdir()] == ["small.zip"]


def test_client_lists_are_complete_over_several_pages(url: str, contest: Contest) -> None:
    path = "/competitions/small/announcements"
    for number in range(103):
        assert contest.arena.post(path, json={"text": {"en": str(number)}}).status_code == 201
    with Client(url) as client:
        texts = [entry.text["en"] for entry in client.get_list(schemas.Announcement, path)]
    assert texts == [str(number) for number in reversed(range(103))]
