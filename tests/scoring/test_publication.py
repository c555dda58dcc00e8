"""Whose a target could be: the rule beside one that tries every assignment, in exact fractions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scoring.publication import (
    Bound,
    Computed,
    Final,
    Scores,
    Span,
    computed,
    fits,
    largest_rate,
    may_be_behind,
    possible_owners,
)
from app.scoring.rules import Rules
from app.scoring.settings import AttackerSettings, MeasureSettings
from app.scoring.tracks.microdata import MICRODATA
from tests.trying import tries

hostile = tries(300)


def exact(number: float) -> Fraction:
    return Fraction(repr(number))


def rates(target: Computed) -> Iterator[tuple[Fraction, Fraction]]:
    """Every stretch of values that E may have."""
    yield Fraction(0), exact(target.drawn)
    for hits in range(target.hits + 1):
        yield Fraction(hits, target.rows), Fraction(hits, target.rows)


def fits_by_trying(target: Computed, shown: Scores, digits: int) -> bool:
    """Whether a U and an E within the limits are rounded to the row, of every possible E."""
    half, unit = Fraction(1, 2 * 10**digits), Fraction(1, 20_000)
    u, e, both = exact(shown.utility), exact(shown.security), exact(shown.overall)
    for (low_e, high_e), span in product(rates(target), target.spans):
        e_from, e_to = max(low_e, exact(span.low), e - half), min(high_e, exact(span.high), e + half)
        u_from, u_to = max(exact(span.least), u - half), min(exact(span.most), u + half)
        if e_from > e_to or u_from > u_to:
            continue
        if (u_from + e_from) / 2 <= both + unit and (u_to + e_to) / 2 >= both - unit:
            return True
    return False


def behind_by_trying(target: Computed, shown: Scores) -> bool:
    largest = [
        exact(span.most) + min(exact(span.high), high)
        for (low, high), span in product(rates(target), target.spans)
        if low <= exact(span.high) and high >= exact(span.low)
    ]
    return max(largest) / 2 >= exact(shown.overall) - Fraction(1, 20_000)


def owners_by_trying(finals: Sequence[Final], limits: Mapping[int, int], digits: int) -> list[set[int]]:
    """Of every way to give each target a seen row, or a team's further place, those in which all fits."""
    seen = [each for each in finals if each.seen]
    best = {team: min((s.scores for s in seen if s.team == team), key=lambda s: s.overall) for team in limits}
    known = {team: sum(each.team == team for each in seen) for team in limits}
    hidden = {team: sum(not f.seen and f.team == team for f in finals) for team in limits}
    places: list[Final | int] = [*seen, *limits]
    found: list[set[int]] = [{each.team} for each in finals]
    for choice in product(places, repeat=len(finals)):
        rows = [one for one in choice if isinstance(one, Final)]
        further = {team: sum(one == team for one in choice) for team in limits}
        if sorted(map(id, rows)) != sorted(map(id, seen)):
            continue
        if any(n > max(limits[team] - known[team], hidden[team]) for team, n in further.items()):
            continue
        if all(is_possible(one, place, best, digits) for one, place in zip(finals, choice, strict=True)):
            for owners, place in zip(found, choice, strict=True):
                owners.add(place.team if isinstance(place, Final) else place)
    return found


def is_possible(one: Final, place: Final | int, best: Mapping[int, Scores], digits: int) -> bool:
    if isinstance(place, int):
        own = one.team == place and not one.seen
        return own or behind_by_trying(one.computed, best[place].rounded(digits))
    return one is place or fits_by_trying(one.computed, place.scores.rounded(digits), digits)


@st.composite
def releases(draw: st.DrawFn, *, rows: int) -> tuple[Computed, Scores]:
    """What is known of one, and its scores, which lie within that."""
    thousandths = draw(st.lists(st.integers(0, 1000), min_size=3, max_size=3).map(sorted))
    least, utility, most = (number / 1000 for number in thousandths)
    if draw(st.booleans()):
        least = most = utility
    hits = draw(st.integers(0, rows))
    drawn = draw(st.sampled_from([0.0, 0.0, 0.25, 1.0]))
    security = draw(st.integers(0, hits)) / rows if not drawn or draw(st.booleans()) else drawn / 2
    spans = [Span(0.0, 1.0, least, most)]
    if draw(st.booleans()):
        levels = sorted({0, *draw(st.lists(st.integers(1, 100), max_size=3)), 100})
        pairs = st.lists(st.integers(0, 1000), min_size=2, max_size=2).map(sorted)
        spans = [
            Span(low / 100, high / 100, pair[0] / 1000, pair[1] / 1000)
            for low, high in pairwise(levels)
            for pair in draw(st.lists(pairs, min_size=1, max_size=2))
        ]
        spans += [Span(one.low, one.high, least, most) for one in spans if one.low <= security <= one.high]
    known = Computed(tuple(spans), rows, hits, drawn)
    return known, Scores((utility + security) / 2, utility, security)


def whole(least: float, most: float, rows: int, hits: int, drawn: float = 0.0) -> Computed:
    """Where nothing is told of U by E."""
    return Computed((Span(0.0, 1.0, least, most),), rows, hits, drawn)


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[Final], dict[int, int]]:
    """A few teams with a few targets, many of them with equal scores."""
    rows = draw(st.sampled_from([1, 3, 7, 40]))
    pool = draw(st.lists(releases(rows=rows), min_size=1, max_size=3))
    finals: list[Final] = []
    limits = {}
    for team in range(draw(st.integers(1, 3))):
        own = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=1 if team else 2))
        own.sort(key=lambda one: one[1].overall)
        finals += [
            Final(team, known, scores, seen=place == 0 or draw(st.booleans()))
            for place, (known, scores) in enumerate(own)
        ]
        limits[team] = draw(st.integers(len(own), 3))
    return finals, limits


@hostile
@given(one=releases(rows=40), other=releases(rows=7), digits=st.integers(0, 4))
def test_a_row_fits_exactly_if_some_values_within_the_limits_are_rounded_to_it(
    one: tuple[Computed, Scores], other: tuple[Computed, Scores], digits: int
) -> None:
    for target, _ in (one, other):
        for _, scores in (one, other):
            shown = scores.rounded(digits)
            assert fits(target, shown, digits) is fits_by_trying(target, shown, digits)
            assert may_be_behind(target, shown) is behind_by_trying(target, shown)


@hostile
@given(one=releases(rows=40), digits=st.integers(0, 4))
def test_a_release_fits_its_own_row(one: tuple[Computed, Scores], digits: int) -> None:
    target, scores = one
    assert fits(target, scores.rounded(digits), digits)
    assert may_be_behind(target, scores.rounded(digits))


@hostile
@given(contest=contests(), digits=st.integers(0, 4))
def test_the_possible_owners_are_those_of_some_assignment_of_all_targets(
    contest: tuple[list[Final], dict[int, int]], digits: int
) -> None:
    finals, limits = contest
    found = possible_owners(finals, limits, digits)
    assert [set(each) for each in found] == owners_by_trying(finals, limits, digits)


@hostile
@given(contest=contests())
def test_fewer_digits_never_take_an_owner_away_and_the_true_one_is_always_among_them(
    contest: tuple[list[Final], dict[int, int]],
) -> None:
    finals, limits = contest
    for one in finals:
        assert one.team in possible_owners(finals, limits, 4)[finals.index(one)]
    # All scores have three digits, so that nothing is rounded twice.
    coarse, fine = possible_owners(finals, limits, 0), possible_owners(finals, limits, 4)
    assert all(few <= many for few, many in zip(fine, coarse, strict=True))


def certain(team: int, utility: float, *, hits: int = 20, security: float = 0.25) -> Final:
    """A release whose U anybody computes, of 40 rows."""
    scores = Scores((utility + security) / 2, utility, security)
    return Final(team, whole(utility, utility, 40, hits), scores)


def numbers(finals: Sequence[Final], *, most: int = 1, digits: int = 2) -> list[int]:
    limits = dict.fromkeys({each.team for each in finals}, most)
    return [len(each) for each in possible_owners(finals, limits, digits)]


def test_one_team_is_its_targets_only_owner() -> None:
    assert numbers([certain(0, 0.1)]) == [1]
    assert numbers([]) == []


def test_equal_releases_could_be_anybodys() -> None:
    assert numbers([certain(team, 0.1) for team in range(5)]) == [5] * 5


def test_weights_on_what_reads_no_secret_alone_name_every_owner() -> None:
    finals = [certain(team, 0.1 + team / 50) for team in range(5)]
    assert numbers(finals) == [1] * 5
    assert numbers(finals, digits=0) == [1] * 5  # overall tells E to two in ten thousand, which is one count


def test_weights_on_what_reads_the_secret_alone_name_nobody() -> None:
    finals = [certain(team, 0.1 + team / 50) for team in range(5)]
    open_to_all = [replace(each, computed=whole(0.0, 1.0, 40, 40)) for each in finals]
    assert numbers(open_to_all) == [5] * 5


def test_the_largest_rate_that_any_secret_gives_excludes_owners() -> None:
    finals = [certain(0, 0.1, hits=10), certain(1, 0.1, hits=9, security=0.2)]
    loose = [replace(each, computed=whole(0.0, 0.5, 40, each.computed.hits)) for each in finals]
    assert numbers(loose) == [1, 1]  # the second cannot have 0.25, so the first is not the second's row
    assert numbers([replace(each, computed=whole(0.0, 0.5, 40, 10)) for each in loose]) == [2, 2]


def test_a_target_that_fits_one_row_leaves_the_others_fewer() -> None:
    """Two fit each of two rows, and the third fits both: but two targets already fill them."""
    wide = whole(0.0, 1.0, 40, 40)
    finals = [
        certain(0, 0.1),
        certain(1, 0.1),
        Final(2, wide, certain(2, 0.7).scores),
    ]
    assert numbers(finals) == [2, 2, 1]


def test_a_team_may_have_more_targets_that_nobody_saw() -> None:
    finals = [certain(0, 0.1), certain(1, 0.3), replace(certain(1, 0.5), seen=False)]
    assert numbers(finals) == [1, 1, 1]  # one each, and the third is its owner's
    assert numbers(finals, most=2) == [1, 1, 2]
    assert numbers([replace(each, seen=True) for each in finals], most=2) == [1, 1, 1]


def test_what_is_better_than_a_teams_row_is_not_that_teams() -> None:
    finals = [certain(0, 0.6, security=0.9, hits=36), certain(1, 0.1), replace(certain(1, 0.2), seen=False)]
    assert numbers(finals, most=2) == [1, 1, 1]


MEASURES = {"cor_mae": MeasureSettings(1.0), "information_loss": MeasureSettings(3.0)}
RULES = Rules("cup", {}, "microdata", "UTC", measures=MEASURES, scales={"cor_mae": 0.5})
VALUES = {"cor_mae": 0.25, "information_loss": 0.1}
LOTS, GUESS = Bound(10.0, 40, lots=True), Bound(12, 40, lots=False)


def known(competition: Rules, bounds: Mapping[str, Bound] | None = None) -> Computed:
    given = {"id_rand": LOTS, "sort": GUESS} if bounds is None else bounds
    return computed(competition, MICRODATA, values=VALUES, rounding={}, bounds=given, utility=0.3)


def test_what_reads_no_secret_is_known_and_the_rest_lies_within_its_weight() -> None:
    rules = replace(RULES, scales={"cor_mae": 0.5, "information_loss": 0.2})
    assert known(rules) == whole(0.125, 0.875, rows=40, hits=12, drawn=0.25)


def test_a_file_without_scales_leaves_nothing_open() -> None:
    assert known(RULES).spans == (Span(0.0, 1.0, 0.3, 0.3),)


def test_nothing_weighs_and_nothing_counts() -> None:
    off = {name: AttackerSettings(counts=False) for name in MICRODATA.attackers}
    assert known(replace(RULES, measures={}, attackers=off)) == whole(0.0, 0.0, 1, 0)


def test_only_attackers_that_count_bound_the_rate() -> None:
    rules = replace(RULES, attackers={"id_rand": AttackerSettings(counts=False)})
    assert (known(rules).hits, known(rules).drawn) == (12, 0.0)
    assert known(rules, {"unknown": GUESS}).hits == 0
    fixed = replace(RULES, scored_by={"attackers.euc1": "1"})
    assert known(fixed, {"euc1": GUESS, "gower": GUESS}).hits == known(RULES, {"euc1": GUESS}).hits > 0
    assert known(fixed, {"gower": GUESS}).hits == 0


def test_rounding_of_a_value_is_heeded() -> None:
    rules = replace(RULES, measures={"cor_mae": MeasureSettings(1.0)})
    tiny = computed(rules, MICRODATA, values=VALUES, rounding={"cor_mae": 0.3}, bounds={}, utility=0.0)
    assert tiny.spans == (Span(0.0, 1.0, 0.0, 0.0),)
    assert math.isclose(known(rules).spans[0].least, 0.5)


def test_what_a_verdict_tells_of_u_holds_up_to_its_next_level() -> None:
    flat = [0, 0.1, 0.9, 20, 0.2, 0.3, 20, 0.5, 0.6, 40, 0.25, 0.25]
    bounds = {"sort": GUESS}
    told = computed(RULES, MICRODATA, values={}, rounding={}, bounds=bounds, utility=0.3, reach=flat)
    assert told.spans == (
        Span(0.0, math.nextafter(0.5, 0.0), 0.1, 0.9),
        Span(0.5, math.nextafter(1.0, 0.0), 0.2, 0.3),
        Span(0.5, math.nextafter(1.0, 0.0), 0.5, 0.6),
        Span(1.0, 1.0, 0.25, 0.25),
    )
    empty = {"sort": Bound(0, 0, lots=False)}
    told = computed(RULES, MICRODATA, values={}, rounding={}, bounds=empty, utility=0.3, reach=flat)
    assert (told.rows, len(told.spans)) == (1, 4)


def test_what_nearly_all_rows_tell_of_u_excludes_owners() -> None:
    """Whatever E is, U lies within half of everything; where all rows are right it is one of two numbers."""
    told = (Span(0.0, 1.0, 0.0, 0.5), Span(1.0, 1.0, 0.1, 0.1), Span(1.0, 1.0, 0.3, 0.3))
    rows = [Scores((1 + utility) / 2, utility, 1.0) for utility in (0.1, 0.2, 0.3)]
    loose, sharp = Computed(told[:1], 40, 40), Computed((replace(told[0], high=0.99), *told[1:]), 40, 40)
    assert [fits(loose, row, 2) for row in rows] == [True, True, True]
    assert [fits(sharp, row, 2) for row in rows] == [True, False, True]
    assert fits(sharp, Scores(0.5875, 0.2, 0.975), 2)
    assert not fits(replace(sharp, spans=sharp.spans[1:]), Scores(0.5375, 0.1, 1.0), 1)


def test_the_largest_rate_is_found_however_products_are_rounded() -> None:
    for rows in range(1, 40):
        rates = [hits / rows for hits in range(rows + 1)]
        for end in rates:
            for high in (math.nextafter(end, 0.0), end, math.nextafter(end, 2.0)):
                known = whole(0.0, 1.0, rows, rows)
                assert largest_rate(known, 0.0, high) == max(rate for rate in rates if rate <= high)
    assert largest_rate(whole(0.0, 1.0, 6, 3), 0.6, 0.9) is None


@pytest.mark.parametrize("digits", range(5))
def test_scores_are_rounded_as_the_boards_round_them(digits: int) -> None:
    scores = Scores(0.123456, 0.123456, 0.654321)
    shown = scores.rounded(digits)
    assert shown == Scores(0.1235, round(0.123456, digits), round(0.654321, digits))
