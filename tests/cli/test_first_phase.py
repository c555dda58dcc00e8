"""Commands of a team's first phase: submit, follow the scoring, choose finals, read the board."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from tests.support.arena import Arena, build_competition_toml, build_noisy_release
from tests.support.command_line import CommandRunner, run_worker
from tests.support.uploads import score_everything

SignIn = Callable[[str], None]


@pytest.fixture
def release_options(arena: Arena, folder: Path, sign_in_as: SignIn) -> list[str | Path]:
    """The options of a valid release; the team red is signed in."""
    sign_in_as(arena.get_team_token("red"))
    table, secret = build_noisy_release(1, arena.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    return ["--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]


def require_single(rows: Any) -> Any:
    assert len(rows) == 1
    return rows[0]


def test_submit_shows_the_receipt(
    anoncup: CommandRunner, arena: Arena, release_options: list[str | Path]
) -> None:
    result = anoncup("submit", "small", *release_options, "--comment", "初めて")
    assert (result.status, result.stderr) == (0, "")
    submission = require_single(arena.get("/competitions/small/submissions", team="red").json())
    assert submission["comment"] == "初めて"
    for word in (
        submission["id"],
        submission["commitment"],
        *submission["sha256"].values(),
        "valid submissions in all: 99",
    ):
        assert word in result.stdout


@pytest.mark.full
def test_waiting_exits_with_1_for_a_rejected_release(
    anoncup: CommandRunner, arena: Arena, folder: Path, release_options: list[str | Path]
) -> None:
    half = arena.table.iloc[:10]
    (folder / "Y.csv").write_bytes(write_csv(half))
    (folder / "s.csv").write_bytes(write_secret(half.index.to_numpy()))
    with run_worker(score_everything):
        result = anoncup("submit", "small", *release_options, "--anyway", "--wait", "--json")
    assert (result.status, result.json["status"]) == (1, "REJECTED")
    assert result.json["result"]["violations"][0]["code"] == "too_few_rows"
    assert "warning: too_few_rows: 10 rows are left; at least 20 must be" in result.stderr
    listed = anoncup("submissions", "small").stdout
    assert "REJECTED" in listed
    assert "10 rows are left; at least 20 must be" in " ".join(listed.split())
    assert f"{result.json['result']['overall']:.6g}" not in listed
    assert f"{result.json['result']['utility']:.6g}" in listed


def test_release_that_is_known_to_be_wrong_is_sent_only_with_anyway(
    anoncup: CommandRunner, arena: Arena, folder: Path, release_options: list[str | Path]
) -> None:
    order = np.roll(np.arange(len(arena.table)), len(arena.table) // 2)
    (folder / "Y.csv").write_bytes(write_csv(arena.table))
    (folder / "s.csv").write_bytes(write_secret(order))
    result = anoncup("submit", "small", *release_options, "--json")
    assert (result.status, result.json["code"]) == (2, "not_sent")
    for words in ("excessive_anonymization: ", "secret_of_another_file: ", "Add --anyway"):
        assert words in result.stderr
    assert count_attempts(arena) == 0
    assert anoncup("submit", "small", *release_options, "--anyway").status == 0
    repeated = anoncup("submit", "small", *release_options)
    assert (repeated.status, "sent_before: " in repeated.stderr) == (2, True)
    assert count_attempts(arena) == 1


def test_malformed_release_is_reported_with_location_and_code(
    anoncup: CommandRunner, arena: Arena, folder: Path, release_options: list[str | Path]
) -> None:
    text = (folder / "Y.csv").read_text().splitlines()
    text[3] = text[3].rpartition(",")[0] + ",x"
    (folder / "Y.csv").write_text("\n".join(text))
    result = anoncup("submit", "small", *release_options)
    assert (result.status, result.stdout) == (2, "")
    assert "\n  Y.csv, row 3: not_a_number: rent" in result.stderr
    assert result.stderr.endswith(" (line 4: 'x')\n")
    json_result = anoncup("submit", "small", *release_options, "--json")
    (error,) = json_result.json["errors"]
    assert (json_result.status, json_result.stderr) == (2, result.stderr)
    assert (error["file"], error["row"], error["column"], error["code"]) == (
        "Y.csv",
        3,
        "rent",
        "not_a_number",
    )
    assert (error["line"], error["values"]["value"]) == (4, "x")
    assert anoncup("submissions", "small").stdout == "no submissions\n"
    assert count_attempts(arena) == 0
    malformed_upload = anoncup("submit", "small", *release_options, "--no-check", "--json")
    assert (malformed_upload.status, malformed_upload.stderr, malformed_upload.json["errors"]) == (
        2,
        result.stderr,
        json_result.json["errors"],
    )
    assert count_attempts(arena) == 1


def count_attempts(arena: Arena) -> int:
    quota = arena.get("/competitions/small/quota", team="red").json()
    return int(next(cap["used"] for cap in quota["caps"] if cap["name"] == "attempts_per_day"))


def test_submissions_are_listed_with_all_measures(
    anoncup: CommandRunner, arena: Arena, release_options: list[str | Path]
) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert identifier in anoncup("submissions", "small").stdout
    assert anoncup("submissions", "small", identifier, "--json").json == arena.get_submission(
        identifier, "red"
    )
    details = anoncup("submissions", "small", identifier)
    assert (details.status, "cross_count" in details.stdout) == (0, True)
    assert anoncup("submissions", "other", identifier).status == 2


def test_submissions_are_listed_with_the_score_of_the_formula(
    anoncup: CommandRunner, sign_in_as: SignIn, arena: Arena
) -> None:
    formula = "[ranking]\ndefence = 'utility + 2 * security'\n"
    arena = Arena.create(arena.client, slug="weighted", extra_toml=formula)
    sign_in_as(arena.get_team_token("red"))
    identifier = arena.submit("red").json()["id"]
    waiting = anoncup("submissions", "weighted").stdout
    score_everything()
    listed, details = anoncup("submissions", "weighted"), anoncup("submissions", "weighted", identifier)
    result = arena.get_submission(identifier, "red")["result"]
    score = f"{result['utility'] + 2 * result['security']:.6g}"
    assert "overall" in waiting
    assert f" {score} " in listed.stdout
    assert "overall" not in listed.stdout
    assert f"score  {score}  (by" in details.stdout


@pytest.mark.full
def test_cancelled_submission_restores_the_quota(
    anoncup: CommandRunner, arena: Arena, release_options: list[str | Path]
) -> None:
    identifier = anoncup("submit", "small", *release_options, "--json").json["id"]
    used_before = {cap["name"]: cap["used"] for cap in anoncup("quota", "small", "--json").json["caps"]}
    assert anoncup("cancel", identifier).stdout == f"{identifier} is CANCELLED\n"
    used_after = {cap["name"]: cap["used"] for cap in anoncup("quota", "small", "--json").json["caps"]}
    assert (used_before["valid_total"], used_after["valid_total"], used_after["attempts_total"]) == (1, 0, 1)
    quota = anoncup("quota", "small")
    assert quota.status == 0
    assert all(f"{name} per day" in quota.stdout for name in ("valid submissions", "attempts"))


@pytest.mark.full
def test_finals_can_be_marked_and_unmarked(
    anoncup: CommandRunner, arena: Arena, release_options: list[str | Path]
) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    assert anoncup("final", identifier).stdout == f"{identifier} is one of your finals\n"
    assert arena.get_submission(identifier, "red")["final"] is True
    assert anoncup("final", identifier, "--off", "--json").json["final"] is False
    refused = anoncup("final", "1")
    assert (refused.status, "a number is not an id" in refused.stderr) == (2, True)


@pytest.mark.full
def test_exhausted_quota_shows_when_it_is_renewed(
    anoncup: CommandRunner, sign_in_as: SignIn, arena: Arena, folder: Path
) -> None:
    small_quota_arena = Arena.create(
        arena.client,
        slug="tight",
        file=build_competition_toml("tight", extra_toml="[limits]\nvalid_per_day = 1"),
    )
    sign_in_as(small_quota_arena.get_team_token("red"))
    table, secret = build_noisy_release(1, small_quota_arena.table)
    (folder / "Y.csv").write_bytes(table)
    (folder / "s.csv").write_bytes(secret)
    arguments = ["submit", "tight", "--anonymized", folder / "Y.csv", "--secret", folder / "s.csv"]
    assert anoncup(*arguments).status == 0
    result = anoncup(*arguments, "--anyway")
    assert (result.status, result.stdout) == (2, "")
    assert "again from 20" in result.stderr
