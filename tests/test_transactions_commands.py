"""The local commands on the transactions track, as a team runs them: from the data to scored releases."""

import json
from pathlib import Path
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.tracks.linkage.permutation import source_from_secret
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import parse_original, parse_release
from tests.support.shell_commands import run
from tests.support.shop_files import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS

pytestmark = pytest.mark.full

ORIGINAL: tuple[str, ...] = (
    "--competition",
    "competition.toml",
    "--original",
    "m.csv",
    "--original",
    "t.csv",
)
RELEASE = ("--customers", "m2.csv", "--transactions", "t2.csv")
SECRET = ("--secret", "s.csv")
INTO = ("--into", "x")
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


def printed(folder: Path, command: str, *words: str, status: int = 0) -> Any:
    done = run(command, *words, "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (status, "")
    return json.loads(done.stdout)


def test_the_worked_example_is_scored(folder: Path) -> None:
    found = printed(folder, "score", *ORIGINAL, *RELEASE, *SECRET)
    values = {name: entry["value"] for name, entry in found["measures"].items()}
    assert values["cmae_price"] == 1.8125
    assert values["cmae_spend"] == 4.5
    assert values["rfm"] == 0.005
    assert found["measures"]["row_difference"]["details"] == {"signed": -1.0}
    assert found["attackers"]["random_in_cluster"]["rate"] == 2 / 3
    assert found["excessive"]["mean"] == pytest.approx(0.2916666667)
    assert found["verdict"] == "accepted"


def test_a_release_is_checked_with_and_without_its_secret(folder: Path) -> None:
    assert printed(folder, "check", *ORIGINAL, *RELEASE)["verdict"] == "well-formed"
    assert printed(folder, "check", *ORIGINAL, *RELEASE, *SECRET)["verdict"] == "accepted"
    (folder / "s.csv").write_text("original_row\n4\n3\n1\n")
    found = printed(folder, "check", *ORIGINAL, *RELEASE, *SECRET, status=1)
    assert [each["code"] for each in found["violations"]] == ["excessive_anonymization"]


def test_attackers_guess_without_the_secret_and_are_rated_with_it(folder: Path) -> None:
    done = run(
        "attack", *ORIGINAL, *RELEASE, "--into", "guesses", "--attacker", "jaccard_quantity", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "guesses" / "jaccard_quantity.csv").read_text() == "original_row\n3\n1\n2\n"
    rates = printed(folder, "attack", *ORIGINAL, *RELEASE, *SECRET)
    assert rates["jaccard_quantity"]["correct"] == 3
    assert set(rates) == set(printed(folder, "score", *ORIGINAL, *RELEASE, *SECRET)["attackers"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("attack", *ORIGINAL, *RELEASE), "--secret"),
        (("attack", *ORIGINAL, *RELEASE, *SECRET, "--attacker", "magic"), "record_keys"),
        (("score", *ORIGINAL, "--anonymized", "t2.csv", *SECRET), "--customers and --transactions"),
        (("score", *ORIGINAL[:4], *RELEASE, *SECRET), "2 --original"),
        (
            ("anonymize", *ORIGINAL, "--method", "magic", "--into", "x"),
            "balance_clusters, delete_customers",
        ),
        (("anonymize", *ORIGINAL, "--method", "shift", "--set", "k=2", "--into", "x"), "no parameters"),
        (
            ("anonymize", *ORIGINAL, "--method", "cluster_tfidf", "--set", "clusters=-1", "--into", "x"),
            "clusters must be a whole number",
        ),
        (("threshold", *ORIGINAL, "--groups", "sex,shoe"), "shoe"),
        (("threshold", *ORIGINAL, "--groups", "sex,"), "a name is empty"),
        (("threshold", *ORIGINAL, "--distance", "gower"), "jaccard_quantity"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(folder: Path, words: tuple[str, ...], said: str) -> None:
    done = run(*words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "x").exists()


def test_without_group_columns_everybody_is_in_one_group(folder: Path) -> None:
    def groups(*words: str) -> object:
        return printed(folder, "threshold", *ORIGINAL, "--draws", "0", *words)["groups"]

    assert groups("--groups", "") == 1
    assert groups("--groups", "sex") == 2
    assert groups() == groups("--groups", "sex,country") == 4


def test_a_malformed_file_is_named_with_row_and_column(folder: Path) -> None:
    (folder / "t2.csv").write_text(RELEASED_TRANSACTIONS.replace("2011-06-30", "2011-06-31"))
    done = run("check", *ORIGINAL, *RELEASE, cwd=folder)
    assert done.returncode == 2
    assert "t2.csv, row 1: not_a_date: date, row 1" in done.stderr


def test_the_shipped_data_go_all_the_way(tmp_path: Path) -> None:
    assert run("tc400", "data", cwd=tmp_path).returncode == 0
    contents = {
        name: (tmp_path / "data" / f"{name}.csv").read_bytes() for name in ("customers", "transactions")
    }
    tables, _ = parse_original(contents)
    assert tables.transactions.equals(tc400().transactions)
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
    assert run("anonymize", *original, *method, cwd=tmp_path).returncode == 0
    made = {name: (tmp_path / "release" / f"{name}.csv").read_bytes() for name in contents}
    release, _ = parse_release(made, tables)
    secret = (tmp_path / "release" / "secret.csv").read_bytes()
    assert len(source_from_secret(secret, originals=400, anonymized=len(release.customers))) == 400
    files = ("--customers", "release/customers.csv", "--transactions", "release/transactions.csv")
    found = printed(tmp_path, "score", *original, *files, "--secret", "release/secret.csv", "--methods")
    assert found["attackers"]["jaccard"]["correct"] <= 80
    assert found["measures"]["basket_k_min"]["value"] >= 3
    assert found["resembles"][0]["methods"] == ["dummies in clusters"]


@pytest.mark.full
def test_a_threshold_is_advised(tmp_path: Path) -> None:
    run("tc400", ".", cwd=tmp_path)
    (tmp_path / "competition.toml").write_text(template(2016))
    original = (
        "--competition",
        "competition.toml",
        "--original",
        "customers.csv",
        "--original",
        "transactions.csv",
    )
    advice = printed(tmp_path, "threshold", *original, "--draws", "50")
    assert parse_competition(template(2016)).threshold is not None
    assert advice["low"] == pytest.approx(0.7133620690 / 2)
    assert advice["low"] < advice["threshold"] < advice["high"]
    assert set(advice["histograms"]) == {"shift", "random", "group"}
    shown = run("threshold", *original, "--draws", "50", cwd=tmp_path)
    assert f"recommended: threshold = {advice['threshold']}" in shown.stdout
