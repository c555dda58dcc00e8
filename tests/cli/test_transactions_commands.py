"""Local commands on the transactions track, from the data to scored releases."""

import json
from pathlib import Path
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.tracks.linkage.permutation import parse_secret
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import parse_original, parse_release
from tests.support.shell_commands import run_program
from tests.support.shop_contest import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS

pytestmark = pytest.mark.full

CONTEST_OPTIONS: tuple[str, ...] = (
    "--competition",
    "competition.toml",
    "--original",
    "m.csv",
    "--original",
    "t.csv",
)
RELEASE_OPTIONS = ("--customers", "m2.csv", "--transactions", "t2.csv")
SECRET_OPTION = ("--secret", "s.csv")
FILES = ("customers", "transactions")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {
        "competition.toml": template(2016),
        "m.csv": CUSTOMERS,
        "t.csv": TRANSACTIONS,
        "m2.csv": RELEASED_CUSTOMERS,
        "t2.csv": RELEASED_TRANSACTIONS,
        "s.csv": "original_row\n3\n1\n2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run_json(folder: Path, command: str, *arguments: str, status: int = 0) -> Any:
    completed = run_program(command, *arguments, "--json", cwd=folder)
    assert (completed.returncode, completed.stderr) == (status, "")
    return json.loads(completed.stdout)


def test_worked_example_is_scored(folder: Path) -> None:
    content = run_json(folder, "score", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION)
    values = {name: entry["value"] for name, entry in content["measures"].items()}
    assert values["cmae_price"] == 1.8125
    assert values["cmae_spend"] == 4.5
    assert values["rfm"] == 0.005
    assert content["measures"]["row_difference"]["details"] == {"signed": -1.0}
    assert content["attackers"]["random_in_cluster"]["rate"] == 2 / 3
    assert content["excessive"]["mean"] == pytest.approx(0.2916666667)
    assert content["verdict"] == "accepted"


def test_release_is_checked_with_and_without_a_secret(folder: Path) -> None:
    assert run_json(folder, "check", *CONTEST_OPTIONS, *RELEASE_OPTIONS)["verdict"] == "well-formed"
    assert (
        run_json(folder, "check", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION)["verdict"] == "accepted"
    )
    (folder / "s.csv").write_text("original_row\n4\n3\n1\n")
    content = run_json(folder, "check", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION, status=1)
    assert [violation["code"] for violation in content["violations"]] == ["excessive_anonymization"]


def test_attackers_guess_without_the_secret_and_are_rated_with_it(folder: Path) -> None:
    completed = run_program(
        "attack",
        *CONTEST_OPTIONS,
        *RELEASE_OPTIONS,
        "--into",
        "guesses",
        "--attacker",
        "jaccard_quantity",
        cwd=folder,
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    assert (folder / "guesses" / "jaccard_quantity.csv").read_text() == "original_row\n3\n1\n2\n"
    rates = run_json(folder, "attack", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION)
    assert rates["jaccard_quantity"]["correct"] == 3
    assert set(rates) == set(
        run_json(folder, "score", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION)["attackers"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attack", *CONTEST_OPTIONS, *RELEASE_OPTIONS), "--secret"),
        (
            ("attack", *CONTEST_OPTIONS, *RELEASE_OPTIONS, *SECRET_OPTION, "--attacker", "magic"),
            "record_keys",
        ),
        (
            ("score", *CONTEST_OPTIONS, "--anonymized", "t2.csv", *SECRET_OPTION),
            "--customers and --transactions",
        ),
        (("score", *CONTEST_OPTIONS[:4], *RELEASE_OPTIONS, *SECRET_OPTION), "2 --original"),
        (
            ("anonymize", *CONTEST_OPTIONS, "--method", "magic", "--into", "x"),
            "balance_clusters, delete_customers",
        ),
        (
            ("anonymize", *CONTEST_OPTIONS, "--method", "shift", "--set", "k=2", "--into", "x"),
            "no parameters",
        ),
        (
            (
                "anonymize",
                *CONTEST_OPTIONS,
                "--method",
                "cluster_tfidf",
                "--set",
                "clusters=-1",
                "--into",
                "x",
            ),
            "clusters must be a whole number",
        ),
        (("threshold", *CONTEST_OPTIONS, "--groups", "sex,shoe"), "shoe"),
        (("threshold", *CONTEST_OPTIONS, "--groups", "sex,"), "a name is empty"),
        (("threshold", *CONTEST_OPTIONS, "--distance", "gower"), "jaccard_quantity"),
    ],
)
def test_wrong_usage_is_explained(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    completed = run_program(*arguments, cwd=folder)
    assert completed.returncode == 2
    assert message in completed.stderr
    assert not (folder / "x").exists()


def test_without_group_columns_all_records_form_one_group(folder: Path) -> None:
    def count_groups(*arguments: str) -> object:
        return run_json(folder, "threshold", *CONTEST_OPTIONS, "--draws", "0", *arguments)["groups"]

    assert count_groups("--groups", "") == 1
    assert count_groups("--groups", "sex") == 2
    assert count_groups() == count_groups("--groups", "sex,country") == 4


def test_malformed_file_is_reported_with_row_and_column(folder: Path) -> None:
    (folder / "t2.csv").write_text(RELEASED_TRANSACTIONS.replace("2011-06-30", "2011-06-31"))
    completed = run_program("check", *CONTEST_OPTIONS, *RELEASE_OPTIONS, cwd=folder)
    assert completed.returncode == 2
    assert "t2.csv, row 1: not_a_date: date, row 1" in completed.stderr


def test_shipped_data_can_be_released_scored_and_attacked(tmp_path: Path) -> None:
    assert run_program("tc400", "data", cwd=tmp_path).returncode == 0
    contents = {
        name: (tmp_path / "data" / f"{name}.csv").read_bytes() for name in ("customers", "transactions")
    }
    tables, _ = parse_original(contents)
    assert tables.transactions.equals(load_tc400().transactions)
    (tmp_path / "competition.toml").write_text(template(2016))
    data = ("--original", "data/customers.csv", "--original", "data/transactions.csv")
    original = ("--competition", "competition.toml", *data)
    method = (
        "--method",
        "balance_clusters",
        "--set",
        "clusters=80",
        "--set",
        "smallest=3",
        "--into",
        "release",
    )
    assert run_program("anonymize", *original, *method, cwd=tmp_path).returncode == 0
    release_contents = {name: (tmp_path / "release" / f"{name}.csv").read_bytes() for name in contents}
    release, _ = parse_release(release_contents, tables)
    secret = (tmp_path / "release" / "secret.csv").read_bytes()
    assert len(parse_secret(secret, original_count=400, anonymized_count=len(release.customers))) == 400
    files = ("--customers", "release/customers.csv", "--transactions", "release/transactions.csv")
    content = run_json(tmp_path, "score", *original, *files, "--secret", "release/secret.csv", "--methods")
    assert content["attackers"]["jaccard"]["correct"] <= 80
    assert content["measures"]["basket_k_min"]["value"] >= 3
    assert content["resembles"][0]["methods"] == ["dummies in clusters"]


@pytest.mark.full
def test_threshold_is_recommended(tmp_path: Path) -> None:
    run_program("tc400", ".", cwd=tmp_path)
    (tmp_path / "competition.toml").write_text(template(2016))
    original = (
        "--competition",
        "competition.toml",
        "--original",
        "customers.csv",
        "--original",
        "transactions.csv",
    )
    advice = run_json(tmp_path, "threshold", *original, "--draws", "50")
    assert parse_competition(template(2016)).threshold is not None
    assert advice["low"] == pytest.approx(0.7133620690 / 2)
    assert advice["low"] < advice["threshold"] < advice["high"]
    assert set(advice["histograms"]) == {"shift", "random", "group"}
    completed = run_program("threshold", *original, "--draws", "50", cwd=tmp_path)
    assert f"recommended: threshold = {advice['threshold']}" in completed.stdout
