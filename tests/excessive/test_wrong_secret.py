"""Secrets that do not belong to their release cause a warning; those of honest releases never do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import check_rules
from anoncup.excessive.rejection_rule import compute_individual_distances
from anoncup.excessive.wrong_secret import (
    ORIGINAL_ORDER,
    RANDOM_LIKE_REMARK,
    SHIFTED_ROWS,
    SWAPPED_COLUMNS,
    WARNING_CODE,
    find_secret_warnings,
)
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.transactions.example import load_tc400
from tests.support.originals import make_original

TEMPLATES = {"microdata": "2015", "transactions": "2016"}
CHEATING_METHODS = {"cheating_permutation", "shift", "random_permutation", "group_permutation"}


@cache
def load_contest(name: str) -> tuple[AnyTrack, Rules, Any]:
    """Return a track with the rules of its template and its original."""
    rules = parse_competition(template(TEMPLATES[name]))
    track = TRACKS[name]
    tables = load_tc400() if name == "transactions" else generate_households(500, seed=4)
    return track, rules, make_original(tables, rules)


def list_honest_cases() -> Iterator[Any]:
    for name in TEMPLATES:
        track, _, prepared = load_contest(name)
        _, columns = track.distances.group_columns(load_contest(name)[1])
        for method, method_entry in track.methods.items():
            for parameters in (
                () if method in CHEATING_METHODS else method_entry.strengths(prepared.rows, columns)
            ):
                yield pytest.param(name, method, parameters, id=f"{name} {method} {parameters}")


def build_release(name: str, method: str, parameters: Any, seed: int) -> tuple[Any, IntArray]:
    """Return a release of a sample method in random order, and its secret."""
    track, rules, original = load_contest(name)
    release, source = track.anonymize(track.methods[method], original, rules, default_rng(seed), parameters)
    shuffled, order = track.shuffle(release, source, rng=default_rng(seed + 100))
    return shuffled, np.asarray(order)


def collect_warnings(name: str, distance: str, release: Any, source: IntArray) -> list[Any]:
    track, rules, prepared = load_contest(name)
    context, metric = track.build_context(rules, prepared, release), track.distances[distance]
    scored_release = track.add_answer(source, context)
    distances = compute_individual_distances(scored_release, metric).values[scored_release.answer]
    return find_secret_warnings(scored_release, metric, distances)


@pytest.mark.full
@pytest.mark.parametrize(("name", "method", "parameters"), [*list_honest_cases()])
def test_only_wrong_secrets_cause_a_warning(name: str, method: str, parameters: Any) -> None:
    release, source = build_release(name, method, parameters, seed=0)
    wrong_secrets = [
        wrong_secret for _, wrong_secret in generate_wrong_secrets(source, load_contest(name)[2].rows)
    ]
    # the secret of another release with the same individuals
    wrong_secrets += [default_rng(9).permutation(source)]
    for distance in load_contest(name)[0].distances:
        assert collect_warnings(name, distance, release, source) == []
        for wrong_secret in wrong_secrets:
            (warning,) = collect_warnings(name, distance, release, np.asarray(wrong_secret))
            assert warning.code == WARNING_CODE


def generate_wrong_secrets(source: IntArray, originals: int) -> Iterator[tuple[Any, IntArray]]:
    """Yield pairs of a mistake and the wrong secret that it leads to."""
    yield RANDOM_LIKE_REMARK, np.sort(source)
    yield SHIFTED_ROWS, np.roll(source, 1)
    yield SHIFTED_ROWS, np.roll(source, -1)
    if len(source) == originals:
        yield SWAPPED_COLUMNS, np.argsort(source)
        yield SHIFTED_ROWS, (source + 1) % originals
        yield SHIFTED_ROWS, (source - 1) % originals


def test_warnings_name_the_mistake() -> None:
    release, source = build_release("microdata", "add_noise", {"strength": 0.1}, 1)
    for mistake, wrong_secret in generate_wrong_secrets(source, load_contest("microdata")[2].rows):
        (warning,) = collect_warnings("microdata", "gower", release, wrong_secret)
        assert (
            warning == RANDOM_LIKE_REMARK
            if mistake is RANDOM_LIKE_REMARK
            else warning.message.values == {"other": mistake}
        )
    track, rules, original = load_contest("microdata")
    unshuffled_release, _ = track.anonymize(
        track.methods["add_noise"], original, rules, default_rng(1), {"strength": 0.1}
    )
    (warning,) = collect_warnings("microdata", "gower", unshuffled_release, source)
    assert warning.message.values == {"other": ORIGINAL_ORDER}


def repeat_first_row(table: Any) -> Any:
    """Return a release without information: every row is the first one."""
    return table.iloc[[0] * len(table)].reset_index(drop=True)


def add_outlier(table: Any) -> Any:
    changed_table = table.copy()
    changed_table.iloc[3, -1] = 1e30
    return changed_table


@pytest.mark.parametrize("change", [repeat_first_row, add_outlier])
@pytest.mark.parametrize("distance", ["gower", "euclidean"])
def test_identical_rows_and_outliers_cause_no_warning(change: Callable[[Any], Any], distance: str) -> None:
    release, source = build_release("microdata", "add_noise", {"strength": 0.1}, 1)
    assert collect_warnings("microdata", distance, change(release), source) == []


def test_small_tables_cause_no_warning() -> None:
    track, rules, original = load_contest("microdata")
    few_rows = original.table.iloc[:10]
    prepared = make_original(few_rows, rules)
    context = track.build_context(rules, prepared, few_rows)
    release = track.add_answer(np.roll(np.arange(10), 1), context)
    metric = track.distances["gower"]
    assert find_secret_warnings(release, metric, metric.to_source(release)) == []


def test_wrong_secrets_are_reported_besides_violations() -> None:
    _, rules, prepared = load_contest("microdata")
    assert rules.excessive is not None
    rules = replace(rules, excessive=replace(rules.excessive, threshold=0.2))
    release, source = build_release("microdata", "add_noise", {"strength": 0.1}, 1)
    violations, _, (warning,) = check_rules(rules, prepared, release, np.argsort(source))
    assert [violation.code for violation in violations] == ["excessive_anonymization"]
    assert warning.code == WARNING_CODE
    violations, _, warnings = check_rules(rules, prepared, release, source)
    assert (violations, warnings) == ((), ())
