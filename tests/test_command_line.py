"""``anoncup`` as a team runs it: another process, local files, no service, no environment."""

import json
import sys
from pathlib import Path

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.toml_text import with_tables
from tests.support.release_files import (
    COMPETITION,
    FILES,
    ORIGINAL,
    RELEASE,
    SECRET,
    options,
    place,
    score,
    scored,
)
from tests.support.shell_commands import run

TRACK = TRACKS["microdata"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder but for the files of one submission."""
    texts = dict(zip(FILES, (COMPETITION, ORIGINAL, RELEASE, SECRET), strict=True))
    for name, text in texts.items():
        place(tmp_path, name).write_bytes(text.encode())
    return tmp_path


def replace(folder: Path, name: str, old: str, new: str) -> None:
    text = place(folder, name).read_text("utf-8")
    assert old in text
    place(folder, name).write_text(text.replace(old, new), "utf-8", newline="")


# What is printed.


def test_scales_are_written_into_the_file_and_nothing_else_changes(folder: Path) -> None:
    done = run("scales", *options(folder, "competition", "original"), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    rules, before = parse_competition(done.stdout), parse_competition(COMPETITION)
    assert set(rules.scales) == {name for name, measure in TRACK.measures.items() if measure.weighs}
    assert rules.scales["row_difference"] == 6.0
    assert (rules.columns, rules.measures, rules.excessive) == (
        before.columns, before.measures, before.excessive
    )  # fmt: skip
    assert "# the end" in done.stdout


def test_a_score_does_not_depend_on_whether_its_scales_were_written_before(folder: Path) -> None:
    before = scored(folder)
    written = run("scales", *options(folder, "competition", "original"), cwd=folder).stdout
    place(folder, "competition").write_text(written, "utf-8")
    assert scored(folder) == before


def test_an_accepted_release_is_shown_to_people(folder: Path) -> None:
    done = score(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("accepted\n")
    for word in (*TRACK.measures, *TRACK.attackers, "utility loss", "risk", "overall", "mean gower distance"):
        assert word in done.stdout
    assert "\x1b" not in done.stdout


def test_who_fell_is_written_down_and_what_they_share_is_said(folder: Path) -> None:
    done = score(folder, "--fallen", "fallen.csv")
    assert (done.returncode, done.stderr) == (0, "")
    lines = (folder / "fallen.csv").read_text("utf-8").splitlines()
    assert lines[0] == "original_row,found_by,attackers,sex,年齢[/b]"
    content = json.loads(score(folder, "--fallen", "again.csv", "--json").stdout)
    assert (folder / "again.csv").read_text("utf-8").splitlines() == lines
    fell = content.pop("fallen")
    assert content == scored(folder)
    assert (fell["individuals"], fell["of"]) == (len(lines) - 1, 6)
    assert f"{fell['individuals']} of 6 individuals are found by an attacker that counts" in done.stdout
    found = {
        name: sum(name in line.split(",")[2].split() for line in lines[1:]) for name in content["attackers"]
    }
    certain = [name for name, one in content["attackers"].items() if "interval" in one and name != "own_row"]
    assert {name: found[name] for name in certain} == {
        name: content["attackers"][name]["correct"] for name in certain
    }


def test_where_nobody_is_asked_for_nobody_falls(tmp_path: Path) -> None:
    contest = tmp_path / "competition.toml"
    contest.write_text(template("membership"), "utf-8")
    run("generate", ".", "--track", "membership", "--rows", "20", cwd=tmp_path)
    made = ("--released", "candidates.csv", "--secret", "candidates.csv", "--fallen", "fallen.csv")
    done = run("score", "--competition", contest.name, "--original", "candidates.csv", *made, cwd=tmp_path)
    assert (done.returncode, "no_individuals" in done.stderr or "who the individuals are" in done.stderr) == (
        2,
        True,
    )
    assert not (tmp_path / "fallen.csv").exists()


def test_an_accepted_release_is_printed_as_json(folder: Path) -> None:
    done = score(folder, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(done.stdout)
    assert list(content) == [
        "verdict", "violations", "warnings", "measures", "attackers", "excessive",
        "utility", "security", "overall",
    ]  # fmt: skip
    assert (content["verdict"], content["violations"], content["warnings"]) == ("accepted", [], [])
    assert list(content["measures"]) == list(TRACK.measures)
    assert list(content["attackers"]) == list(TRACK.attackers)
    assert all(set(each) >= {"value", "version"} for each in content["measures"].values())
    assert all(set(each) >= {"rate", "correct", "trials"} for each in content["attackers"].values())
    assert {each["trials"] for each in content["attackers"].values()} == {6}
    assert set(content["excessive"]) == {"distance", "mean", "max", "threshold", "histogram"}
    assert content["excessive"]["threshold"] == 0.2
    assert content["measures"]["mean_mae"]["value"] == pytest.approx(10 / 6 / 2)
    assert content["measures"]["information_loss"]["value"] == pytest.approx(10 / 300 / 12)
    assert content["excessive"]["mean"] == pytest.approx(10 / 300 / 4 / 6)
    assert content["overall"] == pytest.approx((content["utility"] + content["security"]) / 2)


def test_the_json_is_strict_and_plain_ascii(folder: Path) -> None:
    replace(folder, "anonymized", "m,30,200,20", "m,30.0,200,20")
    printed = score(folder, "--json").stdout
    assert printed.isascii()
    assert not any(word in printed for word in ("NaN", "Infinity"))


def test_a_secret_of_the_other_direction_gives_the_same_result(folder: Path) -> None:
    before = scored(folder)
    place(folder, "secret").write_text("anonymized_row\n2\n1\n6\n3\n5\n4\n")
    assert scored(folder) == before


def test_a_run_leaves_nothing_in_the_folder(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    score(folder)
    assert sorted(folder.rglob("*")) == before


# Warnings.


def test_a_release_spelled_anew_is_accepted_with_a_warning(folder: Path) -> None:
    replace(folder, "anonymized", "m,30,200,20", "m,30.0,200,20")
    done = score(folder, "--json")
    content = json.loads(done.stdout)
    assert (done.returncode, content["verdict"]) == (0, "accepted")
    assert [set(each) for each in content["warnings"]] == [{"code", "message", "values"}]
    assert content["warnings"][0]["code"] == "respelled"
    assert content["warnings"][0]["message"].startswith("年齢[/b]: ")


@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_in_their_original_order_are_warned_of_unless_the_service_shuffles_them(
    folder: Path, shuffled: bool
) -> None:
    publication = f"[publication]\nshuffle_targets = {str(shuffled).lower()}"
    text = place(folder, "competition").read_text("utf-8")
    place(folder, "competition").write_text(with_tables(text, "publication", publication), "utf-8")
    place(folder, "anonymized").write_bytes(place(folder, "original").read_bytes())
    place(folder, "secret").write_text("original_row\n" + "".join(f"{row}\n" for row in range(1, 7)))
    expected = [] if shuffled else ["rows_in_original_order"]
    checked = run("check", *options(folder, *FILES), "--json", cwd=folder)
    for done in (score(folder, "--json"), checked):
        assert [each["code"] for each in json.loads(done.stdout)["warnings"]] == expected


def test_a_warning_about_a_column_with_brackets_is_shown_whole(folder: Path) -> None:
    replace(folder, "anonymized", "m,30,200,20", "m,30.0,200,20")
    done = score(folder)
    assert done.returncode == 0
    assert "  respelled: 年齢[/b]: some numbers are spelled differently" in done.stdout


def test_files_in_shift_jis_are_read_with_a_warning_each(folder: Path) -> None:
    before = scored(folder)
    for name, text in (("original", ORIGINAL), ("anonymized", RELEASE)):
        place(folder, name).write_bytes(text.encode("cp932"))
    after = scored(folder)
    assert [each["code"] for each in after.pop("warnings")] == ["read_as_cp932"] * 2
    before.pop("warnings")
    assert after == before


# Exit status 1: the contest's rules.


def test_too_few_rows_and_too_much_change_exit_with_one_and_all_measures(folder: Path) -> None:
    rows = RELEASE.splitlines()[:3]
    place(folder, "anonymized").write_text("\n".join(rows), "utf-8")
    place(folder, "secret").write_text("original_row\n2\n1\n")
    done = score(folder, "--json")
    content = json.loads(done.stdout)
    assert (done.returncode, done.stderr, content["verdict"]) == (1, "", "rejected")
    assert [set(each) for each in content["violations"]] == [{"code", "message", "values"}] * 2
    codes = [each["code"] for each in content["violations"]]
    assert codes == ["too_few_rows", "excessive_anonymization"]
    assert list(content["measures"]) == list(TRACK.measures)
    assert list(content["attackers"]) == list(TRACK.attackers)


def test_a_rejected_release_is_shown_with_its_reason(folder: Path) -> None:
    replace(folder, "competition", "threshold = 0.2", "threshold = 0.0001")
    done = score(folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("rejected\n  excessive_anonymization: ")


# Exit status 2: malformed input or wrong use.


@pytest.mark.parametrize("command", ["check", "score"])
@pytest.mark.parametrize("name", ["anonymized", "secret"])
def test_a_file_that_the_service_would_not_take_is_refused(folder: Path, command: str, name: str) -> None:
    replace(folder, "competition", "# the end", "[limits]\nfile_mb = 1")
    content = place(folder, name).read_bytes()
    fill = content.rjust if name == "secret" else content.ljust
    place(folder, name).write_bytes(fill(2**20, b" " if name == "secret" else b"\n"))
    assert run(command, *options(folder, *FILES), cwd=folder).returncode == 0
    place(folder, name).write_bytes(fill(2**20 + 1, b" " if name == "secret" else b"\n"))
    done = run(command, *options(folder, *FILES), "--json", cwd=folder)
    sentence = f"{name}.csv is larger than 1 MB"
    assert (done.returncode, done.stderr) == (2, f"anoncup: {sentence}\n")
    values = {"file": f"{name}.csv", "most_mb": 1}
    where = {"file": f"{name}.csv", "row": None, "line": None, "column": None}
    fault = {**where, "code": "too_large", "message": sentence, "values": values}
    said = {"code": "too_large", "detail": sentence, "values": values, "file": f"{name}.csv"}
    assert json.loads(done.stdout) == said | {"errors": [fault], "total": 1}


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("anonymized", "f,20,110,10", "f,20,110", "anonymized.csv, row 2: ragged_row: "),
        ("anonymized", "f,20,110,10", "f,20,,10", "anonymized.csv, row 2: missing_value: income, "),
        ("anonymized", "f,20,110,10", 'f,"20,110,10', "anonymized.csv, row 2: unclosed_quote: "),
        ("anonymized", "sex", "Sex", "anonymized.csv: header: "),
        ("anonymized", RELEASE, "", "anonymized.csv: no_header: "),
        ("original", "m,40,0,0.1", "m,40,0,x", "original.csv, row 4: not_a_number: rent, "),
        ("original", ",rent", ",Rent", "original.csv: column_without_role: "),
        ("secret", "original_row\n", "", "secret.csv: secret_header: "),
        ("secret", "4\n", "2\n", "secret.csv, row 3: duplicate_row: "),
        ("secret", "4\n", "7\n", "secret.csv, row 3: out_of_range: "),
    ],
)
def test_a_malformed_file_is_named_with_row_and_code(
    folder: Path, name: str, old: str, new: str, said: str
) -> None:
    replace(folder, name, old, new)
    done = score(folder, "--json")
    assert done.returncode == 2
    assert done.stderr.startswith("anoncup: ")
    assert f"\n  {said}" in done.stderr
    found = json.loads(done.stdout)
    assert found["code"] == "malformed_upload"
    assert f"anoncup: {found['detail']}\n" in done.stderr
    where, code = said.split(": ")[:2]
    file, _, row = where.partition(", row ")
    listed = found["errors"]
    assert (file, int(row) if row else None, code) in [
        (one["file"], one["row"], one["code"]) for one in listed
    ]
    assert set(listed[0]) >= {"file", "row", "column", "code", "message", "values"}
    assert found["total"] == len(listed)


@pytest.mark.parametrize("command", ["check", "score", "attack", "threshold"])
def test_what_is_wrong_is_said_as_json_by_every_command_that_was_asked_for_it(
    folder: Path, command: str
) -> None:
    name = "original" if command == "threshold" else "anonymized"
    files = FILES[:2] if command == "threshold" else FILES
    replace(folder, name, ",rent", ",Rent")
    done = run(command, *options(folder, *files), "--json", cwd=folder)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, "malformed_upload")
    plain = run(command, *options(folder, *files), cwd=folder)
    assert (plain.returncode, plain.stdout, plain.stderr) == (2, "", done.stderr)


def test_every_problem_of_a_file_has_its_line(folder: Path) -> None:
    replace(folder, "original", "200,20", "one,two")
    done = score(folder)
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "anoncup", "  original.csv, row 2", "  original.csv, row 2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format = 1", "format = 2", "format must be 1"),
        ("threshold = 0.2", "threshold = -1", "excessive.threshold must be"),
        ("threshold = 0.2", 'rule = "most"', "excessive.rule must be"),
        ("threshold = 0.2", 'distance = "jaccard"', "excessive.distance must be one of gower, euclidean"),
        ("mean_mae", "mean_nae", "measures.mean_nae is not a measure"),
        ("[excessive]", "[excessive", "not valid TOML"),
    ],
)
def test_a_wrong_competition_file_is_explained(folder: Path, old: str, new: str, said: str) -> None:
    replace(folder, "competition", old, new)
    done = score(folder, "--json")
    assert done.returncode == 2
    assert said in done.stderr
    assert said in json.loads(done.stdout)["detail"]


def test_a_competition_file_that_is_no_text_is_explained(folder: Path) -> None:
    place(folder, "competition").write_bytes(b"\xff\xfe")
    done = run("scales", *options(folder, "competition", "original"), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "competition.toml is not UTF-8 text" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["unknown"],
        ["template"],
        ["template", "abc"],
        ["template", "1999"],
        ["template", "2015", "2016"],
        ["score"],
        ["score", "--nonsense"],
        ["scales", "--competition", "missing.toml", "--original", "missing.csv"],
        ["scales", "--competition", ".", "--original", "."],
        ["generate", "--rows", "0"],
    ],
    ids=" ".join,
)
def test_wrong_use_exits_with_two(tmp_path: Path, words: list[str]) -> None:
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_help_is_there_for_every_local_command(tmp_path: Path) -> None:
    for command in ("template", "scales", "score", "generate"):
        assert run(command, "--help", cwd=tmp_path).returncode == 0


def test_the_module_runs_as_the_command_does(folder: Path) -> None:
    code = "import sys; from anoncup.cli.main import main; sys.argv[0] = 'anoncup'; main()"
    python = Path(sys.executable).name
    done = run("-c", code, "score", *options(folder, *FILES), "--json", cwd=folder, program=python)
    assert (done.returncode, json.loads(done.stdout)) == (0, scored(folder))
