"""Full-size contests: every number that the service stores equals an independent computation."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_secret
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.methods import shuffle_rows
from anoncup.tracks.microdata.registry import METHODS
from anoncup.tracks.microdata.tables import parse_original
from app.config import Settings
from tests.support import independent_scores
from tests.support.independent_scores import ColumnRoles, NumericTables
from tests.support.reference_data import get_reference_folder, needs_reference_data
from tests.support.service_processes import (
    ServedContest,
    build_household_file,
    open_contest,
    run_local_score,
    run_web_server,
    run_worker,
)

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


def parse_rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))[1:]


def build_rules(table: pd.DataFrame, columns: Columns) -> ColumnRoles:
    names = list(table.columns)
    quasi_indexes = [names.index(name) for name in columns.quasi_identifiers]
    sensitive = [names.index(name) for name in columns.sensitive]
    return ColumnRoles(quasi_indexes, sensitive, quasi_indexes[:6], sensitive[1], sensitive[1], sensitive[7])


def is_close(actual: float, expected: float) -> bool:
    return abs(actual - expected) <= 1e-9 * max(1.0, abs(expected))


def check_releases(
    contest: ServedContest,
    original: bytes,
    table: pd.DataFrame,
    columns: Columns,
    folder: Path,
    *,
    releases: Sequence[tuple[str, dict[str, Any]]] = RELEASES,
) -> None:
    rules, original_rows = build_rules(table, columns), parse_rows(original)
    scale = independent_scores.scales(rules, original_rows)
    largest = float(np.abs(independent_scores.parse_numeric_cells(original_rows, rules.sensitive)).max())
    for number, (method, parameters) in enumerate(releases):
        rng = np.random.default_rng(number)
        release_table, source = shuffle_rows(
            *METHODS[method].apply(table, columns, rng=rng, **parameters), rng=rng
        )
        anonymized, secret = write_csv(release_table), write_secret(source)
        release = {"anonymized": anonymized}
        identifier = contest.submit_files(release, secret)
        submission = contest.wait_until(identifier, lambda state: state["finished_at"] is not None)
        result: Any = submission["result"]
        numbers = NumericTables(rules, original_rows, parse_rows(anonymized), source)
        check_result(result, numbers, scale, largest)
        is_accepted = result["excessive"]["mean"] <= 0.1 + 1e-12
        assert submission["status"] == ("SCORED" if is_accepted else "REJECTED")
        assert run_local_score(contest, folder, {"original": original}, release, secret) == result


def check_result(result: Any, numbers: NumericTables, scale: dict[str, float], largest: float) -> None:
    utility = independent_scores.compute_utility_losses(numbers)
    rates = independent_scores.compute_attack_rates(numbers)
    for name, value in (utility | independent_scores.anonymity(numbers)).items():
        assert is_close(result["measures"][name]["value"], value), name
    for name, value in rates.items():
        assert abs(result["attackers"][name]["rate"] - value) < 1e-12, name
    distances = independent_scores.compute_gower_distances(numbers)
    assert is_close(result["excessive"]["mean"], float(distances.mean()))
    assert is_close(result["excessive"]["max"], float(distances.max()))
    assert set(result["attackers"]) - set(rates) == {"euc2_assignment", "gower_assignment"}
    utility_score = independent_scores.compute_utility_score(utility, scale, largest)
    security = max(entry["rate"] for entry in result["attackers"].values())
    assert is_close(result["utility"], utility_score)
    assert is_close(result["security"], security)
    assert is_close(result["overall"], (utility_score + security) / 2)


def test_stored_numbers_are_correct_for_generated_data(settings: Settings, tmp_path: Path) -> None:
    table = generate_households(1_000)
    original = write_csv(table)
    with run_web_server(tmp_path) as url, run_worker(tmp_path):
        contest = open_contest(
            url, file=build_household_file("full"), original={"original": original}, slug="full"
        )
        check_releases(contest, original, table, get_household_columns(), tmp_path)


@needs_reference_data
def test_stored_numbers_are_correct_for_real_data(settings: Settings, tmp_path: Path) -> None:
    original = (get_reference_folder() / "microdata_8333x25.csv").read_bytes()
    names = original.decode().splitlines()[0].split(",")
    columns = Columns(tuple(names[:13]), tuple(names[13:]))
    table, _ = parse_original(original, columns)
    with run_web_server(tmp_path) as url, run_worker(tmp_path):
        file = build_household_file("real", columns)
        contest = open_contest(url, file=file, original={"original": original}, slug="real")
        check_releases(contest, original, table, columns, tmp_path, releases=RELEASES[::3])
