"""Who fell, and what they share: against sums by hand over every individual."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64, Generator

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import attacker_counts
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.reidentified import Fallen, Shared, fallen, individuals_of, shared, values_of
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.tracks.linkage.attack_rates import Answer, Candidates, Noted, OwnCluster, chances, rate_of
from tests.support.arena import competition_file

N = 12


def by_hand(answer: Answer, source: IntArray) -> list[Fraction]:
    """The chance of each row, one after the other."""
    found = []
    for row, owner in enumerate(source):
        if isinstance(answer, Candidates):
            group = answer.chosen[row]
            hit = group >= 0 and answer.group_of[owner] == group
            found.append(Fraction(1, int((answer.group_of == group).sum())) if hit else Fraction(0))
        elif isinstance(answer, OwnCluster):
            found.append(Fraction(1, int(answer.sizes[row])))
        else:
            guess = answer.guess if isinstance(answer, Noted) else answer
            found.append(Fraction(int(guess[row] == owner)))
    return found


def answers(rng: Generator, rows: int) -> list[Answer]:
    groups = rng.integers(0, 4, N)
    chosen = rng.choice([-1, *np.unique(groups)], rows)
    guess = rng.integers(-1, N, rows)
    drawn = Candidates(chosen, groups, np.bincount(groups, minlength=4))
    return [guess, Noted(guess, Message("n")), drawn, OwnCluster(rng.integers(1, 4, rows))]


def test_chances_are_those_of_each_row_and_add_up_to_what_the_rate_counts() -> None:
    rng = Generator(PCG64(0))
    for _ in range(200):
        rows = int(rng.integers(1, N + 1))
        source = rng.permutation(N)[:rows]
        for answer in answers(rng, rows):
            found = chances(answer, source)
            assert found.tolist() == [float(one) for one in by_hand(answer, source)]
            assert found.sum() == pytest.approx(rate_of(answer, source, rows=N).correct)


def people(rng: Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", ""], 40),
            "age": rng.integers(20, 60, 40),
            "income": rng.integers(0, 1000, 40),
            "rent": rng.integers(0, 100, 40),
        }
    )


def found_in(rng: Generator, table: pd.DataFrame) -> tuple[dict[str, Any], IntArray, Fallen]:
    """What attackers really say of a noisy release that lacks some, and who fell by it."""
    rules, track = parse_competition(competition_file()), TRACKS["microdata"]
    source = rng.permutation(len(table))[: int(rng.integers(25, 41))]
    released = table.iloc[source].reset_index(drop=True)
    released["income"] += rng.integers(-80, 81, len(released))
    said: dict[str, Any] = {}
    evaluate(rules, track.prepare(table, rules), released, source, heard=said.__setitem__)
    said = {name: said[name] for name in ("id_rand", "sort", "sa_rank", "own_row")}  # or nobody is safe
    return said, source, fallen(track, rules, said, source, len(table))


def test_who_fell_and_what_they_share_is_what_a_walk_over_everybody_counts() -> None:
    rng = Generator(PCG64(1))
    rules = parse_competition(competition_file())
    for _ in range(3):
        table = people(rng)
        said, source, found = found_in(rng, table)
        finders = {
            int(owner): {
                name
                for name, answer in said.items()
                if attacker_counts(rules, name) and by_hand(answer, source)[row] == 1
            }
            for row, owner in enumerate(source)
        }
        fell = {owner for owner, names in finders.items() if names}
        assert 0 < len(fell) < len(source)
        listed = individuals_of(found, table, ["sex", "age"])
        assert {
            row - 1: set(names.split())
            for row, names in zip(listed["original_row"], listed["attackers"], strict=True)
        } == {owner: finders[owner] for owner in fell}
        assert list(listed["found_by"]) == sorted((len(finders[owner]) for owner in fell), reverse=True)
        assert all(
            table["age"][row - 1] == age
            for row, age in zip(listed["original_row"], listed["age"], strict=True)
        )
        assert found.counts == {
            number: sum(len(names) == number for names in finders.values())
            for number in sorted({len(names) for names in finders.values()})
        }
        told = shared(found, table, ["sex", "age"])
        assert {(one.column, one.value): (one.there, one.fell, one.finds) for one in told} == walked(
            table, finders
        )
        assert [one.excess for one in told] == sorted((one.excess for one in told), reverse=True)
        finds = sum(map(len, finders.values()))
        assert {(one.finds_of, one.there_of) for one in told} == {(finds, len(source))}


def walked(
    table: pd.DataFrame, finders: dict[int, set[str]]
) -> dict[tuple[str | None, str], tuple[int, int, int]]:
    """Of every value whose people are found more often than all: how many they are, fell, and finds."""
    pairs = list(zip(table["sex"], table["age"], strict=True))
    alike = [pairs.count(pair) for pair in pairs]
    sizes = [
        "1" if n == 1 else "2" if n == 2 else "3–4" if n < 5 else "5–9" if n < 10 else "10+" for n in alike
    ]
    ages = sorted(table["age"])
    limits = sorted({ages[10], ages[20], ages[30]})
    band_of = [sum(age >= limit for limit in limits) for age in table["age"]]
    said = {
        band: (min(found), max(found))
        for band in band_of
        if (found := [age for age, other in zip(table["age"], band_of, strict=True) if other == band])
    }
    ends = [f"{low}" if low == high else f"{low}–{high}" for low, high in (said[band] for band in band_of)]
    columns: dict[str | None, list[str]] = {None: sizes, "sex": list(table["sex"]), "age": ends}
    told: dict[tuple[str | None, str], tuple[int, int, int]] = {}
    for name, values in columns.items():
        for value in set(values):
            numbers = [len(names) for owner, names in finders.items() if values[owner] == value]
            everybody = [len(names) for names in finders.values()]
            if numbers and Fraction(sum(numbers), len(numbers)) > Fraction(sum(everybody), len(everybody)):
                told[name, value] = (len(numbers), sum(number > 0 for number in numbers), sum(numbers))
    return told


def test_few_numbers_and_all_texts_are_told_as_they_are() -> None:
    assert list(values_of(pd.Series([3, 1, 3]))) == ["3", "1", "3"]
    assert list(values_of(pd.Series(list("abcdefghij")))) == list("abcdefghij")
    tied = values_of(pd.Series([0] * 20 + list(range(1, 10))))
    assert list(tied) == ["0–1"] * 21 + ["2–9"] * 8


def test_lift_and_excess_are_of_shares() -> None:
    one = Shared("sex", "f", there=10, there_of=40, fell=6, finds=12, finds_of=16)
    assert (one.excess, one.lift) == (Fraction(8), 3.0)


def test_a_contest_that_asks_something_else_has_nobody_who_falls() -> None:
    for name in ("membership", "2017"):
        rules = parse_competition(template(name))
        with pytest.raises(TypeError):
            fallen(TRACKS[rules.track], rules, {}, np.arange(3), 3)
