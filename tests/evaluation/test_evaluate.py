"""Verdicts of submissions: measures, violations and the stored JSON report."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import Verdict, check_rules, evaluate
from anoncup.evaluation.scales import scales
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import AttackerSettings, Excessive, MeasureSettings, count_required_rows
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.registry import UTILITIES
from anoncup.tracks.microdata.release import null_release
from tests.support import microdata_cases, transactions_cases
from tests.support.hypothesis_profiles import limit_examples
from tests.support.small_release import ORIGINAL, RULES, TABLE

RULES_2016 = parse_competition(template(2016))
APPROACHES: tuple[Literal["I", "II"], ...] = ("I", "II")


def evaluate_small_release(anonymized: pd.DataFrame = TABLE, competition: Rules = RULES) -> Verdict:
    return evaluate(competition, ORIGINAL, anonymized, np.arange(len(anonymized)))


def find_violations(anonymized: pd.DataFrame, competition: Rules = RULES) -> list[str]:
    result = evaluate_small_release(anonymized, competition=competition)
    return [violation.code for violation in result.violations]


def limit_distance(threshold: float | None, rule: str = "average") -> Rules:
    return replace(RULES, excessive=Excessive(threshold=threshold, rule=rule))  # type: ignore[arg-type]


def test_unchanged_table_has_no_loss_and_full_risk() -> None:
    result = evaluate_small_release()
    assert (result.verdict, result.utility, result.security, result.overall) == ("accepted", 0.0, 1.0, 0.5)


def test_report_has_the_documented_structure() -> None:
    report: Any = evaluate_small_release(competition=limit_distance(0.2)).to_json()
    assert set(report) == {
        "verdict", "violations", "measures", "attackers", "excessive", "utility", "security", "overall"
    }  # fmt: skip
    measures, attackers = report["measures"], report["attackers"]
    assert measures["mean_mae"] == {"value": 0.0, "version": 1, "rounding": 7e-11}
    details = {"pay": 1.0, "rent": 1.0}
    assert measures["l_diversity"] == {"value": 1.0, "version": 1, "rounding": 0.0, "details": details}
    keys = {"rate", "correct", "trials", "version", "baseline"}
    assert attackers["id_rand"].keys() == keys | {"sd"}
    assert attackers["sort"].keys() == keys | {"interval"}
    nobody_moved = {"counts": [6] + [0] * 49, "end": 0.2}
    expected = {"distance": "gower", "mean": 0.0, "max": 0.0, "threshold": 0.2, "histogram": nobody_moved}
    assert report["excessive"] == expected


@pytest.mark.parametrize("name", ["microdata", "transactions"])
def test_reports_of_hostile_tables_are_finite_json(name: str) -> None:
    @limit_examples(40)
    @given((microdata_cases if name == "microdata" else transactions_cases).cases())
    def check_report(case: Any) -> None:
        original, target = case.release.original, case.release.target
        tables = target.anonymized if name == "microdata" else target.tables
        rules = replace(RULES, columns=original.columns) if name == "microdata" else RULES_2016
        for distance in TRACKS[name].distances:
            distance_rules = replace(rules, excessive=Excessive(distance=distance, threshold=0.2))
            result = evaluate(distance_rules, original, tables, case.release.answer)
            report = result.to_json()
            assert json.loads(json.dumps(report, allow_nan=False)) == report
            assert all(0.0 <= score <= 1.0 for score in (result.utility, result.security, result.overall))

    check_report()


def test_progress_is_reported_before_every_step() -> None:
    steps: list[tuple[int, int, str]] = []
    evaluate(RULES, ORIGINAL, TABLE, np.arange(6), progress=lambda *step: steps.append(step))
    track = TRACKS["microdata"]
    assert [name for _, _, name in steps] == [*track.measures, *track.attackers]
    assert [step for step, _, _ in steps] == list(range(1, len(steps) + 1))
    assert {total for _, total, _ in steps} == {len(steps)}


def test_too_few_rows_are_refused_but_measured() -> None:
    assert find_violations(TABLE.head(3)) == []
    assert find_violations(TABLE.head(2)) == ["too_few_rows"]
    assert evaluate_small_release(TABLE.head(2)).measures["row_difference"].value == 4


@pytest.mark.parametrize(
    ("share", "rows", "required_rows"), [(0.7, 10, 7), (0.5, 5, 3), (0.0, 9, 0), (1.0, 9, 9)]
)
def test_required_rows_ignore_rounding_of_the_share(share: float, rows: int, required_rows: int) -> None:
    assert count_required_rows(share, rows) == required_rows


EXCESSIVE = ["excessive_anonymization"]


def test_only_distances_above_the_threshold_are_refused() -> None:
    anonymized = TABLE.assign(sex="f")
    excessive = evaluate_small_release(anonymized).excessive
    assert excessive is not None
    mean = excessive.mean
    assert mean == pytest.approx(3 / 6 / 4)
    assert find_violations(anonymized, limit_distance(mean)) == []
    assert find_violations(anonymized, limit_distance(mean - 1e-9)) == EXCESSIVE
    assert find_violations(anonymized, limit_distance(None)) == []


def test_strict_rule_limits_the_largest_distance() -> None:
    anonymized = TABLE.assign(sex="f")
    assert find_violations(anonymized, limit_distance(0.25, "strict")) == []
    assert find_violations(anonymized, limit_distance(0.2, "strict")) == EXCESSIVE
    assert find_violations(TABLE.head(5), limit_distance(0.99, "strict")) == EXCESSIVE


def test_approach_two_catches_evasions_of_approach_one() -> None:
    """The evasion of P2 Fig. 4: take the next individual's row, then move it away from all rows."""
    shifted_table = TABLE.iloc[[1, 2, 3, 4, 5, 0]].reset_index(drop=True)
    evading_table = shifted_table.assign(job="of nobody")
    approach_one, approach_two = (
        replace(RULES, excessive=Excessive(threshold=0.2, approach=approach)) for approach in APPROACHES
    )
    assert find_violations(TABLE, approach_one) == []
    assert [find_violations(shifted_table, rules) for rules in (approach_one, approach_two)] == [
        EXCESSIVE
    ] * 2
    assert find_violations(evading_table, approach_one) == []
    assert find_violations(evading_table, approach_two) == EXCESSIVE
    swapped_table = TABLE.iloc[[1, 0, 2, 3, 4, 5]].reset_index(drop=True)
    result = evaluate_small_release(swapped_table, competition=approach_one)
    assert str(result.violations[0].message).startswith("2 anonymized individuals")


def test_answers_may_be_lists_or_series_with_any_index() -> None:
    rules = replace(RULES, excessive=Excessive(threshold=0.2))
    source = [1, 2, 3, 4, 5, 0]
    released_table = TABLE.iloc[source].reset_index(drop=True)
    expected = evaluate(rules, ORIGINAL, released_table, np.array(source))
    assert expected.violations == ()
    for answer in (source, pd.Series(source, index=source[::-1])):
        assert evaluate(rules, ORIGINAL, released_table, answer) == expected
        assert check_rules(rules, ORIGINAL, released_table, answer)[:2] == (
            expected.violations,
            expected.excessive,
        )


def test_unbounded_distance_allows_no_deletion() -> None:
    far_rules, near_rules = (
        replace(RULES, excessive=Excessive(distance="euclidean", threshold=limit)) for limit in (100.0, 30.0)
    )
    assert find_violations(TABLE, far_rules) == []
    assert find_violations(TABLE.head(5), far_rules) == ["deleted_rows"]
    assert find_violations(TABLE.assign(pay=0.0, rent=0.0), far_rules) == []
    assert find_violations(TABLE.assign(pay=0.0), near_rules) == EXCESSIVE


def test_only_counted_attackers_determine_the_security_score() -> None:
    uncounted_attackers = {name: AttackerSettings(counts=False) for name in TRACKS["microdata"].attackers}
    assert evaluate_small_release(competition=replace(RULES, attackers=uncounted_attackers)).security == 0.0
    attackers = uncounted_attackers | {"id_rand": AttackerSettings()}
    result = evaluate_small_release(competition=replace(RULES, attackers=attackers))
    assert result.security == result.attackers["id_rand"].rate.value


def test_measures_and_attackers_use_the_competitions_parameters() -> None:
    anonymized = TABLE.assign(job="a", pay=TABLE["pay"].to_numpy()[::-1])
    settings: Mapping[str, MeasureSettings] = {"cross_count": MeasureSettings(1.0, {"columns": ("sex",)})}
    result = evaluate_small_release(anonymized, competition=replace(RULES, measures=settings))
    assert result.measures["cross_count"].value == 0.0
    rent_rules = replace(RULES, attackers={"sa_nearest": AttackerSettings(parameters={"column": "rent"})})
    result = evaluate_small_release(anonymized, competition=rent_rules)
    assert result.attackers["sa_nearest"].rate.correct == 5


def test_missing_scales_are_computed() -> None:
    anonymized = TABLE.assign(pay=TABLE["pay"] + 1)
    scaled_rules = replace(RULES, measures={"mean_mae": MeasureSettings(2.0)}, scales={"mean_mae": 2.0})
    assert evaluate_small_release(anonymized, competition=scaled_rules).utility == pytest.approx(0.25)
    computed_scale = scales(MICRODATA, ORIGINAL, {})["mean_mae"]
    utility = evaluate_small_release(anonymized, competition=replace(scaled_rules, scales={})).utility
    assert utility == pytest.approx(0.5 / computed_scale)


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
