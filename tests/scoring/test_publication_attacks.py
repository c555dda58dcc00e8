"""Two attacks on what is published, by who has the targets and the board: they do no better than is stated.

docs/publication.md tells their figures; they are computed here.
"""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app import wire
from app.scoring.competition_file import parse_competition
from app.scoring.evaluate import evaluate
from app.scoring.publication import Scores, computed, fits, possible_owners
from app.scoring.scales import scales
from app.scoring.templates import template
from app.scoring.tracks import TRACKS
from app.services.boards.verdicts import numbers
from tests.scoring import publication_attacks as linking
from tests.scoring import subset_sums, tables_to_break, transactions_to_break
from tests.scoring.test_evaluate import COMPETITION
from tests.trying import LEFT_OUT, tries

TEAMS = 12
ADVISED = 0.03
"""By ``anoncup threshold`` on the rows of these contests."""
DOCS = Path("docs/publication.md").read_text(encoding="utf-8")
hostile = tries(15)
LONG_ZERO, LONG_ONE, LONG_TWO, LONG_FOUR = (pytest.param(digits, marks=LEFT_OUT) for digits in (0, 1, 2, 4))
"""Fewer digits: more rows fit a target, and more is to be tried."""


def stated(found: linking.Contest, digits: int) -> list[set[int]]:
    limits = dict.fromkeys(range(len(found.finals)), 1)
    return [set(each) for each in possible_owners(found.finals, limits, digits)]


@lru_cache(maxsize=16)
def attacked(digits: int, *, secret_free: bool) -> list[set[int]]:
    pairs = linking.in_some_matching(linking.fitting(linking.contest(TEAMS, secret_free=secret_free), digits))
    return [set(np.flatnonzero(row).tolist()) for row in pairs]


@pytest.mark.parametrize("secret_free", [False, pytest.param(True, marks=LEFT_OUT)])
@pytest.mark.parametrize("digits", [LONG_ZERO, 2, LONG_FOUR])
def test_recomputing_all_that_reads_no_secret_leaves_the_owners_that_are_stated(
    digits: int, secret_free: bool
) -> None:
    found = attacked(digits, secret_free=secret_free)
    assert found == stated(linking.contest(TEAMS, secret_free=secret_free), digits)
    assert all(team in owners for team, owners in enumerate(found))


@pytest.mark.parametrize("digits", [2, 4])
def test_scoring_with_an_attackers_answer_as_the_secret_names_no_more_than_is_stated(digits: int) -> None:
    """Where every row shows E = 1.00 of a few rows, one of the answers is the secret."""
    found = linking.contest(6, rows=60, method=linking.noise_of)
    assert {each.rounded(2).security for each in found.scores} == {1.0}
    left = linking.in_some_matching(linking.scored_with_answers(found, digits))
    assert left.diagonal().all()
    named, told = [int(each.sum()) for each in left], [len(each) for each in stated(found, digits)]
    assert all(few <= many for few, many in zip(told, named, strict=True))
    assert sum(untold(found, digits)) > sum(named)  # so much too many, if nothing is told of U by E


@pytest.mark.parametrize("digits", [LONG_ZERO, LONG_ONE, LONG_TWO])
def test_that_targets_were_accepted_leaves_the_owners_that_are_stated(digits: int) -> None:
    found = linking.contest(TEAMS, method=linking.near_of, limit=ADVISED)
    left = linking.in_some_matching(linking.fitting(found, digits))
    told = stated(found, digits)
    assert [set(np.flatnonzero(row).tolist()) for row in left] == told
    assert left.diagonal().all()
    before = stated(linking.contest(TEAMS, method=linking.near_of), digits)
    assert all(now <= one for now, one in zip(told, before, strict=True))
    assert (told != before) is (digits == 0)


def untold(found: linking.Contest, digits: int) -> list[int]:
    """The numbers by verdicts of an older version."""
    known = [each.computed for each in found.finals]
    whole = [(replace(one.spans[0], high=1.0),) for one in known]
    spans = [replace(one, spans=span) for one, span in zip(known, whole, strict=True)]
    finals = [replace(each, computed=one) for each, one in zip(found.finals, spans, strict=True)]
    return [len(each) for each in possible_owners(finals, dict.fromkeys(range(len(finals)), 1), digits)]


def test_an_exact_board_named_every_owner_whose_release_is_not_anothers() -> None:
    found = linking.contest(TEAMS)
    tables = [linking.secret_free_values(found, table) for table in found.targets]
    named = Counter(tuple(round(value, 9) for value in values) for values in tables)
    assert sorted(named.values()) == [1] * 10 + [2]  # two teams have sent the same table


@pytest.mark.parametrize("track", TRACKS)
def test_every_release_fits_its_own_row_however_hostile(track: str) -> None:
    rules = parse_competition(template(2016)) if track == "transactions" else COMPETITION
    releases: Any = (transactions_to_break if track == "transactions" else tables_to_break).cases()

    @hostile
    @given(case=releases)
    def law(case: Any) -> None:
        original, target = case.release.original, case.release.target
        asked = rules if track == "transactions" else replace(rules, columns=original.columns)
        table = target.tables if track == "transactions" else target.anonymized
        verdict = evaluate(asked, original, table, case.release.source)
        asked = replace(asked, scales=scales(TRACKS[track], original, asked.measures))
        known = numbers(wire.read(verdict.to_json() | {"reach": verdict.reach}))
        told = computed(
            asked,
            TRACKS[track],
            values=known.measures,
            rounding=known.rounding,
            bounds=known.bounds,
            utility=known.utility,
            reach=known.reach,
        )
        scores = Scores(known.overall, known.utility, known.security)
        assert all(fits(told, scores.rounded(digits), digits) for digits in range(5))

    law()


def test_exact_scores_tell_a_secret_and_what_is_published_leaves_thousands() -> None:
    for seed in range(3):
        one = subset_sums.puzzle(30, seed)
        assert subset_sums.solved(one, None) == (1, 1.0)
        left, right = subset_sums.solved(one, 2)
        assert left > 1000
        assert right < 0.75


def test_all_ways_of_a_small_secret_are_counted() -> None:
    """The same by trying all of them."""
    for seed in range(5):
        one = subset_sums.puzzle(8, seed)
        for digits in (0, 2, 4):
            ways, u, hits = subset_sums.half(one, slice(None))
            row = Scores(one.overall, one.utility, one.correct / one.rows).rounded(digits)
            tried = [
                Scores((loss + correct / one.rows) / 2, loss, correct / one.rows).rounded(digits) == row
                for loss, correct in zip((u + subset_sums.KNOWN).tolist(), hits.tolist(), strict=True)
            ]
            assert subset_sums.solved(one, digits)[0] == sum(tried)
            assert len(ways) == len(tried)


def listed(owners: list[set[int]]) -> str:
    """Numbers of possible owners, fewest first: ``4 × 1, 2 × 7``."""
    counts = Counter(len(each) for each in owners)
    return ", ".join(f"{counts[number]} × {number}" for number in sorted(counts))


def linked_lines() -> list[str]:
    lines = []
    for digits in (4, 2, 1, 0):
        usual, free = (listed(attacked(digits, secret_free=one)) for one in (False, True))
        named = linking.likeliest(linking.contest(TEAMS), digits)
        lines.append(f"| {digits} | {usual} | {named:.1f} | {free} |")
    return lines


def accepted_lines() -> list[str]:
    """Before and after it is used that a threshold has accepted them; which is the one advised."""
    contests = [linking.contest(TEAMS, method=linking.near_of, limit=limit) for limit in (None, ADVISED)]
    lines = [
        f"| {digits} | {' | '.join(listed(stated(found, digits)) for found in contests)} |"
        for digits in (2, 1, 0)
    ]
    return [*lines, f"advises, {linking.threshold()}, and"]


def solved_lines() -> list[str]:
    lines = []
    for pairs in (20, 30):
        for digits in (None, 4, 2, 0):
            found = [subset_sums.solved(subset_sums.puzzle(pairs, seed), digits) for seed in range(10)]
            left = float(np.mean([np.log2(count) for count, _ in found]))
            right = float(np.mean([share for _, share in found]))
            shown = "exact" if digits is None else str(digits)
            lines.append(f"| {pairs} | {shown} | {pairs - left:.1f} | {left:.1f} | {right:.0%} |")
    return lines


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(linked_lines, marks=LEFT_OUT),
        accepted_lines,
        pytest.param(solved_lines, marks=LEFT_OUT),
    ],
)
def test_the_document_tells_the_figures_that_are_computed(lines: Any) -> None:
    for line in lines():
        assert line in DOCS, line
