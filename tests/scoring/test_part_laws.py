"""The laws of parts: the project's own keep them, and whoever breaks one is told which."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import BrokenLaw, Case, check_attacker, check_measure, check_method, methods_tried
from anoncup.testing.tracks import check_track
from anoncup.tracks.linkage.attack_rates import OwnCluster
from anoncup.tracks.model import Track
from anoncup.tracks.monthly.example import example_data
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.transactions.example import tc400
from tests.scoring.membership_cases import survey as membership_survey
from tests.support.arena import competition_file, original_table

MICRODATA = TRACKS["microdata"]


def cases_of(name: str) -> list[Case]:
    track = TRACKS[name]
    original: Any
    if name == "microdata":
        rules, original = parse_competition(competition_file()), original_table(60)
    elif name == "membership":
        rules, original = parse_competition(template(name)), membership_survey(60)
    elif name == "monthly":
        rules = parse_competition(template(2017))
        original, _ = track.parse_original(example_data(30), rules)
    else:
        rules = parse_competition(template(2016))
        original = track.part(track.prepare(tc400(), rules), np.arange(60))
    return list(methods_tried(track, rules, original))


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return cases_of("microdata")[:3]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.full] * (name == "transactions"))  # three times all others
        for name in TRACKS
    ],
)
def test_every_track_keeps_all_laws(name: str) -> None:
    check_track(TRACKS[name], cases_of(name)[::3])


def rows_apart(release: Any) -> float:
    return float(release.original.rows - release.target.rows)


def first_cell(release: Any) -> float:
    return float(release.target.values[0, 0])


def moved(release: Any) -> float:
    return float(np.abs(release.aligned - release.target.values).sum())


def spoils(release: Any) -> float:
    release.target.anonymized.iloc[0, 0] = "spoilt"
    return 0.0


BROKEN_MEASURES: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "an integer": (lambda release: release.target.rows, {}, "a float, not int"),
    "negative": (lambda _: -1.0, {}, "not below 0"),
    "not a number": (lambda _: float("nan"), {}, "finite"),
    "of the order": (first_cell, {}, "the order of the rows"),
    "spoils what it is given": (spoils, {}, "stays as it is"),
    "the original is a loss": (lambda _: 1.0, {"weighs": True}, "lost nothing"),
    "nothing moves it": (rows_apart, {"weighs": True}, "a scale above 0"),
    "reads the answer": (moved, {"reads_secret": False}, "does not read the answer"),
    "unknown parameter": (lambda _: 0.0, {"parameters": (Parameter("k", "whole"),)}, "takes no k"),
}


@pytest.mark.parametrize(("compute", "more", "said"), BROKEN_MEASURES.values(), ids=BROKEN_MEASURES)
def test_a_measure_that_breaks_a_law_is_told_which(
    cases: list[Case], compute: Callable[[Any], Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(BrokenLaw, match=said) as broken:
        check_measure(Measure("mine", 1, compute, **more), MICRODATA, cases)
    assert str(broken.value).startswith("mine: ")


def lots(target: Any) -> OwnCluster:
    return OwnCluster(np.full(target.rows, 2))


def drawn(target: Any) -> Any:
    return np.random.default_rng().integers(0, target.original.rows, target.rows)


BROKEN_ATTACKERS: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "other answers each time": (drawn, {}, "the same answer"),
    "a row that there is not": (lambda target: np.full(target.rows, target.original.rows), {}, "could send"),
    "unknown question": (lots, {"question": "membership"}, "no question membership"),
    "depends on the answer": (
        lambda target: np.arange(target.rows),
        {"reads_secret": False},
        "does not depend",
    ),
}


@pytest.mark.parametrize(("attack", "more", "said"), BROKEN_ATTACKERS.values(), ids=BROKEN_ATTACKERS)
def test_an_attacker_that_breaks_a_law_is_told_which(
    cases: list[Case], attack: Callable[[Any], Any], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(BrokenLaw, match=said):
        check_attacker(Attacker("mine", 1, attack, **more), MICRODATA, cases)


def test_lots_that_nobody_could_draw_are_an_attack_without_a_guess(cases: list[Case]) -> None:
    check_attacker(Attacker("mine", 1, lots, reads_secret=False), MICRODATA, cases)


def invented(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    return table.assign(**{columns.sensitive[0]: "none"}), np.arange(len(table))


def twice(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    return table, np.zeros(len(table), dtype=np.int64)


def by_chance(table: Any, columns: Any, *, rng: np.random.Generator) -> Any:
    order = np.random.default_rng().permutation(len(table))
    return table.iloc[order].reset_index(drop=True), order


BROKEN_METHODS = {
    "cells that are none": (invented, "release would be refused"),
    "an answer that is none": (twice, "answer would be refused"),
    "draws by itself": (by_chance, "the same numbers draw the same release"),
}


@pytest.mark.parametrize(("apply", "said"), BROKEN_METHODS.values(), ids=BROKEN_METHODS)
def test_a_method_that_breaks_a_law_is_told_which(
    cases: list[Case], apply: Callable[..., Any], said: str
) -> None:
    with pytest.raises(BrokenLaw, match=said):
        check_method(Method("mine", apply), MICRODATA, cases)


def test_a_track_whose_parts_stand_under_other_names_is_told(cases: list[Case]) -> None:
    track: Track = replace(MICRODATA, measures={"other": MICRODATA.measures["mean_mae"]})
    with pytest.raises(BrokenLaw, match="under their names"):
        check_track(track, cases)


def test_a_law_without_a_case_proves_nothing() -> None:
    with pytest.raises(ValueError, match="one case at least"):
        check_measure(MICRODATA.measures["mean_mae"], MICRODATA, [])
