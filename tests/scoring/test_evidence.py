"""Both errors of a threshold: what sample methods cost on these data, and what simulated cheats cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.excessive import evidence, method_costs
from anoncup.excessive.advisor import Advice
from anoncup.excessive.evidence import Evidence, Guarantee, round_middle
from anoncup.excessive.method_costs import Honest, Mixture, Trials, some_shuffled, tried_out
from anoncup.excessive.question import Question, answer
from anoncup.excessive.simulation import exchanged_with_most_alike
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import ordered_within
from anoncup.tracks.microdata.example import household_table
from anoncup.tracks.transactions.example import tc400

MICRODATA, TRANSACTIONS = TRACKS["microdata"], TRACKS["transactions"]
GOWER = MICRODATA.distances["gower"]
RULES = parse_competition(template(2015))
SMALL = Columns(("q", "r"), ("s", "v"))
NOBODY = Guarantee(1.0, None)


def small_rules() -> Rules:
    return replace(RULES, columns=SMALL, measures={})


def small_table(rows: int, **columns: Sequence[object]) -> pd.DataFrame:
    usual = {"q": ["a"] * rows, "r": ["b"] * rows, "s": [1.0] * rows, "v": [2.0] * rows}
    return pd.DataFrame(usual | columns)


HOSTILE = {
    "one row": small_table(1),
    "two equal rows": small_table(2),
    "constant columns": small_table(7),
    "duplicates": small_table(6, q=list("aabbcc"), s=[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
    "all different": small_table(6, q=list("abcdef"), s=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "huge and tiny": small_table(5, s=[1e150, -1e150, 0.0, 1e-320, 5.0]),
}


def weighed(
    honest: Sequence[float], cheats: Mapping[str, Sequence[float]], guarantee: Guarantee = NOBODY
) -> Evidence:
    tried = tuple(Honest("add_noise", {"strength": mean}, mean) for mean in honest)
    simulated = {name: np.array(means) for name, means in cheats.items()}
    return evidence.evidence(Trials(9, tried, ()), simulated, guarantee)


def codes(found: Evidence) -> list[str]:
    return [one.code for one in found.reasons]


def test_a_guaranteed_threshold_that_accepts_all_honest_work_is_recommended() -> None:
    found = weighed([0.1, 0.2], {"group": [0.9, 0.8]}, Guarantee(0.65, 0.64))
    assert (found.threshold, found.separates, codes(found)) == (0.64, True, ["guaranteed"])


def test_a_threshold_between_honest_work_and_cheats_is_recommended_with_what_is_not_guaranteed() -> None:
    found = weighed([0.042, 0.135], {"group": [0.2265, 0.3], "random": [0.4]}, Guarantee(0.0412, 0.04))
    assert (found.threshold, found.separates) == (0.2, True)
    assert codes(found) == ["separates", "too_strict", "not_guaranteed"]
    strict = next(one for one in found.reasons if one.code == "too_strict")
    assert strict.message.plain() == {"sure": 0.04, "rejected": 2, "honest": 2}


@pytest.mark.parametrize(
    ("honest", "cheats"),
    [
        ([0.1, 0.2, 0.3, 0.6], {"group": [0.5, 0.7, 0.8, 0.9]}),
        ([0.5, 0.6], {"shift": [0.9], "group": [0.1, 0.2]}),
        ([0.5], {"shift": [0.5]}),
    ],
)
def test_where_no_threshold_separates_none_is_recommended(
    honest: list[float], cheats: dict[str, list[float]]
) -> None:
    found = weighed(honest, cheats, Guarantee(0.05, 0.04))
    assert (found.threshold, found.separates) == (None, False)
    assert codes(found) == ["inseparable", "too_strict"]


def test_without_simulations_or_sample_releases_only_the_guarantee_speaks() -> None:
    assert (weighed([0.1], {}, Guarantee(0.65, 0.64)).threshold, weighed([0.1], {}).threshold) == (0.64, None)
    strict = weighed([0.1], {}, Guarantee(0.05, 0.04))
    assert (strict.threshold, codes(strict)[:2]) == (0.04, ["too_strict", "not_simulated"])
    assert (weighed([], {"shift": [0.2]}).threshold, codes(weighed([], {}))) == (None, ["no_sample"])


def test_who_exchanges_the_most_alike_is_named_where_he_passes() -> None:
    tried = Trials(9, (Honest("add_noise", {}, 0.1),), (Mixture("add_noise", {}, "group", 0.5, 0.15),))
    for alike, passes in ((0.12, True), (0.25, False)):
        found = evidence.evidence(tried, {"group": np.array([0.3])}, Guarantee(0.05, 0.04), alike=alike)
        said = {one.code: str(one.message) for one in found.reasons}
        assert found.threshold == 0.2
        assert ("has distance 0.12 and could pass" in said["not_guaranteed"]) is passes
        assert said["mixtures"].startswith("1 of 1 sample releases in which some or all")


means = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.7]), min_size=1, max_size=6)


@given(means, means, means)
def test_a_recommended_threshold_makes_no_error_and_there_is_one_wherever_one_is_possible(
    honest: list[float], first: list[float], second: list[float]
) -> None:
    def errors(threshold: float) -> int:
        return sum(each > threshold for each in honest) + sum(each <= threshold for each in first + second)

    threshold = weighed(honest, {"shift": first, "group": second}).threshold
    assert (threshold is not None) is (min(map(errors, honest)) == 0)
    assert threshold is None or errors(threshold) == 0


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0.135, 0.2265, 0.2), (0.14016, 0.14993, 0.145), (0.0, 1.0, 0.5), (1234.0, 5678.0, 3000.0)],
)
def test_a_threshold_is_round_and_near_the_middle(low: float, high: float, found: float) -> None:
    assert round_middle(low, high) == found
    assert round_middle(1.7e308, 1.75e308) == pytest.approx(1.725e308)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("distance", ["gower", "euclidean"])
def test_hostile_tables_get_evidence_that_can_be_stored(name: str, distance: str) -> None:
    rules = small_rules()
    prepared = MICRODATA.prepare(HOSTILE[name], rules)
    found = answer(Question(("q",), distance, draws=5), rules, prepared)
    json.dumps(found.to_json(), allow_nan=False)
    assert found.evidence is not None
    refused = {one.method for one in found.evidence.honest if one.refused is not None}
    assert refused <= {"delete_rows"}
    assert all(one.mean is not None and one.mean >= 0 for one in found.evidence.honest if not one.refused)


@pytest.mark.parametrize("rows", [1, 6])
def test_permutations_that_can_move_nobody_are_no_cheats(rows: int) -> None:
    """Everybody alone in their group; and one individual alone."""
    prepared = MICRODATA.prepare(HOSTILE["all different"].head(rows), small_rules())
    advice = answer(Question(("q",), "gower", draws=50), small_rules(), prepared)
    found = advice.evidence
    assert found is not None
    able = {"shift", "random"} if rows > 1 else set()
    assert all(set(each.passing) == able for each in found.errors)
    assert {each.cheat for each in found.mixtures} == able - {"shift"}
    assert found.cheats_from == min((advice.histograms[name].least for name in able), default=None)


def test_deletion_is_refused_where_a_distance_has_no_bound() -> None:
    found = answered(60, Question(distance="euclidean", draws=3))
    assert found.evidence is not None
    deleting = [one for one in found.evidence.honest if one.method == "delete_rows"]
    assert [one.mean is None for one in deleting] == [True, True, True]
    assert "delete_rows" not in {one.method for one in found.evidence.mixtures}


def answered(rows: int, question: Question) -> Advice:
    return answer(question, RULES, MICRODATA.prepare(household_table(rows), RULES))


def test_every_method_that_does_not_cheat_is_tried_in_all_strengths_and_once_as_a_cover() -> None:
    for track, rules, tables in (
        (MICRODATA, RULES, household_table(60)),
        (TRANSACTIONS, parse_competition(template(2016)), tc400()),
    ):
        prepared = track.prepare(tables, rules)
        tried = tried_out(track, rules, prepared, next(iter(track.distances.values())), (), most=60)
        cheats = {"shift", "random_permutation", "group_permutation", "cheating_permutation"}
        assert {one.method for one in tried.honest} == set(track.methods) - cheats
        assert {one.method for one in tried.mixtures} == set(track.methods) - cheats
        assert len(tried.mixtures) == 6 * (len(track.methods) - len(cheats))


def test_the_same_data_give_the_same_trials_and_too_many_are_drawn_from() -> None:
    prepared = MICRODATA.prepare(household_table(120), RULES)

    def tried(most: int) -> Trials:
        return tried_out(MICRODATA, RULES, prepared, GOWER, ("S1_Sex",), most=most)

    assert tried(50) == tried(50)
    assert (tried(50).individuals, tried(120).individuals, method_costs.MOST) == (50, 120, 10_000)


def test_a_trial_costs_what_the_release_would() -> None:
    """By plain loops over the cells."""
    rules, table = small_rules(), HOSTILE["duplicates"]
    prepared = MICRODATA.prepare(table, rules)
    found = tried_out(MICRODATA, rules, prepared, GOWER, ("q",))
    unified = next(one for one in found.honest if one.parameters == {"columns": ["q", "r"]})
    assert unified.mean == pytest.approx(4 / 6 / 4)
    deleted = [one.mean for one in found.honest if one.method == "delete_rows"]
    assert deleted == pytest.approx([0.0, 0.0, 1 / 6])
    kept = [one for one in found.mixtures if one.method == "unify_columns" and one.cheat == "group"]
    assert [one.mean for one in kept] == pytest.approx([unified.mean] * 3)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.sampled_from(method_costs.SHARES),
    st.integers(0, 9),
)
def test_a_share_of_the_individuals_claims_rows_of_its_own_groups(
    groups: list[int], share: float, seed: int
) -> None:
    claims = some_shuffled(np.array(groups), share, np.random.default_rng(seed))
    assert sorted(claims) == list(range(len(groups)))
    assert all(groups[row] == groups[other] for row, other in enumerate(claims))
    assert sum(row != other for row, other in enumerate(claims)) <= round(share * len(groups))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1e-300, 0.25, 0.5, 1 - 2**-53])), max_size=12)
)
def test_rows_are_ordered_within_their_groups_also_where_sums_are_rounded(
    rows: list[tuple[int, float]],
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    shares = np.array([share for _, share in rows])
    plain = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert ordered_within(groups, shares).tolist() == plain


def test_everybody_is_exchanged_with_the_most_alike_who_is_free() -> None:
    places = np.array([0.0, 10.0, 1.0, 12.0, 50.0])
    matrix = abs(places[:, None] - places)
    assert exchanged_with_most_alike(matrix) == pytest.approx((2 * 1 + 2 * 2) / 5)
    assert exchanged_with_most_alike(np.zeros((1, 1))) is None
