"""Local commands on files of the microdata track, run in a process of their own without a service."""

import json
from pathlib import Path

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from tests.support.release_files import (
    COMPETITION,
    INPUT_NAMES,
    ORIGINAL,
    RELEASE,
    SECRET,
    build_options,
    build_path,
    compute_scores,
    run_score,
)
from tests.support.shell_commands import run_program

TRACK = TRACKS["microdata"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of one submission."""
    texts = dict(zip(INPUT_NAMES, (COMPETITION, ORIGINAL, RELEASE, SECRET), strict=True))
    for name, text in texts.items():
        build_path(tmp_path, name).write_bytes(text.encode())
    return tmp_path


def replace_text(folder: Path, name: str, old: str, new: str) -> None:
    text = build_path(folder, name).read_text("utf-8")
    assert old in text
    build_path(folder, name).write_text(text.replace(old, new), "utf-8", newline="")


# Rounds


def test_commands_read_a_round_of_a_file(folder: Path) -> None:
    common, *phases = COMPETITION.replace("format = 1", "format = 2").split("[[phases]]")
    rounds = [f'[[rounds]]\nname = "{name}"\n' + "".join(f"[[rounds.phases]]{text}" for text in phases)
              for name in ("first", "second")]  # fmt: skip
    scores = compute_scores(folder)
    build_path(folder, "competition").write_text(common + "".join(rounds), "utf-8")
    options = build_options(folder, "competition", "original", "anonymized", "secret")
    for choice in ([], ["--round", "third"]):
        refusal = run_program("score", *options, *choice, cwd=folder)
        assert refusal.returncode == 2
        assert "--round: the competition file has the rounds first, second" in refusal.stderr
    scaled = run_program("scales", *options[:4], "--round", "second", cwd=folder)
    assert parse_competition(scaled.stdout).round == "second"
    completed = run_program("score", *options, "--round", "second", "--json", cwd=folder)
    assert json.loads(completed.stdout)["overall"] == scores["overall"]


# Output


def test_scales_command_changes_only_the_scales(folder: Path) -> None:
    completed = run_program("scales", *build_options(folder, "competition", "original"), cwd=folder)
    assert (completed.returncode, completed.stderr) == (0, "")
    rules, original_rules = parse_competition(completed.stdout), parse_competition(COMPETITION)
    assert set(rules.scales) == {name for name, measure in TRACK.measures.items() if measure.weighs}
    assert rules.scales["row_difference"] == 6.0
    assert (rules.columns, rules.measures, rules.excessive) == (
        original_rules.columns, original_rules.measures, original_rules.excessive
    )  # fmt: skip
    assert "# the end" in completed.stdout


def test_accepted_release_is_printed_as_text(folder: Path) -> None:
    completed = run_score(folder)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("accepted\n")
    for word in (*TRACK.measures, *TRACK.attackers, "utility loss", "risk", "overall", "mean gower distance"):
        assert word in completed.stdout
    assert "\x1b" not in completed.stdout


def test_accepted_release_is_printed_as_json(folder: Path) -> None:
    completed = run_score(folder, "--json")
    assert (completed.returncode, completed.stderr) == (0, "")
    content = json.loads(completed.stdout)
    assert list(content) == [
        "verdict", "violations", "warnings", "measures", "attackers", "excessive",
        "utility", "security", "overall",
    ]  # fmt: skip
    assert (content["verdict"], content["violations"], content["warnings"]) == ("accepted", [], [])
    assert list(content["measures"]) == list(TRACK.measures)
    assert list(content["attackers"]) == list(TRACK.attackers)
    assert all(set(entry) >= {"value", "version"} for entry in content["measures"].values())
    assert all(set(entry) >= {"rate", "correct", "trials"} for entry in content["attackers"].values())
    assert {entry["trials"] for entry in content["attackers"].values()} == {6}
    assert set(content["excessive"]) == {"distance", "mean", "max", "threshold", "histogram"}
    assert content["excessive"]["threshold"] == 0.2
    assert content["measures"]["mean_mae"]["value"] == pytest.approx(10 / 6 / 2)
    assert content["measures"]["information_loss"]["value"] == pytest.approx(10 / 300 / 12)
    assert content["excessive"]["mean"] == pytest.approx(10 / 300 / 4 / 6)
    assert content["overall"] == pytest.approx((content["utility"] + content["security"]) / 2)


# Warnings


def test_warning_shows_column_names_with_brackets(folder: Path) -> None:
    replace_text(folder, "anonymized", "m,30,200,20", "m,30.0,200,20")
    completed = run_score(folder)
    assert completed.returncode == 0
    assert "  warning: respelled: 年数[/b]: some cells are spelled differently" in completed.stdout
    attacked = run_program("attack", *build_options(folder, *INPUT_NAMES), cwd=folder)
    assert attacked.returncode == 0
    assert "warning: respelled: 年数[/b]: some cells are spelled differently" in attacked.stderr


# Exit status 1: the release breaks the contest's rules


def test_rejected_release_exits_with_1_and_shows_all_measures(folder: Path) -> None:
    rows = RELEASE.splitlines()[:3]
    build_path(folder, "anonymized").write_text("\n".join(rows), "utf-8")
    build_path(folder, "secret").write_text("original_row\n2\n1\n")
    completed = run_score(folder, "--json")
    content = json.loads(completed.stdout)
    assert (completed.returncode, completed.stderr, content["verdict"]) == (1, "", "rejected")
    assert [set(entry) for entry in content["violations"]] == [{"code", "message", "values"}] * 2
    codes = [entry["code"] for entry in content["violations"]]
    assert codes == ["too_few_rows", "excessive_anonymization"]
    assert list(content["measures"]) == list(TRACK.measures)
    assert list(content["attackers"]) == list(TRACK.attackers)


# Exit status 2: malformed input or wrong use


@pytest.mark.parametrize("command", ["check", "score"])
@pytest.mark.parametrize("name", ["anonymized", "secret"])
def test_file_above_the_size_limit_is_refused(folder: Path, command: str, name: str) -> None:
    replace_text(folder, "competition", "# the end", "[limits]\nfile_mb = 1")
    content = build_path(folder, name).read_bytes()
    build_path(folder, name).write_bytes(content.ljust(2**20, b"\n"))
    assert run_program(command, *build_options(folder, *INPUT_NAMES), cwd=folder).returncode == 0
    build_path(folder, name).write_bytes(content.ljust(2**20 + 1, b"\n"))
    completed = run_program(command, *build_options(folder, *INPUT_NAMES), "--json", cwd=folder)
    sentence = f"{name}.csv is larger than 1 MB"
    assert (completed.returncode, completed.stderr) == (2, f"anoncup: {sentence}\n")
    values = {"file": f"{name}.csv", "most_mb": 1}
    location = {"file": f"{name}.csv", "row": None, "line": None, "column": None}
    problem = {**location, "code": "too_large", "message": sentence, "values": values}
    refusal = {"code": "too_large", "detail": sentence, "values": values, "file": f"{name}.csv"}
    assert json.loads(completed.stdout) == refusal | {"errors": [problem], "total": 1}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("anonymized", "f,20,110,10", "f,20,,10", "anonymized.csv, row 2: missing_value: income, "),
        ("original", "m,40,0,0.1", "m,40,0,x", "original.csv, row 4: not_a_number: rent, "),
        ("secret", "4\n", "2\n", "secret.csv, row 3: duplicate_row: "),
    ],
)
def test_malformed_file_is_reported_with_row_and_code(
    folder: Path, name: str, old: str, new: str, message: str
) -> None:
    replace_text(folder, name, old, new)
    completed = run_score(folder, "--json")
    assert completed.returncode == 2
    assert completed.stderr.startswith("anoncup: ")
    assert f"\n  {message}" in completed.stderr
    content = json.loads(completed.stdout)
    assert content["code"] == "malformed_upload"
    assert f"anoncup: {content['detail']}\n" in completed.stderr
    location, code = message.split(": ")[:2]
    file, _, row = location.partition(", row ")
    errors = content["errors"]
    assert (file, int(row) if row else None, code) in [
        (error["file"], error["row"], error["code"]) for error in errors
    ]
    assert set(errors[0]) >= {"file", "row", "column", "code", "message", "values"}
    assert content["total"] == len(errors)


@pytest.mark.parametrize(
    "arguments",
    [
        ["unknown"],
        ["template"],
        ["template", "2015", "2016"],
        ["score"],
        ["score", "--nonsense"],
        ["scales", "--competition", "missing.toml", "--original", "missing.csv"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(tmp_path: Path, arguments: list[str]) -> None:
    completed = run_program(*arguments, cwd=tmp_path)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr


# Example data


def test_example_data_is_written_to_a_folder(tmp_path: Path) -> None:
    result = run_program("generate", "made", "--rows", "5", "--track", "microdata", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "wrote original.csv into made\n")
    content = (tmp_path / "made" / "original.csv").read_text()
    assert content == run_program("generate", "--rows", "5", cwd=tmp_path).stdout
    (tmp_path / "cup.toml").write_text(template("membership"), "utf-8")
    result = run_program("generate", "members", "--rows", "6", "--competition", "cup.toml", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "wrote candidates.csv and background.csv into members\n")
    unknown = run_program("generate", "--track", "transactions", cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "tracks with generated data: microdata" in unknown.stderr


# Ranking formulas


@pytest.mark.parametrize("has_ranks", [False, True])
def test_score_gives_the_value_of_the_formula_that_ranks(folder: Path, has_ranks: bool) -> None:
    """Nobody has attacked the release yet, and it has no penalty."""
    defence = "10 * utility + strongest() - euc1 / 3 + penalty"
    defence += " + rank('security')" if has_ranks else ""
    ranking = f'[ranking]\norder = "descending"\nutility = "mean_mae / 2"\ndefence = "{defence}"\n'
    replace_text(folder, "competition", "[excessive]", f"{ranking}[excessive]")
    verdict = compute_scores(folder)
    utility = verdict["measures"]["mean_mae"]["value"] / 2
    rates = {name: entry["rate"] for name, entry in verdict["attackers"].items()}
    expected = 10 * utility + verdict["security"] - rates["euc1"] / 3
    assert verdict["score"] == (None if has_ranks else pytest.approx(expected, rel=1e-12))
    text = run_score(folder).stdout
    assert ("needs the releases of the other teams" in text) is has_ranks
    assert ("the highest is best" in text) is not has_ranks
