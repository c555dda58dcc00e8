"""All registered measures, attackers and methods keep the laws of parts, and broken ones are rejected."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import (
    BrokenLaw,
    TrackCase,
    check_attacker,
    check_measure,
    check_method,
    iter_method_cases,
)
from anoncup.testing.tracks import check_track
from anoncup.tracks.linkage.attack_rates import KnownCluster
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.monthly.example import make_example_data
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.release import TransactionOriginal
from tests.support.arena import build_competition_toml, build_original_table
from tests.support.membership_cases import build_survey as membership_survey
from tests.support.originals import make_original

MICRODATA = TRACKS["microdata"]


def build_cases(name: str) -> list[TrackCase]:
    track = TRACKS[name]
    original: Any
    if name == "microdata":
        rules = parse_competition(build_competition_toml())
        original = make_original(build_original_table(60), rules)
    elif name == "membership":
        rules, original = parse_competition(template(name)), membership_survey(60)
    elif name == "monthly":
        rules = parse_competition(template(2017))
        original, _ = track.parse_original(make_example_data(30), rules)
    else:
        rules = parse_competition(template(2016))
        original = track.distances.subset(TransactionOriginal(load_tc400()), np.arange(60))
    return list(iter_method_cases(track, rules, original))


@pytest.fixture(scope="module")
def cases() -> list[TrackCase]:
    return build_cases("microdata")[:3]


@pytest.mark.parametrize(
    "name",
    [
        # These two take longest.
        pytest.param(name, marks=[pytest.mark.full] * (name in ("monthly", "transactions")))
        for name in TRACKS
    ],
)
def test_every_track_keeps_the_laws(name: str) -> None:
    cases = build_cases(name)[::3]
    assert {case.other_answer is None for case in cases} == {name != "membership"}
    check_track(TRACKS[name], cases)


def compute_row_count_difference(release: Any) -> float:
    return float(release.original.rows - release.target.rows)


def get_first_cell(release: Any) -> float:
    return float(release.target.values[0, 0])


def compute_total_change(release: Any) -> float:
    return float(np.abs(release.original.values[release.answer] - release.target.values).sum())


def overwrite_cell(release: Any) -> float:
    release.target.anonymized.iloc[0, 0] = "spoilt"
    return 0.0


BROKEN_MEASURES: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "an integer": (lambda release: release.target.rows, {}, "a float, as float.* makes, not int"),
    "negative": (lambda _: -1.0, {}, "not below 0"),
    "not a number": (lambda _: float("nan"), {}, "finite"),
    "of the order": (get_first_cell, {}, "the order of the rows"),
    "spoils what it is given": (overwrite_cell, {}, "stays as it is"),
    "the original is a loss": (lambda _: 1.0, {"weighs": True}, "lost nothing"),
    "nothing moves it": (compute_row_count_difference, {"weighs": True}, "a scale above 1e-12"),
    "no detail": (lambda _: 0.0, {"details": lambda _: None}, "returned NoneType instead of numbers by name"),
    "a text as detail": (lambda _: 0.0, {"details": lambda _: {"sex": "f"}}, "returned str instead of"),
    "counts in a unit": (
        lambda _: 0.0,
        {"is_exact": True, "largest_cell": lambda _: 1.0},
        "it says that it is exact, and that it reads cells",
    ),
    "reads the answer": (compute_total_change, {"reads_secret": False}, "does not read the answer"),
    "unknown parameter": (lambda _: 0.0, {"parameters": (Parameter("k", "whole"),)}, "takes no k"),
}


@pytest.mark.parametrize(("compute", "options", "message"), BROKEN_MEASURES.values(), ids=BROKEN_MEASURES)
def test_broken_measures_are_rejected_with_their_name(
    cases: list[TrackCase], compute: Callable[[Any], Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BrokenLaw, match=message) as excinfo:
        check_measure(Measure("mine", 1, compute, **options), MICRODATA, cases)
    assert str(excinfo.value).startswith("mine: ")


def mark_first_code(scored: Any) -> float:
    """Change what is memoized of the original; its table stays as it is."""
    scored.original.codes[0, 0] = -1
    return 0.0


def mark_first_code_of_target(scored: Any) -> float:
    """Change what all parts are given of the release; its table stays as it is."""
    getattr(scored, "target", scored).codes[0, 0] = -1
    return 0.0


@pytest.mark.parametrize("mark", [mark_first_code, mark_first_code_of_target])
def test_parts_must_not_change_what_others_are_given(mark: Callable[[Any], float]) -> None:
    def attack(target: Any) -> KnownCluster:
        mark(target)
        return answer_cluster_of_two(target)

    with pytest.raises(BrokenLaw, match="mine: what it is given stays as it is"):
        check_measure(Measure("mine", 1, mark), MICRODATA, build_cases("microdata")[:1])
    with pytest.raises(BrokenLaw, match="mine: what it is given stays as it is"):
        check_attacker(Attacker("mine", 1, attack), MICRODATA, build_cases("microdata")[:1])


def answer_cluster_of_two(target: Any) -> KnownCluster:
    return KnownCluster(np.full(target.rows, 2))


def guess_at_random(target: Any) -> Any:
    return np.random.default_rng().integers(0, target.original.rows, target.rows)


BROKEN_ATTACKERS: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "other answers each time": (guess_at_random, {}, "the same answer"),
    "a row that there is not": (
        lambda target: np.full(target.rows, target.original.rows),
        {},
        "a row number from -1 to",
    ),
    "nothing": (
        lambda _: None,
        {},
        r"attackers\.mine returned NoneType instead of a guess for each .*: link",
    ),
    "a row too few": (
        lambda target: np.arange(target.rows - 1),
        {},
        r"attackers\.mine returned ndarray \(59,\) instead of an array of the shape \(60,\)",
    ),
    "a column": (
        lambda target: np.zeros((target.rows, 1), int),
        {},
        r"ndarray \(60, 1\) instead of an array",
    ),
    "a list": (
        lambda target: [0] * target.rows,
        {},
        r"returned list instead of an array of the shape \(60,\)",
    ),
    "unknown question": (answer_cluster_of_two, {"question": "membership"}, "no question membership"),
    "depends on the answer": (
        lambda target: np.arange(target.rows),
        {"reads_secret": False},
        "does not depend",
    ),
}


@pytest.mark.parametrize(("attack", "options", "message"), BROKEN_ATTACKERS.values(), ids=BROKEN_ATTACKERS)
def test_broken_attackers_are_rejected(
    cases: list[TrackCase], attack: Callable[[Any], Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BrokenLaw, match=message):
        check_attacker(Attacker("mine", 1, attack, **options), MICRODATA, cases)


def test_known_clusters_are_accepted_without_a_guess(cases: list[TrackCase]) -> None:
    check_attacker(Attacker("mine", 1, answer_cluster_of_two, reads_secret=False), MICRODATA, cases)


def write_unknown_cells(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    return table.assign(**{columns.sensitive[0]: "none"}), np.arange(len(table))


def repeat_first_source(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    return table, np.zeros(len(table), dtype=np.int64)


def shuffle_unseeded(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    order = np.random.default_rng().permutation(len(table))
    return table.iloc[order].reset_index(drop=True), order


BROKEN_METHODS = {
    "cells that are none": (write_unknown_cells, "release would be refused"),
    "an answer that is none": (repeat_first_source, "answer would be refused"),
    "draws by itself": (shuffle_unseeded, "the same numbers draw the same release"),
}


@pytest.mark.parametrize(("apply", "message"), BROKEN_METHODS.values(), ids=BROKEN_METHODS)
def test_broken_methods_are_rejected(cases: list[TrackCase], apply: Callable[..., Any], message: str) -> None:
    with pytest.raises(BrokenLaw, match=message):
        check_method(Method("mine", apply), MICRODATA, cases)


def test_parts_must_be_registered_under_their_names(cases: list[TrackCase]) -> None:
    track: AnyTrack = replace(MICRODATA, measures={"other": MICRODATA.measures["mean_mae"]})
    with pytest.raises(BrokenLaw, match="under their names"):
        check_track(track, cases)
