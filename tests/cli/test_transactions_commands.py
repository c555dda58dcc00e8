"""Local commands on the transactions track, from the data to scored releases."""

from pathlib import Path

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from tests.support.shell_commands import run_json, run_line
from tests.support.shop_contest import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS

pytestmark = pytest.mark.full

CONTEST = "--competition competition.toml --original m.csv --original t.csv"
RELEASE = f"{CONTEST} --customers m2.csv --transactions t2.csv"
SCORED = f"{RELEASE} --secret s.csv"


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


def test_release_is_checked_with_and_without_a_secret(folder: Path) -> None:
    assert run_json(folder, f"check {RELEASE}")["verdict"] == "well-formed"
    assert run_json(folder, f"check {SCORED}")["verdict"] == "accepted"
    (folder / "s.csv").write_text("original_row\n4\n3\n1\n")
    content = run_json(folder, f"check {SCORED}", status=1)
    assert [violation["code"] for violation in content["violations"]] == ["excessive_anonymization"]


def test_attackers_guess_without_the_secret_and_are_rated_with_it(folder: Path) -> None:
    printed = run_line(folder, f"attack {RELEASE} --into guesses --attacker jaccard_quantity")
    assert printed == "wrote jaccard_quantity.csv into guesses\n"
    assert (folder / "guesses" / "jaccard_quantity.csv").read_text() == "original_row\n3\n1\n2\n"
    rates = run_json(folder, f"attack {SCORED}")
    assert rates["jaccard_quantity"]["correct"] == 3
    assert rates == run_json(folder, f"score {SCORED}")["attackers"]


def test_methods_are_listed_with_what_they_do_and_cheats_marked(folder: Path) -> None:
    listed = " ".join(run_line(folder, f"anonymize {CONTEST}").split())
    assert "delete_records share=0.01 Delete a random share of the records;" in listed
    assert "shift Cheat, to be rejected: Let every customer claim the next one's row" in listed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"attack {RELEASE}", "--secret"),
        (f"attack {SCORED} --attacker magic", "record_keys"),
        (f"score {CONTEST} --anonymized t2.csv --secret s.csv", "--customers and --transactions"),
        (f"score {SCORED.replace('--original t.csv', '')}", "2 --original"),
        (f"anonymize {CONTEST} --method magic --into x", "delete_customers, delete_records; --method help"),
        (f"anonymize {CONTEST} --method cluster_tfidf", "--into is needed"),
        (f"anonymize {CONTEST} --method shift --set k=2 --into x", "no parameters"),
        (
            f"anonymize {CONTEST} --method cluster_tfidf --set clusters=-1 --into x",
            "clusters must be a whole number",
        ),
        (f"threshold {CONTEST} --groups sex,shoe", "shoe"),
        (f"threshold {CONTEST} --distance gower", "jaccard_quantity"),
    ],
)
def test_wrong_usage_is_explained(folder: Path, line: str, message: str) -> None:
    assert message in run_line(folder, line, status=2)
    assert not (folder / "x").exists()


def test_threshold_is_recommended(tmp_path: Path) -> None:
    run_line(tmp_path, "tc400 .")
    (tmp_path / "competition.toml").write_text(template(2016))
    line = "threshold --competition competition.toml --original customers.csv --original transactions.csv"
    advice = run_json(tmp_path, f"{line} --draws 50")
    assert parse_competition(template(2016)).threshold is not None
    assert advice["low"] == pytest.approx(0.7133620690 / 2)
    assert advice["low"] < advice["threshold"] < advice["high"]
    assert set(advice["histograms"]) == {"shift", "random", "group"}
    printed = run_line(tmp_path, f"{line} --draws 50")
    assert f"recommended threshold: {advice['threshold']}" in printed
    (warning,) = advice["contest"]["warnings"]
    assert printed.startswith(warning["message"])
    assert warning["code"] == "unchanged_leads"
    assert [entry["method"] for entry in advice["contest"]["releases"] if entry["rank"] == 1] == [None]
