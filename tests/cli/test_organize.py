"""Commands of ``anoncup organize``: setting up, running and judging a competition."""

import hashlib
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.cli import terminal
from anoncup.competition.parser import parse_competition
from anoncup.rules.timetable import replace_phases
from anoncup.tables.csv_text import write_csv
from app.db import engine
from app.db.models import State, ThresholdReport
from tests.support.arena import PASSWORD, Arena, build_competition_toml, build_noisy_release
from tests.support.command_line import CommandRunner, run_worker
from tests.support.contest import Contest
from tests.support.database_rows import load_all
from tests.support.uploads import score_everything
from workers import advise

pytestmark = pytest.mark.full

SignIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, sign_in_as: SignIn) -> Contest:
    """Two teams with a scored submission each; the organizer is signed in."""
    opened_contest = Contest.create(client)
    opened_contest.submit("red")
    opened_contest.submit("ブルー/2")
    sign_in_as(opened_contest.arena.organizer_token)
    return opened_contest


def test_competition_is_created_from_a_file_and_data(
    anoncup: CommandRunner, arena: Arena, sign_in_as: SignIn, folder: Path
) -> None:
    sign_in_as(arena.organizer_token)
    (folder / "c.toml").write_text(build_competition_toml("made"), "utf-8")
    (folder / "X.csv").write_bytes(write_csv(arena.table))
    assert anoncup("organize", "create", "c.toml").status == 0
    assert anoncup("organize", "upload", "made", "X.csv", "X.csv").status == 2
    result = anoncup("organize", "upload", "made", "X.csv")
    assert (result.status, result.stderr) == (0, "")
    assert arena.get("/competitions/made").json()["original_rows"] == len(arena.table)
    (folder / "c.toml").write_text(build_competition_toml("made", threshold=0.3), "utf-8")
    assert anoncup("organize", "file", "made", "c.toml", "--json").json["slug"] == "made"
    assert "threshold = 0.3" in arena.get("/competitions/made/competition.toml").text


def test_invalid_file_creates_no_competition(
    anoncup: CommandRunner, arena: Arena, sign_in_as: SignIn, folder: Path
) -> None:
    sign_in_as(arena.organizer_token)
    for content in (b"slug = [", b"\xff\xfe", build_competition_toml("made").replace("0.2", "-1").encode()):
        (folder / "c.toml").write_bytes(content)
        result = anoncup("organize", "create", "c.toml")
        assert (result.status, result.stdout) == (2, "")
        assert result.stderr
    assert arena.get("/competitions/made").status_code == 404


def test_team_member_cannot_organize(anoncup: CommandRunner, arena: Arena, sign_in_as: SignIn) -> None:
    sign_in_as(arena.get_team_token("red"))
    for arguments in (["invites"], ["teams"], ["extend"], ["pause"], ["grant"]):
        more = {
            "extend": ["anonymization", "--until", "2099-01-01"],
            "pause": ["anonymization"],
            "grant": ["red", "valid_total", "1"],
        }.get(arguments[0], [])
        result = anoncup("organize", *arguments, "small", *more)
        assert (result.status, result.stdout) == (2, "")


def test_invite_admits_the_given_number_of_teams(
    anoncup: CommandRunner, contest: Contest, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = anoncup("organize", "invites", "small", "--uses", "2").stdout.strip()
    arguments = ["sign-up", "--url", url, "--invite", code, "--password-stdin"]
    statuses = [
        anoncup(*arguments, "--team", f"t{number}", "--name", f"n{number}", typed="long enough\n").status
        for number in range(3)
    ]
    assert statuses == [0, 0, 2]


def test_phase_is_extended_paused_and_resumed(anoncup: CommandRunner, contest: Contest) -> None:
    new_end = (datetime.now(UTC) + timedelta(days=1, hours=5)).replace(microsecond=0)
    arguments = ["organize", "extend", "small", "anonymization", "--until", new_end.isoformat()]
    phases_before = {
        phase["name"]: phase for phase in contest.arena.get("/competitions/small").json()["phases"]
    }
    competition = anoncup(*arguments, "--move-following", "--json").json
    phases_after = {phase["name"]: phase for phase in competition["phases"]}
    assert datetime.fromisoformat(phases_after["anonymization"]["end"]) == new_end
    assert phases_after["reidentification"]["start"] > phases_before["reidentification"]["start"]
    assert "paused" in anoncup("organize", "pause", "small", "anonymization").stdout
    assert contest.arena.get("/competitions/small").json()["paused"] is True
    assert "state: anonymization\n" in anoncup("organize", "resume", "small", "anonymization").stdout
    assert "anonymization" in anoncup("organize", "phases", "small").stdout


def test_irreversible_commands_read_the_password_from_stdin(anoncup: CommandRunner, contest: Contest) -> None:
    identifier = next(iter(contest.secrets))
    new_end = (datetime.now(UTC) + timedelta(hours=5)).isoformat()
    file = Path("nearer.toml")
    file.write_text(contest.arena.get("/competitions/small/competition.toml").text)
    phases = parse_competition(file.read_text()).phases
    last = replace(phases[1], end=phases[1].end - timedelta(hours=1))
    file.write_text(replace_phases(file.read_text(), (phases[0], last)))
    for arguments in (
        ["file", "small", str(file)],
        ["extend", "small", "anonymization", "--until", new_end],
        ["grant", "small", "red", "guesses_per_target", "1"],
        ["disqualify", identifier],
        ["invites", "small"],
    ):
        if arguments[0] == "invites":
            contest.move_phases(anonymization=(-3, -2))
        audit_before = contest.arena.get("/competitions/small/audit").json()
        unconfirmed = anoncup("organize", *arguments)
        assert (unconfirmed.status, "--password-stdin" in unconfirmed.stderr) == (2, True)
        wrong = anoncup("organize", *arguments, "--password-stdin", typed="wrong\n")
        assert (wrong.status, "wrong_password" in wrong.stderr) == (2, True)
        assert contest.arena.get("/competitions/small/audit").json() == audit_before
        result = anoncup("organize", *arguments, "--password-stdin", typed=f"{PASSWORD}\n")
        assert (result.status, result.stderr) == (0, "")
        assert contest.arena.get("/competitions/small/audit").json() != audit_before


def test_invalid_time_changes_nothing(anoncup: CommandRunner, contest: Contest) -> None:
    result = anoncup("organize", "extend", "small", "anonymization", "--until", "tomorrow")
    assert (result.status, "'tomorrow' is no time" in result.stderr) == (2, True)


def test_quota_is_granted_by_team_name(anoncup: CommandRunner, contest: Contest) -> None:
    result = anoncup("organize", "grant", "small", "ブルー/2", "valid_total", "5")
    assert (result.status, result.stderr) == (0, "")
    token = contest.arena.get_team_token("ブルー/2")
    caps = contest.arena.get("/competitions/small/quota", token=token).json()["caps"]
    assert {cap["name"]: cap["limit"] for cap in caps}["valid_total"] == 105
    assert anoncup("organize", "grant", "small", "nobody", "valid_total", "5").status == 2
    assert anoncup("organize", "grant", "small", "red", "everything", "5").status == 2


def test_submissions_and_teams_can_be_disqualified_and_reinstated(
    anoncup: CommandRunner, contest: Contest
) -> None:
    identifier = next(iter(contest.secrets))
    for action, more, is_disqualified in (
        ("disqualify", ["--password-stdin"], True),
        ("reinstate", [], False),
    ):
        stdin = {"typed": f"{PASSWORD}\n"}
        assert anoncup("organize", action, identifier, *more, **stdin).stdout.endswith(f" {identifier}\n")
        assert contest.arena.get_submission(identifier, "red")["disqualified"] is is_disqualified
        reason = ["--reason", "two teams, one author"] if is_disqualified else []
        assert anoncup("organize", action, "--team", "small/ブルー/2", *reason, *more, **stdin).status == 0
        teams = {team["name"]: team for team in anoncup("organize", "teams", "small", "--json").json}
        assert (teams["ブルー/2"]["disqualified_at"] is not None) is is_disqualified
        assert (teams["ブルー/2"]["disqualification_reason"] == "two teams, one author") is is_disqualified
    assert anoncup("organize", "disqualify", "--team", "red").status == 2


def test_failed_submission_can_be_scored_again(anoncup: CommandRunner, contest: Contest) -> None:
    identifier = next(iter(contest.secrets))
    assert anoncup("organize", "rescore-submission", identifier).status == 2
    with engine.get_engine().begin() as connection:
        connection.exec_driver_sql("UPDATE evaluations SET state = 'ERROR'")
    assert anoncup("organize", "rescore-submission", identifier).stdout == f"{identifier} is QUEUED\n"


def test_teams_are_listed_with_members(anoncup: CommandRunner, contest: Contest) -> None:
    result = anoncup("organize", "teams", "small")
    assert result.status == 0
    assert "ブルー/2" in result.stdout
    assert "member" in result.stdout


def test_rescore_is_started_compared_and_applied(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    file = contest.arena.get("/competitions/small/competition.toml").text
    (folder / "new.toml").write_text(file.replace("threshold = 0.2", "threshold = 0.001"), "utf-8")
    identifier = anoncup("organize", "rescore", "start", "small", "new.toml", "--json").json["id"]
    score_everything()
    report = anoncup("organize", "rescore", "show", identifier)
    assert f"{identifier} is ready, 2 of 2 submissions scored" in report.stdout
    assert "SCORED → REJECTED" in report.stdout
    assert identifier in anoncup("organize", "rescore", "list", "small").stdout
    unconfirmed = anoncup("organize", "rescore", "apply", identifier)
    assert (unconfirmed.status, "--password-stdin" in unconfirmed.stderr) == (2, True)
    applying = ["organize", "rescore", "apply", identifier, "--password-stdin"]
    assert anoncup(*applying, typed="wrong\n").status == 2
    assert anoncup("organize", "rescore", "show", identifier, "--json").json["state"] == "ready"
    assert anoncup(*applying, typed=f"{PASSWORD}\n").status == 0
    statuses = {
        contest.arena.get(f"/submissions/{submission_id}").json()["status"]
        for submission_id in contest.secrets
    }
    assert statuses == {"REJECTED"}


def test_rescore_can_be_cancelled(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    file = contest.arena.get("/competitions/small/competition.toml").text
    (folder / "new.toml").write_text(file.replace("threshold = 0.2", "threshold = 0.001"), "utf-8")
    identifier = anoncup("organize", "rescore", "start", "small", "new.toml", "--json").json["id"]
    assert "cancelled" in anoncup("organize", "rescore", "cancel", identifier).stdout
    statuses = {
        contest.arena.get(f"/submissions/{submission_id}").json()["status"]
        for submission_id in contest.secrets
    }
    assert statuses == {"SCORED"}


def test_announcements_are_public(
    anoncup: CommandRunner, contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert anoncup("organize", "announce", "small").status == 2
    assert anoncup("organize", "announce", "small", "--en", "One\nTwo", "--ja", "一つ").status == 0
    monkeypatch.delenv("ANONCUP_TOKEN")
    result = anoncup("announcements", "small")
    assert result.status == 0
    assert "  One\n  Two\n" in result.stdout
    assert "一つ" in result.stdout
    assert [
        announcement["text"]["ja"] for announcement in anoncup("announcements", "small", "--json").json
    ] == ["一つ"]


def test_lists_are_printed_over_several_pages(anoncup: CommandRunner, contest: Contest) -> None:
    path = "/competitions/small/announcements"
    for number in range(103):
        assert contest.arena.post(path, json={"text": {"en": str(number)}}).status_code == 201
    texts = [announcement["text"]["en"] for announcement in anoncup("announcements", "small", "--json").json]
    assert texts == [str(number) for number in reversed(range(103))]


def test_audit_log_shows_who_did_what(anoncup: CommandRunner, contest: Contest) -> None:
    anoncup("organize", "grant", "small", "red", "valid_total", "5")
    entries = anoncup("organize", "audit", "small", "--json").json
    assert entries == contest.arena.get("/competitions/small/audit").json()
    text = anoncup("organize", "audit", "small").stdout
    assert entries[0]["action"] in text
    assert entries[0]["actor"] in text


def test_queue_shows_waiting_jobs(anoncup: CommandRunner, contest: Contest) -> None:
    contest.submit("red", score=False)
    queue = anoncup("organize", "queue", "small", "--json").json
    assert sum(queue["waiting"].values()) == 1
    assert "oldest waiting s" in anoncup("organize", "queue", "small").stdout


def test_submissions_of_all_teams_are_listed_and_filtered(anoncup: CommandRunner, contest: Contest) -> None:
    submissions = anoncup("organize", "submissions", "small", "--json").json
    assert {submission["id"] for submission in submissions} == set(contest.secrets)
    filtered = anoncup(
        "organize", "submissions", "small", "--team", "red", "--state", "SCORED", "--json"
    ).json
    assert [submission["team"] for submission in filtered] == ["red"]
    assert anoncup("organize", "submissions", "small", "--state", "ERROR").stdout == "no submissions\n"
    assert "ブルー/2" in anoncup("organize", "submissions", "small").stdout


def test_threshold_report_is_requested_awaited_and_printed(anoncup: CommandRunner, contest: Contest) -> None:
    with run_worker(advise_all):
        printed = anoncup("organize", "threshold", "small", "--groups", "sex", "--draws", "50")
        result = anoncup("organize", "threshold", "small", "--draws", "0", "--json")
        combined = anoncup("organize", "threshold", "small", "--draws", "0", "--groups", "", "--json")
    assert (printed.status, printed.stderr) == (0, "")
    assert "half the smallest distance" in printed.stdout
    assert result.json["report"]["individuals"] == len(contest.arena.table)
    assert combined.json["report"]["groups"] == 1 < result.json["report"]["groups"]
    assert anoncup("organize", "threshold", "small", "--groups", "nothing").status == 2


def test_progress_without_a_terminal_is_printed_as_lines(
    anoncup: CommandRunner, contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "LINE_INTERVAL_S", 0.001)
    with run_worker(advise_all):
        result = anoncup("organize", "threshold", "small", "--draws", "0", "--json")
    assert result.json["status"] == "SCORED"
    assert re.search(r"(?m)^threshold report: (queued|being made|) \(\d+ s\)$", result.stderr)


def advise_all() -> None:
    report_ids = load_all(select(ThresholdReport.id).where(ThresholdReport.state == State.QUEUED))
    for identifier in report_ids:
        advise.advise(str(identifier))


def test_export_is_written_to_a_new_file(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    result = anoncup("organize", "export", "small", "--into", "e.zip")
    assert (result.status, result.stderr) == (0, "")
    with zipfile.ZipFile(folder / "e.zip") as packed:
        assert packed.testzip() is None
        assert "competition.toml" in packed.namelist()
    assert hashlib.sha256((folder / "e.zip").read_bytes()).hexdigest() in result.stdout
    assert anoncup("organize", "export", "small", "--into", "e.zip").status == 2
    assert anoncup("organize", "export", "small", "--into", "nowhere/e.zip").status == 2
    assert [path.name for path in folder.iterdir()] == ["e.zip"]


def test_archive_of_results_is_written_after_the_reveal(
    anoncup: CommandRunner, contest: Contest, folder: Path
) -> None:
    arguments = ("organize", "archive", "small", "--into", "a.zip")
    early = anoncup(*arguments)
    assert early.status == 2
    assert not list(folder.iterdir())
    contest.publish_targets("red", "green")
    contest.close_attacks()
    result = anoncup(*arguments)
    assert (result.status, result.stderr) == (0, "")
    with zipfile.ZipFile(folder / "a.zip") as packed:
        assert "targets.csv" in packed.namelist()
    assert anoncup(*arguments).status == 2


def test_baseline_appears_on_the_board(anoncup: CommandRunner, contest: Contest, folder: Path) -> None:
    table, secret = build_noisy_release(99, contest.arena.table)
    (folder / "y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    files = ("--anonymized", "y.csv", "--secret", "s.csv")
    result = anoncup("organize", "baseline", "small", "--name", "add_noise", *files)
    assert (result.status, result.stderr) == (0, "")
    score_everything()
    assert [row["team"] for row in contest.get_board()["rows"] if row["baseline"]] == ["add_noise"]
    assert anoncup("organize", "baseline", "small", "--name", "add_noise", *files).status == 2
