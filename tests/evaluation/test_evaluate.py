"""Verdicts of submissions: measures, violations and the stored JSON report."""

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anoncup.evaluation.evaluate import ExcessiveResult, Verdict, evaluate
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import AttackerSettings, Excessive, Limits, MeasureSettings, count_required_rows
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.adapter import null_release
from anoncup.tracks.microdata.registry import UTILITIES
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase, cases
from tests.support.small_release import ORIGINAL, RULES, TABLE


def evaluate_small_release(
    anonymized: pd.DataFrame = TABLE, source: list[int] | None = None, competition: Rules = RULES
) -> Verdict:
    rows = list(range(len(anonymized))) if source is None else source
    return evaluate(competition, ORIGINAL, anonymized, np.array(rows))


def violation_codes(result: Verdict) -> list[str]:
    return [violation.code for violation in result.violations]


def limit_distance(threshold: float | None, rule: str = "average") -> Rules:
    return replace(RULES, excessive=Excessive(threshold=threshold, rule=rule))  # type: ignore[arg-type]


def excessive_result(result: Verdict) -> ExcessiveResult:
    assert result.excessive is not None
    return result.excessive


def is_plain_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and is_plain_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_plain_json, value))
    return value is None or type(value) in {str, int, float, bool}


def test_an_unchanged_table_has_no_loss_and_hides_nobody() -> None:
    result = evaluate_small_release()
    assert (result.verdict, result.utility, result.security, result.overall) == ("accepted", 0.0, 1.0, 0.5)


def test_everything_in_the_track_is_reported() -> None:
    report = evaluate_small_release().to_json()
    for part in ("measures", "attackers"):
        reported = report[part]
        assert isinstance(reported, dict)
        assert set(reported) == set(getattr(TRACKS["microdata"], part))


def test_the_report_has_the_agreed_form() -> None:
    report = evaluate_small_release(competition=limit_distance(0.2)).to_json()
    assert set(report) == {
        "verdict", "violations", "measures", "attackers", "excessive", "utility", "security", "overall"
    }  # fmt: skip
    measures, attackers = report["measures"], report["attackers"]
    assert isinstance(measures, dict)
    assert isinstance(attackers, dict)
    assert measures["mean_mae"] == {"value": 0.0, "version": 1, "rounding": 7e-08}
    assert measures["l_diversity"] == {
        "value": 1.0,
        "version": 1,
        "rounding": 1e-09,
        "details": {"pay": 1.0, "rent": 1.0},
    }
    assert attackers["id_rand"].keys() == {"rate", "correct", "trials", "version", "baseline", "sd"}
    assert attackers["sort"].keys() == {
        "rate",
        "correct",
        "trials",
        "version",
        "baseline",
        "interval",
    }
    nobody_moved = {"counts": [6] + [0] * 49, "end": 0.2}
    expected = {"distance": "gower", "mean": 0.0, "max": 0.0, "threshold": 0.2, "histogram": nobody_moved}
    assert report["excessive"] == expected


@limit_examples(60)
@given(cases())
def test_the_report_is_finite_json_for_any_table(case: MicrodataCase) -> None:
    competition = replace(RULES, columns=case.release.original.columns)
    result = evaluate(competition, case.release.original, case.release.target.anonymized, case.release.source)
    assert is_plain_json(result.to_json())
    json.dumps(result.to_json(), allow_nan=False)
    assert all(0.0 <= score <= 1.0 for score in (result.utility, result.security, result.overall))


def test_progress_is_reported_before_every_step() -> None:
    steps: list[tuple[int, int, str]] = []
    evaluate(RULES, ORIGINAL, TABLE, np.arange(6), progress=lambda *step: steps.append(step))
    track = TRACKS["microdata"]
    assert [name for _, _, name in steps] == [*track.measures, *track.attackers]
    assert [step for step, _, _ in steps] == list(range(1, len(steps) + 1))
    assert {total for _, total, _ in steps} == {len(steps)}


@pytest.mark.parametrize(("rows_kept", "accepted"), [(3, True), (2, False)])
def test_too_few_rows_are_refused_with_all_measures(rows_kept: int, accepted: bool) -> None:
    result = evaluate_small_release(TABLE.head(rows_kept))
    assert violation_codes(result) == ([] if accepted else ["too_few_rows"])
    assert result.measures["row_difference"].value == 6 - rows_kept


@pytest.mark.parametrize(("share", "rows", "required"), [(0.7, 10, 7), (0.5, 5, 3), (0.0, 9, 0), (1.0, 9, 9)])
def test_the_required_rows_ignore_binary_rounding_of_the_share(
    share: float, rows: int, required: int
) -> None:
    assert count_required_rows(share, rows) == required


def test_a_mean_distance_above_the_threshold_is_refused_an_equal_one_is_not() -> None:
    anonymized = TABLE.assign(sex="f")
    mean = excessive_result(evaluate_small_release(anonymized)).mean
    assert mean == pytest.approx(3 / 6 / 4)
    assert violation_codes(evaluate_small_release(anonymized, competition=limit_distance(mean))) == []
    assert violation_codes(evaluate_small_release(anonymized, competition=limit_distance(mean - 1e-9))) == [
        "excessive_anonymization"
    ]
    assert violation_codes(evaluate_small_release(anonymized, competition=limit_distance(None))) == []


def test_the_strict_rule_uses_the_largest_distance_and_forbids_deletion() -> None:
    anonymized = TABLE.assign(sex="f")
    assert (
        violation_codes(evaluate_small_release(anonymized, competition=limit_distance(0.25, "strict"))) == []
    )
    assert violation_codes(evaluate_small_release(anonymized, competition=limit_distance(0.2, "strict"))) == [
        "excessive_anonymization"
    ]
    assert violation_codes(
        evaluate_small_release(TABLE.head(5), competition=limit_distance(0.99, "strict"))
    ) == ["excessive_anonymization"]


def test_a_deleted_individual_counts_one() -> None:
    assert excessive_result(evaluate_small_release(TABLE.head(4))).mean == pytest.approx(2 / 6)
    assert excessive_result(evaluate_small_release(TABLE.head(4))).max == 1.0


def test_approach_one_refuses_rows_close_to_another_individual() -> None:
    rules = replace(RULES, excessive=Excessive(threshold=0.2, approach="I"))
    assert violation_codes(evaluate_small_release(competition=rules)) == []
    swapped = TABLE.iloc[[1, 0, 2, 3, 4, 5]].reset_index(drop=True)
    result = evaluate_small_release(swapped, competition=rules)
    assert violation_codes(result) == ["excessive_anonymization"]
    assert str(result.violations[0].message).startswith("2 anonymized individuals")


def test_approach_two_catches_the_evasion_of_approach_one() -> None:
    """The evasion of P2 Fig. 4: take the next individual's row, then move it away from all rows."""
    shifted = TABLE.iloc[[1, 2, 3, 4, 5, 0]].reset_index(drop=True)
    moved_away = shifted.assign(job="of nobody")
    for table, codes_of_approach_one in ((shifted, ["excessive_anonymization"]), (moved_away, [])):
        for approach, expected in (("I", codes_of_approach_one), ("II", ["excessive_anonymization"])):
            rules = Excessive(threshold=0.2, approach=approach)  # type: ignore[arg-type]
            assert (
                violation_codes(evaluate_small_release(table, competition=replace(RULES, excessive=rules)))
                == expected
            )


def test_an_unbounded_distance_allows_no_deletion() -> None:
    rules = replace(RULES, excessive=Excessive(distance="euclidean", threshold=100.0))
    assert violation_codes(evaluate_small_release(competition=rules)) == []
    assert violation_codes(evaluate_small_release(TABLE.head(5), competition=rules)) == ["deleted_rows"]
    assert violation_codes(evaluate_small_release(TABLE.assign(pay=0.0, rent=0.0), competition=rules)) == []
    near_rules = replace(RULES, excessive=Excessive(distance="euclidean", threshold=30.0))
    assert violation_codes(evaluate_small_release(TABLE.assign(pay=0.0), competition=near_rules)) == [
        "excessive_anonymization"
    ]


def test_only_counting_attackers_determine_the_security() -> None:
    uncounted = {name: AttackerSettings(counts=False) for name in TRACKS["microdata"].attackers}
    assert evaluate_small_release(competition=replace(RULES, attackers=uncounted)).security == 0.0
    counting = uncounted | {"id_rand": AttackerSettings()}
    result = evaluate_small_release(competition=replace(RULES, attackers=counting))
    assert result.security == result.attackers["id_rand"].rate.rate


def test_parameters_of_the_competition_reach_measures_and_attackers() -> None:
    anonymized = TABLE.assign(job="a", pay=TABLE["pay"].to_numpy()[::-1])
    settings: Mapping[str, MeasureSettings] = {"cross_count": MeasureSettings(1.0, {"columns": ("sex",)})}
    result = evaluate_small_release(anonymized, competition=replace(RULES, measures=settings))
    assert result.measures["cross_count"].value == 0.0
    by_rent = replace(RULES, attackers={"sa_nearest": AttackerSettings(parameters={"column": "rent"})})
    assert evaluate_small_release(anonymized, competition=by_rent).attackers["sa_nearest"].rate.correct == 5


def test_given_scales_are_used_and_others_computed() -> None:
    anonymized = TABLE.assign(pay=TABLE["pay"] + 1)
    with_scale = replace(RULES, measures={"mean_mae": MeasureSettings(2.0)}, scales={"mean_mae": 2.0})
    assert evaluate_small_release(anonymized, competition=with_scale).utility == pytest.approx(0.25)
    computed_scale = scales(MICRODATA, ORIGINAL, {})["mean_mae"]
    without_scale = replace(with_scale, scales={})
    assert evaluate_small_release(anonymized, competition=without_scale).utility == pytest.approx(
        0.5 / computed_scale
    )


def test_scales_are_means_over_five_null_releases() -> None:
    settings = {"cross_count": MeasureSettings(parameters={"columns": ("sex", "job")})}
    computed = scales(MICRODATA, ORIGINAL, settings)
    deviations = TABLE[["pay", "rent"]].std(ddof=0)
    assert computed["mean_mae"] == pytest.approx(deviations.mean())
    assert computed["row_difference"] == 6.0
    for name in ("cross_mean", "cross_count", "cor_mae", "information_loss"):
        values = [UTILITIES[name].compute(null_release(ORIGINAL, seed)) for seed in range(5)]
        assert computed[name] == pytest.approx(np.mean(values))


def test_a_null_release_permutes_each_column_in_file_order() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    table = null_release(ORIGINAL, 3).target.anonymized
    for name in TABLE.columns:
        assert table[name].tolist() == TABLE[name].iloc[rng.permutation(6)].tolist()


def test_the_competition_sets_the_smallest_share_of_rows() -> None:
    lenient = replace(RULES, limits=Limits(min_rows_kept=0.1))
    assert violation_codes(evaluate_small_release(TABLE.head(1), competition=lenient)) == []


def test_a_file_that_gives_some_scales_leaves_the_others_to_be_computed() -> None:
    full = scales(MICRODATA, ORIGINAL, RULES.measures)
    release = null_release(ORIGINAL, 7)
    results = [
        evaluate(
            replace(RULES, scales=given_scales), ORIGINAL, release.target.anonymized, release.source
        ).utility
        for given_scales in ({}, full, {"mean_mae": full["mean_mae"]})
    ]
    assert results[0] == results[1] == results[2] > 0
