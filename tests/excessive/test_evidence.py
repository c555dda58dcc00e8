"""Evidence for a threshold: the distances of honest sample releases and of simulated cheats."""

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
from anoncup.excessive.evidence import GuaranteedThreshold, ThresholdEvidence, round_middle
from anoncup.excessive.method_costs import (
    CheatMixture,
    HonestRelease,
    MethodTrials,
    shuffle_subset,
    try_methods,
)
from anoncup.excessive.question import AdviceQuestion, answer
from anoncup.excessive.threshold_advisor import ThresholdAdvice, compute_greedy_swap_mean
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import order_within_groups
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.transactions.example import load_tc400
from tests.support.originals import make_original

MICRODATA, TRANSACTIONS = TRACKS["microdata"], TRACKS["transactions"]
GOWER = MICRODATA.distances["gower"]
RULES = parse_competition(template(2015))
SMALL_COLUMNS = Columns(("q", "r"), ("s", "v"))
NO_GUARANTEE = GuaranteedThreshold(1.0, None)


def build_small_rules() -> Rules:
    return replace(RULES, columns=SMALL_COLUMNS, measures={})


def build_small_table(rows: int, **columns: Sequence[object]) -> pd.DataFrame:
    defaults = {"q": ["a"] * rows, "r": ["b"] * rows, "s": [1.0] * rows, "v": [2.0] * rows}
    return pd.DataFrame(defaults | columns)


HOSTILE_TABLES = {
    "one row": build_small_table(1),
    "two equal rows": build_small_table(2),
    "constant columns": build_small_table(7),
    "duplicates": build_small_table(6, q=list("aabbcc"), s=[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
    "all different": build_small_table(6, q=list("abcdef"), s=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "huge and tiny": build_small_table(5, s=[1e150, -1e150, 0.0, 1e-320, 5.0]),
}


def build_evidence(
    honest: Sequence[float],
    cheats: Mapping[str, Sequence[float]],
    guarantee: GuaranteedThreshold = NO_GUARANTEE,
) -> ThresholdEvidence:
    sample_releases = tuple(HonestRelease("add_noise", {"strength": mean}, mean) for mean in honest)
    simulated = {name: np.array(means) for name, means in cheats.items()}
    return evidence.gather_evidence(MethodTrials(9, sample_releases, ()), simulated, guarantee)


def list_reason_codes(result: ThresholdEvidence) -> list[str]:
    return [reason.code for reason in result.reasons]


def test_guaranteed_threshold_is_preferred() -> None:
    result = build_evidence([0.1, 0.2], {"group": [0.9, 0.8]}, GuaranteedThreshold(0.65, 0.64))
    assert (result.threshold, result.separates, list_reason_codes(result)) == (0.64, True, ["guaranteed"])


def test_separating_threshold_is_recommended_with_its_reasons() -> None:
    result = build_evidence(
        [0.042, 0.135], {"group": [0.2265, 0.3], "random": [0.4]}, GuaranteedThreshold(0.0412, 0.04)
    )
    assert (result.threshold, result.separates) == (0.2, True)
    assert list_reason_codes(result) == ["separates", "too_strict", "not_guaranteed"]
    strict_reason = next(reason for reason in result.reasons if reason.code == "too_strict")
    assert strict_reason.message.render_values_in_english() == {"sure": 0.04, "rejected": 2, "honest": 2}


@pytest.mark.parametrize(
    ("honest", "cheats"),
    [
        ([0.1, 0.2, 0.3, 0.6], {"group": [0.5, 0.7, 0.8, 0.9]}),
        ([0.5, 0.6], {"shift": [0.9], "group": [0.1, 0.2]}),
        ([0.5], {"shift": [0.5]}),
    ],
)
def test_no_threshold_is_recommended_if_none_separates(
    honest: list[float], cheats: dict[str, list[float]]
) -> None:
    result = build_evidence(honest, cheats, GuaranteedThreshold(0.05, 0.04))
    assert (result.threshold, result.separates) == (None, False)
    assert list_reason_codes(result) == ["inseparable", "too_strict"]


def test_without_samples_only_the_guarantee_counts() -> None:
    assert build_evidence([0.1], {}, GuaranteedThreshold(0.65, 0.64)).threshold == 0.64
    assert build_evidence([0.1], {}).threshold is None
    strict_evidence = build_evidence([0.1], {}, GuaranteedThreshold(0.05, 0.04))
    assert strict_evidence.threshold == 0.04
    assert list_reason_codes(strict_evidence)[:2] == ["too_strict", "not_simulated"]
    assert build_evidence([], {"shift": [0.2]}).threshold is None
    assert list_reason_codes(build_evidence([], {})) == ["no_sample"]


def test_exchanges_of_similar_individuals_are_mentioned_if_they_pass() -> None:
    trials = MethodTrials(
        9, (HonestRelease("add_noise", {}, 0.1),), (CheatMixture("add_noise", {}, "group", 0.5, 0.15),)
    )
    for alike_mean, passes in ((0.12, True), (0.25, False)):
        result = evidence.gather_evidence(
            trials, {"group": np.array([0.3])}, GuaranteedThreshold(0.05, 0.04), alike=alike_mean
        )
        messages = {reason.code: str(reason.message) for reason in result.reasons}
        assert result.threshold == 0.2
        assert ("has distance 0.12 and could pass" in messages["not_guaranteed"]) is passes
        assert messages["mixtures"].startswith("1 of 1 sample releases in which some or all")


mean_distances = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.7]), min_size=1, max_size=6)


@given(mean_distances, mean_distances, mean_distances)
def test_threshold_is_recommended_if_and_only_if_one_has_no_errors(
    honest: list[float], first_cheat: list[float], second_cheat: list[float]
) -> None:
    def count_errors(threshold: float) -> int:
        return sum(mean > threshold for mean in honest) + sum(
            mean <= threshold for mean in first_cheat + second_cheat
        )

    threshold = build_evidence(honest, {"shift": first_cheat, "group": second_cheat}).threshold
    assert (threshold is not None) is (min(map(count_errors, honest)) == 0)
    assert threshold is None or count_errors(threshold) == 0


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.135, 0.2265, 0.2), (0.14016, 0.14993, 0.145), (0.0, 1.0, 0.5), (1234.0, 5678.0, 3000.0)],
)
def test_recommended_threshold_is_a_round_number_in_the_middle(
    low: float, high: float, expected: float
) -> None:
    assert round_middle(low, high) == expected
    assert round_middle(1.7e308, 1.75e308) == pytest.approx(1.725e308)


@pytest.mark.parametrize("name", HOSTILE_TABLES)
@pytest.mark.parametrize("distance", ["gower", "euclidean"])
def test_evidence_for_hostile_tables_serializes_to_json(name: str, distance: str) -> None:
    rules = build_small_rules()
    prepared = make_original(HOSTILE_TABLES[name], rules)
    advice = answer(AdviceQuestion(("q",), distance, draws=5), rules, prepared)
    json.dumps(advice.to_json(), allow_nan=False)
    assert advice.evidence is not None
    refused_methods = {release.method for release in advice.evidence.honest if release.refusal is not None}
    assert refused_methods <= {"delete_rows"}
    assert all(
        release.mean is not None and release.mean >= 0
        for release in advice.evidence.honest
        if not release.refusal
    )


@pytest.mark.parametrize("rows", [1, 6])
def test_permutations_without_movement_are_no_cheats(rows: int) -> None:
    """All individuals are alone in their groups; one case has a single individual."""
    prepared = make_original(HOSTILE_TABLES["all different"].head(rows), build_small_rules())
    advice = answer(AdviceQuestion(("q",), "gower", draws=50), build_small_rules(), prepared)
    result = advice.evidence
    assert result is not None
    cheats_that_move = {"shift", "random"} if rows > 1 else set()
    assert all(set(row.passing) == cheats_that_move for row in result.errors)
    assert {row.cheat for row in result.mixtures} == cheats_that_move - {"shift"}
    assert result.cheats_from == min(
        (advice.histograms[name].least for name in cheats_that_move), default=None
    )


def test_deletion_is_refused_for_unbounded_distances() -> None:
    advice = advise_households(60, AdviceQuestion(distance="euclidean", draws=3))
    assert advice.evidence is not None
    deletion_releases = [release for release in advice.evidence.honest if release.method == "delete_rows"]
    assert [release.mean is None for release in deletion_releases] == [True, True, True]
    assert "delete_rows" not in {release.method for release in advice.evidence.mixtures}


def advise_households(rows: int, question: AdviceQuestion) -> ThresholdAdvice:
    return answer(question, RULES, make_original(generate_households(rows), RULES))


def test_honest_methods_are_tried_alone_and_mixed_with_cheats() -> None:
    for track, rules, tables in (
        (MICRODATA, RULES, generate_households(60)),
        (TRANSACTIONS, parse_competition(template(2016)), load_tc400()),
    ):
        prepared = make_original(tables, rules)
        trials = try_methods(
            track, rules, prepared, next(iter(track.distances.values())), (), max_individuals=60
        )
        cheats = {"shift", "random_permutation", "group_permutation", "cheating_permutation"}
        assert {release.method for release in trials.honest} == set(track.methods) - cheats
        assert {release.method for release in trials.mixtures} == set(track.methods) - cheats
        assert len(trials.mixtures) == 6 * (len(track.methods) - len(cheats))


def test_trials_are_reproducible_and_large_tables_are_sampled() -> None:
    prepared = make_original(generate_households(120), RULES)
    trials = [
        try_methods(MICRODATA, RULES, prepared, GOWER, ("S1_Sex",), max_individuals=limit)
        for limit in (50, 50, 120)
    ]
    assert trials[0] == trials[1]
    assert [run.individuals for run in trials] == [50, 50, 120]
    assert method_costs.MAX_SAMPLE_SIZE == 10_000


def test_trial_distances_equal_hand_computed_values() -> None:
    """The expected distances are computed by hand from the cells."""
    rules, table = build_small_rules(), HOSTILE_TABLES["duplicates"]
    prepared = make_original(table, rules)
    trials = try_methods(MICRODATA, rules, prepared, GOWER, ("q",))
    unified_release = next(
        release for release in trials.honest if release.parameters == {"columns": ["q", "r"]}
    )
    assert unified_release.mean == pytest.approx(4 / 6 / 4)
    deletion_means = [release.mean for release in trials.honest if release.method == "delete_rows"]
    assert deletion_means == pytest.approx([0.0, 0.0, 1 / 6])
    mixtures = [
        release
        for release in trials.mixtures
        if release.method == "unify_columns" and release.cheat == "group"
    ]
    assert [release.mean for release in mixtures] == pytest.approx([unified_release.mean] * 3)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.sampled_from(method_costs.CHEAT_SHARES),
    st.integers(0, 9),
)
def test_limited_share_of_rows_is_permuted_within_groups(groups: list[int], share: float, seed: int) -> None:
    claims = shuffle_subset(np.array(groups), share, np.random.default_rng(seed))
    assert sorted(claims) == list(range(len(groups)))
    assert all(groups[row] == groups[claim] for row, claim in enumerate(claims))
    assert sum(row != claim for row, claim in enumerate(claims)) <= round(share * len(groups))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1e-300, 0.25, 0.5, 1 - 2**-53])), max_size=12)
)
def test_order_within_groups_is_exact_despite_rounding(
    rows: list[tuple[int, float]],
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    shares = np.array([share for _, share in rows])
    expected = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert order_within_groups(groups, shares).tolist() == expected


def test_greedy_swaps_exchange_nearest_free_individuals() -> None:
    positions = np.array([0.0, 10.0, 1.0, 12.0, 50.0])
    matrix = abs(positions[:, None] - positions)
    assert compute_greedy_swap_mean(matrix) == pytest.approx((2 * 1 + 2 * 2) / 5)
    assert compute_greedy_swap_mean(np.zeros((1, 1))) is None
