"""A secret that belongs to another file is recognized, and that of honest work never is."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import doubts_about_secret, judge
from anoncup.excessive.individual_distances import individual_distances
from anoncup.excessive.wrong_secret import (
    AS_BY_CHANCE,
    CODE,
    EXCHANGED,
    IN_ORDER,
    SHIFTED,
    warnings_about_secret,
)
from anoncup.geometry.arrays import IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.model import Track
from anoncup.tracks.transactions.example import tc400

TEMPLATES = {"microdata": "2015", "transactions": "2016"}
CHEATS = {"cheating_permutation", "shift", "random_permutation", "group_permutation"}


@cache
def contest(track: str) -> tuple[Track, Rules, Any, Any]:
    """Return a track with the rules of its template, its original and the prepared original."""
    rules = parse_competition(template(TEMPLATES[track]))
    found = TRACKS[track]
    tables = tc400() if track == "transactions" else household_table(500, seed=4)
    return found, rules, tables, found.prepare(tables, rules)


def honest() -> Iterator[Any]:
    for name in TEMPLATES:
        track, _, _, prepared = contest(name)
        _, columns = track.group_columns(contest(name)[1])
        for method, one in track.methods.items():
            for parameters in () if method in CHEATS else one.strengths(prepared.rows, columns):
                yield pytest.param(name, method, parameters, id=f"{name} {method} {parameters}")


def released(name: str, method: str, parameters: Any, seed: int) -> tuple[Any, IntArray]:
    """Return a release of a sample method in random order, and its secret."""
    track, rules, tables, _ = contest(name)
    release, source = track.anonymize(track.methods[method], tables, rules, default_rng(seed), parameters)
    shuffled, order = track.shuffle(release, source, rng=default_rng(seed + 100))
    return shuffled, np.asarray(order)


def warnings(name: str, distance: str, release: Any, source: IntArray) -> list[Any]:
    track, _, _, prepared = contest(name)
    made, kind = track.release_of(prepared, release, source), track.distances[distance]
    moved = individual_distances(made, kind).of_individuals[made.source]
    return warnings_about_secret(made, kind, moved)


@pytest.mark.full
@pytest.mark.parametrize(("name", "method", "parameters"), [*honest()])
def test_honest_work_is_never_warned_of_its_secret_and_nearly_every_wrong_one_is(
    name: str, method: str, parameters: Any
) -> None:
    rng = default_rng(9)
    for distance in contest(name)[0].distances:
        for seed in range(3):
            release, source = released(name, method, parameters, seed)
            assert warnings(name, distance, release, source) == []
            wrong = [other for _, other in mistakes(source, contest(name)[3].rows)]
            wrong += [rng.permutation(source)]  # of another release with the same individuals
            for other in wrong:
                (warning,) = warnings(name, distance, release, np.asarray(other))
                assert warning.code == CODE


def mistakes(source: IntArray, originals: int) -> Iterator[tuple[Any, IntArray]]:
    """Yield wrong secrets, each with what is said of it."""
    yield AS_BY_CHANCE, np.sort(source)
    yield SHIFTED, np.roll(source, 1)
    yield SHIFTED, np.roll(source, -1)
    if len(source) == originals:
        yield EXCHANGED, np.argsort(source)
        yield SHIFTED, (source + 1) % originals
        yield SHIFTED, (source - 1) % originals


def test_a_warning_names_the_mistake_that_was_made() -> None:
    release, source = released("microdata", "add_noise", {"strength": 0.1}, 1)
    for said, wrong in mistakes(source, contest("microdata")[3].rows):
        (warning,) = warnings("microdata", "gower", release, wrong)
        assert warning == AS_BY_CHANCE if said is AS_BY_CHANCE else warning.message.values == {"other": said}
    track, rules, tables, _ = contest("microdata")
    in_order, _ = track.anonymize(
        track.methods["add_noise"], tables, rules, default_rng(1), {"strength": 0.1}
    )
    (warning,) = warnings("microdata", "gower", in_order, source)
    assert warning.message.values == {"other": IN_ORDER}


def without_rows(table: Any) -> Any:
    """Return a release that tells nothing: every row is the first one."""
    return table.iloc[[0] * len(table)].reset_index(drop=True)


def with_outlier(table: Any) -> Any:
    changed = table.copy()
    changed.iloc[3, -1] = 1e300
    return changed


@pytest.mark.parametrize("change", [without_rows, with_outlier])
@pytest.mark.parametrize("distance", ["gower", "euclidean"])
def test_neither_suppressed_rows_nor_an_outlier_raise_doubts(
    change: Callable[[Any], Any], distance: str
) -> None:
    release, source = released("microdata", "add_noise", {"strength": 0.1}, 1)
    assert warnings("microdata", distance, change(release), source) == []


def test_a_handful_of_rows_raises_no_doubts() -> None:
    track, rules, tables, _ = contest("microdata")
    few = tables.iloc[:10]
    prepared = track.prepare(few, rules)
    made = track.release_of(prepared, few, np.roll(np.arange(10), 1))
    kind = track.distances["gower"]
    assert warnings_about_secret(made, kind, kind.to_source(made)) == []


def test_the_verdict_has_the_warning_beside_the_rule() -> None:
    _, rules, _, prepared = contest("microdata")
    assert rules.excessive is not None
    rules = replace(rules, excessive=replace(rules.excessive, threshold=0.2))
    release, source = released("microdata", "add_noise", {"strength": 0.1}, 1)
    violations, _ = judge(rules, prepared, release, np.argsort(source))
    assert [each.code for each in violations] == ["excessive_anonymization"]
    (doubt,) = doubts_about_secret(rules, prepared, release, np.argsort(source))
    assert doubt.code == CODE
    assert judge(rules, prepared, release, source)[0] == ()
    assert doubts_about_secret(rules, prepared, release, source) == ()
