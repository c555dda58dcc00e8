"""Re-identified individuals and their shared traits, against plain loops over every individual."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64, Generator

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.reidentified import (
    ReidentifiedIndividuals,
    SharedTrait,
    describe_values,
    find_reidentified,
    find_shared_traits,
    list_reidentified,
)
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.attack_rates import (
    AnnotatedGuess,
    GroupPrediction,
    KnownCluster,
    Prediction,
    compute_hit_probabilities,
    rate_prediction,
)
from tests.support.arena import build_competition_toml
from tests.support.originals import make_original

INDIVIDUALS = 12


def compute_hit_chances(answer: Prediction, source: IntArray) -> list[Fraction]:
    """Return the hit chance of each row, computed row by row."""
    hit_chances = []
    for row, owner in enumerate(source):
        if isinstance(answer, GroupPrediction):
            group = answer.guessed_group[row]
            is_hit = group >= 0 and answer.group_of[owner] == group
            hit_chances.append(Fraction(1, int((answer.group_of == group).sum())) if is_hit else Fraction(0))
        elif isinstance(answer, KnownCluster):
            hit_chances.append(Fraction(1, int(answer.cluster_sizes[row])))
        else:
            guess = answer.guess if isinstance(answer, AnnotatedGuess) else answer
            hit_chances.append(Fraction(int(guess[row] == owner)))
    return hit_chances


def generate_answers(rng: Generator, rows: int) -> list[Prediction]:
    groups = rng.integers(0, 4, INDIVIDUALS)
    chosen_groups = rng.choice([-1, *np.unique(groups)], rows)
    guess = rng.integers(-1, INDIVIDUALS, rows)
    candidates = GroupPrediction(chosen_groups, groups, np.bincount(groups, minlength=4))
    return [guess, AnnotatedGuess(guess, Message("n")), candidates, KnownCluster(rng.integers(1, 4, rows))]


def test_hit_chances_equal_row_by_row_computation() -> None:
    rng = Generator(PCG64(0))
    for _ in range(200):
        rows = int(rng.integers(1, INDIVIDUALS + 1))
        source = rng.permutation(INDIVIDUALS)[:rows]
        for answer in generate_answers(rng, rows):
            hit_chances = compute_hit_probabilities(answer, source)
            assert hit_chances.tolist() == [float(chance) for chance in compute_hit_chances(answer, source)]
            assert hit_chances.sum() == pytest.approx(
                rate_prediction(answer, source, rows=INDIVIDUALS).correct
            )


def generate_people(rng: Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", ""], 40),
            "age": rng.integers(20, 60, 40),
            "income": rng.integers(0, 1000, 40),
            "rent": rng.integers(0, 100, 40),
        }
    )


def attack_noisy_release(
    rng: Generator, table: pd.DataFrame
) -> tuple[dict[str, Any], IntArray, ReidentifiedIndividuals]:
    """Return the answers of attackers to a noisy release with deletions, its source and the result."""
    rules, track = parse_competition(build_competition_toml()), TRACKS["microdata"]
    source = rng.permutation(len(table))[: int(rng.integers(25, 41))]
    released = table.iloc[source].reset_index(drop=True)
    released["income"] += rng.integers(-80, 81, len(released))
    answers: dict[str, Any] = {}
    evaluate(rules, make_original(table, rules), released, source, on_answer=answers.__setitem__)
    # All attackers together would re-identify everyone.
    answers = {name: answers[name] for name in ("id_rand", "sort", "sa_rank", "own_row")}
    return answers, source, find_reidentified(track, rules, answers, source, len(table))


def test_reidentified_rows_and_shared_traits_equal_plain_counts() -> None:
    rng = Generator(PCG64(1))
    rules = parse_competition(build_competition_toml())
    for _ in range(3):
        table = generate_people(rng)
        answers, source, reidentified = attack_noisy_release(rng, table)
        finders = {
            int(owner): {
                name
                for name, answer in answers.items()
                if counts_towards_security(rules, name) and compute_hit_chances(answer, source)[row] == 1
            }
            for row, owner in enumerate(source)
        }
        reidentified_rows = {owner for owner, names in finders.items() if names}
        assert 0 < len(reidentified_rows) < len(source)
        rows = list_reidentified(reidentified, table, ["sex", "age"])
        assert {
            row - 1: set(names.split())
            for row, names in zip(rows["original_row"], rows["attackers"], strict=True)
        } == {owner: finders[owner] for owner in reidentified_rows}
        assert list(rows["found_by"]) == sorted(
            (len(finders[owner]) for owner in reidentified_rows), reverse=True
        )
        assert all(
            table["age"][row - 1] == age for row, age in zip(rows["original_row"], rows["age"], strict=True)
        )
        assert reidentified.individuals_by_hits == {
            number: sum(len(names) == number for names in finders.values())
            for number in sorted({len(names) for names in finders.values()})
        }
        traits = find_shared_traits(reidentified, table, ["sex", "age"])
        assert {
            (trait.column, trait.value): (trait.present, trait.reidentified, trait.hits) for trait in traits
        } == count_shared_values(table, finders)
        assert [trait.excess for trait in traits] == sorted((trait.excess for trait in traits), reverse=True)
        hit_count = sum(map(len, finders.values()))
        assert {(trait.hits_total, trait.present_total) for trait in traits} == {(hit_count, len(source))}


def count_shared_values(
    table: pd.DataFrame, finders: dict[int, set[str]]
) -> dict[tuple[str | None, str], tuple[int, int, int]]:
    """Count individuals, re-identified ones and hits of each value found more often than the average."""
    pairs = list(zip(table["sex"], table["age"], strict=True))
    class_sizes = [pairs.count(pair) for pair in pairs]
    size_bands = [
        "1"
        if class_size == 1
        else "2"
        if class_size == 2
        else "3–4"
        if class_size < 5
        else "5–9"
        if class_size < 10
        else "10+"
        for class_size in class_sizes
    ]
    ages = sorted(table["age"])
    limits = sorted({ages[10], ages[20], ages[30]})
    band_of = [sum(age >= limit for limit in limits) for age in table["age"]]
    band_ranges = {
        band: (min(band_ages), max(band_ages))
        for band in band_of
        if (
            band_ages := [
                age for age, other_band in zip(table["age"], band_of, strict=True) if other_band == band
            ]
        )
    }
    band_texts = [
        f"{low}" if low == high else f"{low}–{high}" for low, high in (band_ranges[band] for band in band_of)
    ]
    columns: dict[str | None, list[str]] = {None: size_bands, "sex": list(table["sex"]), "age": band_texts}
    expected: dict[tuple[str | None, str], tuple[int, int, int]] = {}
    for name, values in columns.items():
        for value in set(values):
            numbers = [len(names) for owner, names in finders.items() if values[owner] == value]
            all_numbers = [len(names) for names in finders.values()]
            if numbers and Fraction(sum(numbers), len(numbers)) > Fraction(
                sum(all_numbers), len(all_numbers)
            ):
                expected[name, value] = (len(numbers), sum(number > 0 for number in numbers), sum(numbers))
    return expected


def test_only_columns_with_many_numbers_are_banded() -> None:
    assert list(describe_values(pd.Series([3, 1, 3]))) == ["3", "1", "3"]
    assert list(describe_values(pd.Series(list("abcdefghij")))) == list("abcdefghij")
    banded_values = describe_values(pd.Series([0] * 20 + list(range(1, 10))))
    assert list(banded_values) == ["0–1"] * 21 + ["2–9"] * 8


def test_json_has_the_counts_of_each_trait() -> None:
    is_hit = np.array([[True, True, False], [True, False, False]])
    reidentified = ReidentifiedIndividuals(("a", "b"), is_hit, np.array([True, True, True]))
    trait = SharedTrait("age", "1", present=2, present_total=3, reidentified=2, hits=3, hits_total=3)
    assert reidentified.to_json([trait])["shared"] == [
        {"column": "age", "value": "1", "present": 2, "reidentified": 2, "hits": 3, "lift": 1.5}
    ]


def test_lift_and_excess_are_computed_from_shares() -> None:
    trait = SharedTrait("sex", "f", present=10, present_total=40, reidentified=6, hits=12, hits_total=16)
    assert (trait.excess, trait.lift) == (Fraction(8), 3.0)


def test_tracks_without_linkage_are_refused() -> None:
    for name in ("membership", "2017"):
        rules = parse_competition(template(name))
        with pytest.raises(TypeError):
            find_reidentified(TRACKS[rules.track], rules, {}, np.arange(3), 3)
