"""``anoncup organize``: a competition made, steered and judged by commands."""

import hashlib
import json
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
from anoncup.rules.rounds import with_phases
from anoncup.tables.csv_text import table_csv
from app.db import engine
from app.db.models import State, ThresholdReport
from app.db.transaction import transaction
from tests.support.arena import PASSWORD, Arena, competition_file, noisy_release
from tests.support.command_line import Anoncup, working
from tests.support.contest import Contest
from tests.support.uploads import score_everything
from workers import advise

pytestmark = pytest.mark.full

SignedIn = Callable[[str], None]


@pytest.fixture
def contest(client: TestClient, signed_in: SignedIn) -> Contest:
    """Two teams with a scored submission each; the organizer is signed in."""
    made = Contest.opened(client)
    made.submit("red")
    made.submit("ブルー/2")
    signed_in(made.arena.organizer)
    return made


def test_a_competition_is_made_of_a_file_and_its_data(
    anoncup: Anoncup, arena: Arena, signed_in: SignedIn, folder: Path
) -> None:
    signed_in(arena.organizer)
    (folder / "c.toml").write_text(competition_file("made"), "utf-8")
    (folder / "X.csv").write_bytes(table_csv(arena.table))
    assert anoncup("organize", "create", "c.toml").status == 0
    assert anoncup("organize", "upload", "made", "X.csv", "X.csv").status == 2
    done = anoncup("organize", "upload", "made", "X.csv")
    assert (done.status, done.err) == (0, "")
    assert arena.get("/competitions/made").json()["original_rows"] == len(arena.table)
    (folder / "c.toml").write_text(competition_file("made", threshold=0.3), "utf-8")
    assert anoncup("organize", "file", "made", "c.toml", "--json").json["slug"] == "made"
    assert "threshold = 0.3" in arena.get("/competitions/made/competition.toml").text


def test_a_wrong_file_makes_no_competition(
    anoncup: Anoncup, arena: Arena, signed_in: SignedIn, folder: Path
) -> None:
    signed_in(arena.organizer)
    for content in (b"slug = [", b"\xff\xfe", competition_file("made").replace("0.2", "-1").encode()):
        (folder / "c.toml").write_bytes(content)
        done = anoncup("organize", "create", "c.toml")
        assert (done.status, done.out) == (2, "")
        assert done.err
    assert arena.get("/competitions/made").status_code == 404


def test_a_team_may_not_organize(anoncup: Anoncup, arena: Arena, signed_in: SignedIn) -> None:
    signed_in(arena.team("red"))
    for words in (["invites"], ["teams"], ["extend"], ["pause"], ["grant"]):
        more = {
            "extend": ["anonymization", "--until", "2099-01-01"],
            "pause": ["anonymization"],
            "grant": ["red", "valid_total", "1"],
        }.get(words[0], [])
        done = anoncup("organize", *words, "small", *more)
        assert (done.status, done.out) == (2, "")


def test_an_invite_lets_as_many_teams_in_as_it_says(
    anoncup: Anoncup, contest: Contest, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = anoncup("organize", "invites", "small", "--uses", "2").out.strip()
    words = ["sign-up", "--url", url, "--invite", code, "--password-stdin"]
    signed = [
        anoncup(*words, "--team", f"t{number}", "--name", f"n{number}", typed="long enough\n").status
        for number in range(3)
    ]
    assert signed == [0, 0, 2]


def test_a_phase_is_extended_paused_and_resumed(anoncup: Anoncup, contest: Contest) -> None:
    until = (datetime.now(UTC) + timedelta(days=1, hours=5)).replace(microsecond=0)
    words = ["organize", "extend", "small", "anonymization", "--until", until.isoformat()]
    before = {phase["name"]: phase for phase in contest.arena.get("/competitions/small").json()["phases"]}
    found = anoncup(*words, "--move-following", "--json").json
    after = {phase["name"]: phase for phase in found["phases"]}
    assert datetime.fromisoformat(after["anonymization"]["end"]) == until
    assert after["reidentification"]["start"] > before["reidentification"]["start"]
    assert "paused" in anoncup("organize", "pause", "small", "anonymization").out
    assert contest.arena.get("/competitions/small").json()["paused"] is True
    assert "state: anonymization\n" in anoncup("organize", "resume", "small", "anonymization").out
    assert "anonymization" in anoncup("organize", "phases", "small").out


def test_what_cannot_be_undone_asks_for_the_password_and_takes_it_from_standard_input(
    anoncup: Anoncup, contest: Contest
) -> None:
    identifier = next(iter(contest.secrets))
    until = (datetime.now(UTC) + timedelta(hours=5)).isoformat()
    file = Path("nearer.toml")
    file.write_text(contest.arena.get("/competitions/small/competition.toml").text)
    moved = parse_competition(file.read_text()).phases
    last = replace(moved[1], end=moved[1].end - timedelta(hours=1))
    file.write_text(with_phases(file.read_text(), (moved[0], last)))
    for words in (
        ["file", "small", str(file)],
        ["extend", "small", "anonymization", "--until", until],
        ["grant", "small", "red", "guesses_per_target", "1"],
        ["disqualify", identifier],
        ["invites", "small"],
    ):
        if words[0] == "invites":
            contest.move(anonymization=(-3, -2))
        before = contest.arena.get("/competitions/small/audit").json()
        unasked = anoncup("organize", *words)
        assert (unasked.status, "--password-stdin" in unasked.err) == (2, True)
        wrong = anoncup("organize", *words, "--password-stdin", typed="wrong\n")
        assert (wrong.status, "wrong_password" in wrong.err) == (2, True)
        assert contest.arena.get("/competitions/small/audit").json() == before
        done = anoncup("organize", *words, "--password-stdin", typed=f"{PASSWORD}\n")
        assert (done.status, done.err) == (0, "")
        assert contest.arena.get("/competitions/small/audit").json() != before


def test_a_time_that_is_none_changes_nothing(anoncup: Anoncup, contest: Contest) -> None:
    done = anoncup("organize", "extend", "small", "anonymization", "--until", "tomorrow")
    assert (done.status, "'tomorrow' is no time" in done.err) == (2, True)


def test_a_team_is_given_more_by_its_name(anoncup: Anoncup, contest: Contest) -> None:
    done = anoncup("organize", "grant", "small", "ブルー/2", "valid_total", "5")
    assert (done.status, done.err) == (0, "")
    token = contest.arena.team("ブルー/2")
    caps = contest.arena.get("/competitions/small/quota", token=token).json()["caps"]
    assert {cap["name"]: cap["limit"] for cap in caps}["valid_total"] == 105
    assert anoncup("organize", "grant", "small", "nobody", "valid_total", "5").status == 2
    assert anoncup("organize", "grant", "small", "red", "everything", "5").status == 2


def test_submissions_and_teams_are_disqualified_and_reinstated(anoncup: Anoncup, contest: Contest) -> None:
    identifier = next(iter(contest.secrets))
    for act, more, gone in (("disqualify", ["--password-stdin"], True), ("reinstate", [], False)):
        sure = {"typed": f"{PASSWORD}\n"}
        assert anoncup("organize", act, identifier, *more, **sure).out.endswith(f" {identifier}\n")
        assert contest.arena.submission(identifier, "red")["disqualified"] is gone
        why = ["--reason", "two teams, one author"] if gone else []
        assert anoncup("organize", act, "--team", "small/ブルー/2", *why, *more, **sure).status == 0
        teams = {team["name"]: team for team in anoncup("organize", "teams", "small", "--json").json}
        assert (teams["ブルー/2"]["disqualified_at"] is not None) is gone
        assert (teams["ブルー/2"]["disqualified_for"] == "two teams, one author") is gone
    assert anoncup("organize", "disqualify", "--team", "red").status == 2


def test_a_submission_that_failed_is_scored_again(anoncup: Anoncup, contest: Contest) -> None:
    identifier = next(iter(contest.secrets))
    assert anoncup("organize", "score-again", identifier).status == 2
    with engine.get_engine().begin() as connection:
        connection.exec_driver_sql("UPDATE evaluations SET state = 'ERROR', verdict = NULL")
    assert anoncup("organize", "score-again", identifier).out == f"{identifier} is QUEUED\n"


def test_teams_are_listed_with_their_members(anoncup: Anoncup, contest: Contest) -> None:
    shown = anoncup("organize", "teams", "small")
    assert shown.status == 0
    assert "ブルー/2" in shown.out
    assert "member" in shown.out


def test_a_set_is_begun_shown_compared_and_applied(anoncup: Anoncup, contest: Contest, folder: Path) -> None:
    file = contest.arena.get("/competitions/small/competition.toml").text
    (folder / "new.toml").write_text(file.replace("threshold = 0.2", "threshold = 0.001"), "utf-8")
    identifier = anoncup("organize", "rescore", "start", "small", "new.toml", "--json").json["id"]
    score_everything()
    shown = anoncup("organize", "rescore", "show", identifier)
    assert f"{identifier} is ready, 2 of 2 scored" in shown.out
    assert "SCORED → REJECTED" in shown.out
    assert identifier in anoncup("organize", "rescore", "list", "small").out
    unasked = anoncup("organize", "rescore", "apply", identifier)
    assert (unasked.status, "--password-stdin" in unasked.err) == (2, True)
    applying = ["organize", "rescore", "apply", identifier, "--password-stdin"]
    assert anoncup(*applying, typed="wrong\n").status == 2
    assert anoncup("organize", "rescore", "show", identifier, "--json").json["state"] == "ready"
    assert anoncup(*applying, typed=f"{PASSWORD}\n").status == 0
    statuses = {contest.arena.get(f"/submissions/{one}").json()["status"] for one in contest.secrets}
    assert statuses == {"REJECTED"}


def test_a_set_is_dropped(anoncup: Anoncup, contest: Contest, folder: Path) -> None:
    file = contest.arena.get("/competitions/small/competition.toml").text
    (folder / "new.toml").write_text(file.replace("threshold = 0.2", "threshold = 0.001"), "utf-8")
    identifier = anoncup("organize", "rescore", "start", "small", "new.toml", "--json").json["id"]
    assert "cancelled" in anoncup("organize", "rescore", "cancel", identifier).out
    statuses = {contest.arena.get(f"/submissions/{one}").json()["status"] for one in contest.secrets}
    assert statuses == {"SCORED"}


def test_announcements_are_made_and_read_by_everybody(
    anoncup: Anoncup, contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert anoncup("organize", "announce", "small").status == 2
    assert anoncup("organize", "announce", "small", "--en", "One\nTwo", "--ja", "一つ").status == 0
    monkeypatch.delenv("ANONCUP_TOKEN")
    shown = anoncup("announcements", "small")
    assert shown.status == 0
    assert "  One\n  Two\n" in shown.out
    assert "一つ" in shown.out
    assert [each["text"]["ja"] for each in anoncup("announcements", "small", "--json").json] == ["一つ"]


def test_a_list_of_several_pages_comes_whole(anoncup: Anoncup, contest: Contest) -> None:
    path = "/competitions/small/announcements"
    for number in range(103):
        assert contest.arena.post(path, json={"text": {"en": str(number)}}).status_code == 201
    texts = [each["text"]["en"] for each in anoncup("announcements", "small", "--json").json]
    assert texts == [str(number) for number in reversed(range(103))]


def test_the_audit_log_tells_who_did_what(anoncup: Anoncup, contest: Contest) -> None:
    anoncup("organize", "grant", "small", "red", "valid_total", "5")
    found = anoncup("organize", "audit", "small", "--json").json
    assert found == contest.arena.get("/competitions/small/audit").json()
    shown = anoncup("organize", "audit", "small").out
    assert found[0]["action"] in shown
    assert found[0]["actor"] in shown


def test_the_queue_tells_what_waits(anoncup: Anoncup, contest: Contest) -> None:
    contest.submit("red", scored=False)
    found = anoncup("organize", "queue", "small", "--json").json
    assert sum(found["waiting"].values()) == 1
    assert "oldest waiting s" in anoncup("organize", "queue", "small").out


def test_every_teams_submissions_are_listed_and_chosen_from(anoncup: Anoncup, contest: Contest) -> None:
    listed = anoncup("organize", "submissions", "small", "--json").json
    assert {each["id"] for each in listed} == set(contest.secrets)
    chosen = anoncup("organize", "submissions", "small", "--team", "red", "--state", "SCORED", "--json").json
    assert [each["team"] for each in chosen] == ["red"]
    assert anoncup("organize", "submissions", "small", "--state", "ERROR").out == "no submissions\n"
    assert "ブルー/2" in anoncup("organize", "submissions", "small").out


def test_a_threshold_report_is_asked_for_awaited_and_shown(anoncup: Anoncup, contest: Contest) -> None:
    with working(advise_all):
        printed = anoncup("organize", "threshold", "small", "--groups", "sex", "--draws", "50")
        found = anoncup("organize", "threshold", "small", "--draws", "0", "--json")
        together = anoncup("organize", "threshold", "small", "--draws", "0", "--groups", "", "--json")
    assert (printed.status, printed.err) == (0, "")
    assert "half the smallest distance" in printed.out
    assert found.json["report"]["individuals"] == len(contest.arena.table)
    assert together.json["report"]["groups"] == 1 < found.json["report"]["groups"]
    assert anoncup("organize", "threshold", "small", "--groups", "nothing").status == 2


def test_whoever_waits_without_a_terminal_reads_how_far_it_is(
    anoncup: Anoncup, contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "LINE_EVERY_S", 0.001)
    with working(advise_all):
        found = anoncup("organize", "threshold", "small", "--draws", "0", "--json")
    assert found.json["status"] == "SCORED"
    assert re.search(r"(?m)^threshold report: (queued|being made|) \(\d+ s\)$", found.err)


def advise_all() -> None:
    with transaction() as session:
        waiting = session.scalars(
            select(ThresholdReport.id).where(ThresholdReport.state == State.QUEUED)
        ).all()
    for identifier in waiting:
        advise.advise(str(identifier))


def test_the_export_is_written_into_a_file_of_ones_own(
    anoncup: Anoncup, contest: Contest, folder: Path
) -> None:
    done = anoncup("organize", "export", "small", "--into", "e.zip")
    assert (done.status, done.err) == (0, "")
    with zipfile.ZipFile(folder / "e.zip") as packed:
        assert packed.testzip() is None
        assert "competition.toml" in packed.namelist()
    assert hashlib.sha256((folder / "e.zip").read_bytes()).hexdigest() in done.out
    assert anoncup("organize", "export", "small", "--into", "e.zip").status == 2
    assert anoncup("organize", "export", "small", "--into", "nowhere/e.zip").status == 2
    assert [path.name for path in folder.iterdir()] == ["e.zip"]


def test_a_baseline_is_put_on_the_board(anoncup: Anoncup, contest: Contest, folder: Path) -> None:
    table, secret = noisy_release(99, contest.arena.table)
    (folder / "y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    files = ("--anonymized", "y.csv", "--secret", "s.csv")
    done = anoncup("organize", "baseline", "small", "--name", "add_noise", *files)
    assert (done.status, done.err) == (0, "")
    score_everything()
    assert [row["team"] for row in contest.board()["rows"] if row["baseline"]] == ["add_noise"]
    assert anoncup("organize", "baseline", "small", "--name", "add_noise", *files).status == 2


def test_a_rehearsal_is_begun_shown_and_ended(anoncup: Anoncup, contest: Contest) -> None:
    begun = anoncup("organize", "rehearsal", "start", "small")
    assert (begun.status, begun.err) == (0, "")
    assert begun.out.startswith("small-rehearsal is in its state anonymization\n")
    shown = json.loads(anoncup("organize", "rehearsal", "show", "small", "--json").out)
    assert [step["step"] for step in shown["steps"]][:2] == ["releases", "scores"]
    again = anoncup("organize", "rehearsal", "start", "small")
    assert (again.status, "the competition is being rehearsed already" in again.err) == (2, True)
    ended = anoncup("organize", "rehearsal", "end", "small", "--password-stdin", typed=f"{PASSWORD}\n")
    assert (ended.status, ended.out) == (0, "the rehearsal is over\n")
    assert anoncup("organize", "rehearsal", "show", "small").status == 2
