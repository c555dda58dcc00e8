"""A contest on a full-size table: what the service stores equals an independent computation."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import secret_csv
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.permutations import shuffle_rows
from anoncup.tracks.microdata.registry import METHODS
from anoncup.tracks.microdata.tables import parse_original
from app.config import Settings
from tests.e2e.stack import Contest, household_file, local_score, open_contest, web, worker
from tests.scoring import independent
from tests.scoring.independent import Numbers, Rules

pytestmark = pytest.mark.full

RELEASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("k_anonymize", {"k": 4}),
    ("add_noise", {"strength": 0.3}),
    ("unify_columns", {}),
    ("microaggregate", {}),
    ("swap_within_classes", {}),
    ("delete_rows", {"share": 0.13}),
    ("cheating_permutation", {}),
)


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))[1:]


def rules_of(table: pd.DataFrame, columns: Columns) -> Rules:
    names = list(table.columns)
    quasi = [names.index(name) for name in columns.quasi_identifiers]
    sensitive = [names.index(name) for name in columns.sensitive]
    return Rules(quasi, sensitive, quasi[:6], sensitive[1], sensitive[1], sensitive[7])


def close(found: float, expected: float) -> bool:
    return abs(found - expected) <= 1e-9 * max(1.0, abs(expected))


def check(contest: Contest, original: bytes, table: pd.DataFrame, columns: Columns, folder: Path) -> None:
    rules, x = rules_of(table, columns), rows_of(original)
    scale = independent.scales(rules, x)
    largest = float(np.abs(independent.values(x, rules.sensitive)).max())
    for number, (method, parameters) in enumerate(RELEASES):
        rng = np.random.default_rng(number)
        released, source = shuffle_rows(
            *METHODS[method].apply(table, columns, rng=rng, **parameters), rng=rng
        )
        anonymized, secret = table_csv(released), secret_csv(source)
        release = {"anonymized": anonymized}
        identifier = contest.send(release, secret)
        found = contest.until(identifier, lambda now: now["finished_at"] is not None)
        result: Any = found["result"]
        numbers = Numbers(rules, x, rows_of(anonymized), source)
        compare(result, numbers, scale, largest)
        assert found["status"] == ("SCORED" if result["excessive"]["mean"] <= 0.1 + 1e-12 else "REJECTED")
        assert local_score(contest, folder, {"original": original}, release, secret) == result


def compare(result: Any, numbers: Numbers, scale: dict[str, float], largest: float) -> None:
    utility, rates = independent.utility(numbers), independent.attackers(numbers)
    for name, value in (utility | independent.anonymity(numbers)).items():
        assert close(result["measures"][name]["value"], value), name
    for name, value in rates.items():
        assert abs(result["attackers"][name]["rate"] - value) < 1e-12, name
    distances = independent.gower_distances(numbers)
    assert close(result["excessive"]["mean"], float(distances.mean()))
    assert close(result["excessive"]["max"], float(distances.max()))
    assert set(result["attackers"]) - set(rates) == {"euc2_assignment", "gower_assignment"}
    u = independent.utility_score(utility, scale, largest)
    e = max(entry["rate"] for entry in result["attackers"].values())
    assert close(result["utility"], u)
    assert close(result["security"], e)
    assert close(result["overall"], (u + e) / 2)


def test_every_stored_number_on_the_generated_table(settings: Settings, tmp_path: Path) -> None:
    table = household_table()
    original = table_csv(table)
    with web(tmp_path) as url, worker(tmp_path):
        contest = open_contest(url, file=household_file("full"), original={"original": original}, slug="full")
        check(contest, original, table, household_columns(), tmp_path)


def test_every_stored_number_on_real_data(settings: Settings, tmp_path: Path, reference_data: Path) -> None:
    original = (reference_data / "microdata_8333x25.csv").read_bytes()
    names = original.decode().splitlines()[0].split(",")
    columns = Columns(tuple(names[:13]), tuple(names[13:]))
    table, _ = parse_original(original, columns)
    with web(tmp_path) as url, worker(tmp_path):
        file = household_file("real", columns)
        contest = open_contest(url, file=file, original={"original": original}, slug="real")
        check(contest, original, table, columns, tmp_path)
