"""Every number that the service stores equals those of a second implementation and of the local command."""

from collections.abc import Iterator, Sequence
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
from tests.support.microdata_reference import class_sizes
from tests.support.microdata_reference_scores import ReferenceOriginal, parse_table
from tests.support.reference_data import get_reference_folder, needs_reference_data
from tests.support.service_processes import (
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
REFERENCE_ROWS = 200
"""Rows for which the second implementation takes seconds."""


def is_close(actual: float, expected: float) -> bool:
    return abs(actual - expected) <= 1e-9 * max(1.0, abs(expected))


@pytest.fixture
def url(settings: Settings, tmp_path: Path) -> Iterator[str]:
    with run_web_server(tmp_path) as address, run_worker(tmp_path):
        yield address


def score_releases(
    url: str,
    folder: Path,
    table: pd.DataFrame,
    columns: Columns,
    releases: Sequence[tuple[str, dict[str, Any]]] = RELEASES,
) -> Iterator[tuple[bytes, list[int], Any]]:
    """Yield each release with its original rows and its result, which the local command gets too."""
    slug, original = f"cup-{len(table)}", {"original": write_csv(table)}
    contest = open_contest(url, file=build_household_file(slug, columns), original=original, slug=slug)
    for number, (method, parameters) in enumerate(releases):
        rng = np.random.default_rng(number)
        made = METHODS[method].apply(table, columns, rng=rng, **parameters)
        release_table, source = shuffle_rows(*made, rng=rng)
        release, secret = {"anonymized": write_csv(release_table)}, write_secret(source)
        identifier = contest.submit_files(release, secret)
        submission = contest.wait_until(identifier, lambda state: state["finished_at"] is not None)
        result: Any = submission["result"]
        is_accepted = result["excessive"]["mean"] <= 0.1 + 1e-12
        assert submission["status"] == ("SCORED" if is_accepted else "REJECTED")
        assert run_local_score(contest, folder, original, release, secret) == result
        yield release["anonymized"], source.tolist(), result


def check_numbers(url: str, folder: Path, table: pd.DataFrame, columns: Columns) -> None:
    quasi_count = len(columns.quasi_identifiers)
    original = ReferenceOriginal(
        *parse_table(write_csv(table), quasi_count), cross_columns=range(6), value_column=1, rank_column=7
    )
    for content, source, result in score_releases(url, folder, table, columns):
        check_result(result, original, (*parse_table(content, quasi_count), source))


def check_result(result: Any, original: ReferenceOriginal, release: Any) -> None:
    texts, cells, _ = release
    measures = original.compute_measures(*release)
    utility = original.compute_utility(measures, dict.fromkeys(measures, 1.0))
    sizes = class_sizes(texts)
    for name, value in (measures | {"k_min": min(sizes), "k_mean": len(cells) / len(sizes)}).items():
        assert is_close(result["measures"][name]["value"], value), name
    rates = original.compute_attackers(*release)
    assert {name: result["attackers"][name]["rate"] for name in rates} == pytest.approx(rates, abs=1e-12)
    assert set(result["attackers"]) - set(rates) == {"euc2_assignment", "gower_assignment"}
    distances = original.compute_distances(*release)
    assert is_close(result["excessive"]["mean"], sum(distances) / len(distances))
    assert is_close(result["excessive"]["max"], max(distances))
    security = max(entry["rate"] for entry in result["attackers"].values())
    assert is_close(result["utility"], utility)
    assert is_close(result["security"], security)
    assert is_close(result["overall"], (utility + security) / 2)


def test_stored_numbers_are_correct_for_generated_data(url: str, tmp_path: Path) -> None:
    check_numbers(url, tmp_path, generate_households(REFERENCE_ROWS), get_household_columns())


@needs_reference_data
def test_stored_numbers_are_correct_for_real_data(url: str, tmp_path: Path) -> None:
    original = (get_reference_folder() / "microdata_8333x25.csv").read_bytes()
    names = original.decode().splitlines()[0].split(",")
    columns = Columns(tuple(names[:13]), tuple(names[13:]))
    table, _ = parse_original(original, columns)
    check_numbers(url, tmp_path, table.head(REFERENCE_ROWS), columns)
    assert len(list(score_releases(url, tmp_path, table, columns, RELEASES[::3]))) == 3
