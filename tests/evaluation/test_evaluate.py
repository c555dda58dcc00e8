"""Verdicts of submissions: measures, violations and the stored JSON report."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anoncup.evaluation.evaluate import ExcessiveResult, Verdict, evaluate, judge
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


def list_violation_codes(result: Verdict) -> list[str]:
    return [violation.code for violation in result.violations]


def limit_distance(threshold: float | None, rule: str = "average") -> Rules:
    return replace(RULES, excessive=Excessive(threshold=threshold, rule=rule))  # type: ignore[arg-type]


def get_excessive_result(result: Verdict) -> ExcessiveResult:
    assert result.excessive is not None
    return result.excessive


def is_plain_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and is_plain_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_plain_json, value))
    return value is None or type(value) in {str, int, float, bool}


def test_unchanged_table_has_no_loss_and_full_risk() -> None:
    result = evaluate_small_release()
    assert (result.verdict, result.utility, result.security, result.overall) == ("accepted", 0.0, 1.0, 0.5)


def test_all_measures_and_attackers_are_reported() -> None:
    report = evaluate_small_release().to_json()
    for kind in ("measures", "attackers"):
        results = report[kind]
        assert isinstance(results, dict)
        assert set(results) == set(getattr(TRACKS["microdata"], kind))


def test_report_has_the_documented_structure() -> None:
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
def test_reports_of_hostile_tables_are_finite_json(case: MicrodataCase) -> None:
    competition = replace(RULES, columns=case.release.original.columns)
    result = evaluate(competition, case.release.original, case.release.target.anonymized, case.release.answer)
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


@pytest.mark.parametrize(("rows_kept", "is_accepted"), [(3, True), (2, False)])
def test_too_few_rows_are_refused_but_measured(rows_kept: int, is_accepted: bool) -> None:
    result = evaluate_small_release(TABLE.head(rows_kept))
    assert list_violation_codes(result) == ([] if is_accepted else ["too_few_rows"])
    assert result.measures["row_difference"].value == 6 - rows_kept


@pytest.mark.parametrize(
    ("share", "rows", "required_rows"), [(0.7, 10, 7), (0.5, 5, 3), (0.0, 9, 0), (1.0, 9, 9)]
)
def test_required_rows_ignore_rounding_of_the_share(share: float, rows: int, required_rows: int) -> None:
    assert count_required_rows(share, rows) == required_rows


def test_only_distances_above_the_threshold_are_refused() -> None:
    anonymized = TABLE.assign(sex="f")
    mean = get_excessive_result(evaluate_small_release(anonymized)).mean
    assert mean == pytest.approx(3 / 6 / 4)
    assert list_violation_codes(evaluate_small_release(anonymized, competition=limit_distance(mean))) == []
    assert list_violation_codes(
        evaluate_small_release(anonymized, competition=limit_distance(mean - 1e-9))
    ) == ["excessive_anonymization"]
    assert list_violation_codes(evaluate_small_release(anonymized, competition=limit_distance(None))) == []


def test_strict_rule_limits_the_largest_distance() -> None:
    anonymized = TABLE.assign(sex="f")
    assert (
        list_violation_codes(evaluate_small_release(anonymized, competition=limit_distance(0.25, "strict")))
        == []
    )
    assert list_violation_codes(
        evaluate_small_release(anonymized, competition=limit_distance(0.2, "strict"))
    ) == ["excessive_anonymization"]
    assert list_violation_codes(
        evaluate_small_release(TABLE.head(5), competition=limit_distance(0.99, "strict"))
    ) == ["excessive_anonymization"]


def test_deleted_individuals_have_distance_one() -> None:
    assert get_excessive_result(evaluate_small_release(TABLE.head(4))).mean == pytest.approx(2 / 6)
    assert get_excessive_result(evaluate_small_release(TABLE.head(4))).max == 1.0


def test_approach_one_refuses_rows_close_to_another_individual() -> None:
    rules = replace(RULES, excessive=Excessive(threshold=0.2, approach="I"))
    assert list_violation_codes(evaluate_small_release(competition=rules)) == []
    swapped_table = TABLE.iloc[[1, 0, 2, 3, 4, 5]].reset_index(drop=True)
    result = evaluate_small_release(swapped_table, competition=rules)
    assert list_violation_codes(result) == ["excessive_anonymization"]
    assert str(result.violations[0].message).startswith("2 anonymized individuals")


def test_approach_two_catches_evasions_of_approach_one() -> None:
    """The evasion of P2 Fig. 4: take the next individual's row, then move it away from all rows."""
    shifted_table = TABLE.iloc[[1, 2, 3, 4, 5, 0]].reset_index(drop=True)
    evading_table = shifted_table.assign(job="of nobody")
    for table, first_codes in ((shifted_table, ["excessive_anonymization"]), (evading_table, [])):
        for approach, expected in (("I", first_codes), ("II", ["excessive_anonymization"])):
            rules = Excessive(threshold=0.2, approach=approach)  # type: ignore[arg-type]
            assert (
                list_violation_codes(
                    evaluate_small_release(table, competition=replace(RULES, excessive=rules))
                )
                == expected
            )


@pytest.mark.parametrize("approach", ["I", "II"])
def test_answers_may_be_lists_or_series_with_any_index(approach: Literal["I", "II"]) -> None:
    rules = replace(RULES, excessive=Excessive(threshold=0.2, approach=approach))
    source = [1, 2, 3, 4, 5, 0]
    released_table = TABLE.iloc[source].reset_index(drop=True)
    expected = evaluate(rules, ORIGINAL, released_table, np.array(source))
    assert list_violation_codes(expected) == []
    for answer in (source, pd.Series(source, index=source[::-1])):
        assert evaluate(rules, ORIGINAL, released_table, answer) == expected
        assert judge(rules, ORIGINAL, released_table, answer) == (expected.violations, expected.excessive)


def test_unbounded_distance_allows_no_deletion() -> None:
    rules = replace(RULES, excessive=Excessive(distance="euclidean", threshold=100.0))
    assert list_violation_codes(evaluate_small_release(competition=rules)) == []
    assert list_violation_codes(evaluate_small_release(TABLE.head(5), competition=rules)) == ["deleted_rows"]
    assert (
        list_violation_codes(evaluate_small_release(TABLE.assign(pay=0.0, rent=0.0), competition=rules)) == []
    )
    near_rules = replace(RULES, excessive=Excessive(distance="euclidean", threshold=30.0))
    assert list_violation_codes(evaluate_small_release(TABLE.assign(pay=0.0), competition=near_rules)) == [
        "excessive_anonymization"
    ]


def test_only_counted_attackers_determine_the_security_score() -> None:
    uncounted_attackers = {name: AttackerSettings(counts=False) for name in TRACKS["microdata"].attackers}
    assert evaluate_small_release(competition=replace(RULES, attackers=uncounted_attackers)).security == 0.0
    attackers = uncounted_attackers | {"id_rand": AttackerSettings()}
    result = evaluate_small_release(competition=replace(RULES, attackers=attackers))
    assert result.security == result.attackers["id_rand"].rate.rate


def test_measures_and_attackers_use_the_competitions_parameters() -> None:
    anonymized = TABLE.assign(job="a", pay=TABLE["pay"].to_numpy()[::-1])
    settings: Mapping[str, MeasureSettings] = {"cross_count": MeasureSettings(1.0, {"columns": ("sex",)})}
    result = evaluate_small_release(anonymized, competition=replace(RULES, measures=settings))
    assert result.measures["cross_count"].value == 0.0
    rent_rules = replace(RULES, attackers={"sa_nearest": AttackerSettings(parameters={"column": "rent"})})
    assert (
        evaluate_small_release(anonymized, competition=rent_rules).attackers["sa_nearest"].rate.correct == 5
    )


def test_missing_scales_are_computed() -> None:
    anonymized = TABLE.assign(pay=TABLE["pay"] + 1)
    scaled_rules = replace(RULES, measures={"mean_mae": MeasureSettings(2.0)}, scales={"mean_mae": 2.0})
    assert evaluate_small_release(anonymized, competition=scaled_rules).utility == pytest.approx(0.25)
    computed_scale = scales(MICRODATA, ORIGINAL, {})["mean_mae"]
    unscaled_rules = replace(scaled_rules, scales={})
    assert evaluate_small_release(anonymized, competition=unscaled_rules).utility == pytest.approx(
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


def test_null_release_permutes_each_column_in_file_order() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    table = null_release(ORIGINAL, 3).target.anonymized
    for name in TABLE.columns:
        assert table[name].tolist() == TABLE[name].iloc[rng.permutation(6)].tolist()


def test_competition_sets_the_minimum_share_of_rows() -> None:
    lenient_rules = replace(RULES, limits=Limits(min_rows_kept=0.1))
    assert list_violation_codes(evaluate_small_release(TABLE.head(1), competition=lenient_rules)) == []


def test_file_may_give_only_some_scales() -> None:
    all_scales = scales(MICRODATA, ORIGINAL, RULES.measures)
    release = null_release(ORIGINAL, 7)
    results = [
        evaluate(
            replace(RULES, scales=given_scales), ORIGINAL, release.target.anonymized, release.answer
        ).utility
        for given_scales in ({}, all_scales, {"mean_mae": all_scales["mean_mae"]})
    ]
    assert results[0] == results[1] == results[2] > 0
