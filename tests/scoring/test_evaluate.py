"""A submission's verdict: what is measured, what is refused, and the form it is stored in."""

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
from anoncup.rules.settings import AttackerSettings, Excessive, Limits, MeasureSettings, rows_required
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.adapter import null_release
from anoncup.tracks.microdata.registry import UTILITIES
from tests.scoring.tables_to_break import Case, cases
from tests.support.hypothesis_profiles import examples
from tests.support.small_release import COMPETITION, ORIGINAL, TABLE


def verdict(
    anonymized: pd.DataFrame = TABLE, source: list[int] | None = None, competition: Rules = COMPETITION
) -> Verdict:
    rows = list(range(len(anonymized))) if source is None else source
    return evaluate(competition, ORIGINAL, anonymized, np.array(rows))


def codes(found: Verdict) -> list[str]:
    return [violation.code for violation in found.violations]


def limited(threshold: float | None, rule: str = "average") -> Rules:
    return replace(COMPETITION, excessive=Excessive(threshold=threshold, rule=rule))  # type: ignore[arg-type]


def excess(found: Verdict) -> ExcessiveResult:
    assert found.excessive is not None
    return found.excessive


def plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or type(value) in {str, int, float, bool}


def test_the_untouched_table_loses_nothing_and_hides_nobody() -> None:
    found = verdict()
    assert (found.verdict, found.utility, found.security, found.overall) == ("accepted", 0.0, 1.0, 0.5)


def test_everything_in_the_track_is_reported() -> None:
    report = verdict().to_json()
    for part in ("measures", "attackers"):
        reported = report[part]
        assert isinstance(reported, dict)
        assert set(reported) == set(getattr(TRACKS["microdata"], part))


def test_the_report_has_the_agreed_form() -> None:
    report = verdict(competition=limited(0.2)).to_json()
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
    judged = {"distance": "gower", "mean": 0.0, "max": 0.0, "threshold": 0.2, "histogram": nobody_moved}
    assert report["excessive"] == judged


@examples(60)
@given(cases())
def test_the_report_is_plain_finite_json_whatever_the_table(case: Case) -> None:
    competition = replace(COMPETITION, columns=case.release.original.columns)
    found = evaluate(competition, case.release.original, case.release.target.anonymized, case.release.source)
    assert plain(found.to_json())
    json.dumps(found.to_json(), allow_nan=False)
    assert all(0.0 <= each <= 1.0 for each in (found.utility, found.security, found.overall))


def test_progress_announces_every_step_before_it_is_done() -> None:
    seen: list[tuple[int, int, str]] = []
    evaluate(COMPETITION, ORIGINAL, TABLE, np.arange(6), progress=lambda *step: seen.append(step))
    track = TRACKS["microdata"]
    assert [name for _, _, name in seen] == [*track.measures, *track.attackers]
    assert [step for step, _, _ in seen] == list(range(1, len(seen) + 1))
    assert {of for _, of, _ in seen} == {len(seen)}


@pytest.mark.parametrize(("kept", "accepted"), [(3, True), (2, False)])
def test_too_few_rows_are_refused_with_all_measures(kept: int, accepted: bool) -> None:
    found = verdict(TABLE.head(kept))
    assert codes(found) == ([] if accepted else ["too_few_rows"])
    assert found.measures["row_difference"].value == 6 - kept


@pytest.mark.parametrize(("share", "rows", "required"), [(0.7, 10, 7), (0.5, 5, 3), (0.0, 9, 0), (1.0, 9, 9)])
def test_the_share_of_rows_is_taken_as_it_was_written(share: float, rows: int, required: int) -> None:
    assert rows_required(share, rows) == required


def test_a_mean_distance_above_the_threshold_is_refused_an_equal_one_is_not() -> None:
    anonymized = TABLE.assign(sex="f")
    mean = excess(verdict(anonymized)).mean
    assert mean == pytest.approx(3 / 6 / 4)
    assert codes(verdict(anonymized, competition=limited(mean))) == []
    assert codes(verdict(anonymized, competition=limited(mean - 1e-9))) == ["excessive_anonymization"]
    assert codes(verdict(anonymized, competition=limited(None))) == []


def test_strict_looks_at_the_farthest_individual_and_forbids_deletion() -> None:
    anonymized = TABLE.assign(sex="f")
    assert codes(verdict(anonymized, competition=limited(0.25, "strict"))) == []
    assert codes(verdict(anonymized, competition=limited(0.2, "strict"))) == ["excessive_anonymization"]
    assert codes(verdict(TABLE.head(5), competition=limited(0.99, "strict"))) == ["excessive_anonymization"]


def test_a_deleted_individual_counts_one() -> None:
    assert excess(verdict(TABLE.head(4))).mean == pytest.approx(2 / 6)
    assert excess(verdict(TABLE.head(4))).max == 1.0


def test_approach_one_refuses_data_near_to_somebody_elses() -> None:
    rules = replace(COMPETITION, excessive=Excessive(threshold=0.2, approach="I"))
    assert codes(verdict(competition=rules)) == []
    swapped = TABLE.iloc[[1, 0, 2, 3, 4, 5]].reset_index(drop=True)
    found = verdict(swapped, competition=rules)
    assert codes(found) == ["excessive_anonymization"]
    assert str(found.violations[0].message).startswith("2 anonymized individuals")


def test_the_way_round_approach_one_is_closed_by_approach_two() -> None:
    """P2 Fig. 4: take the next one's row, then move it away from everybody's."""
    shifted = TABLE.iloc[[1, 2, 3, 4, 5, 0]].reset_index(drop=True)
    away = shifted.assign(job="of nobody")
    for table, by_approach_one in ((shifted, ["excessive_anonymization"]), (away, [])):
        for approach, expected in (("I", by_approach_one), ("II", ["excessive_anonymization"])):
            rules = Excessive(threshold=0.2, approach=approach)  # type: ignore[arg-type]
            assert codes(verdict(table, competition=replace(COMPETITION, excessive=rules))) == expected


def test_a_distance_without_bound_allows_no_deletion() -> None:
    rules = replace(COMPETITION, excessive=Excessive(distance="euclidean", threshold=100.0))
    assert codes(verdict(competition=rules)) == []
    assert codes(verdict(TABLE.head(5), competition=rules)) == ["deleted_rows"]
    assert codes(verdict(TABLE.assign(pay=0.0, rent=0.0), competition=rules)) == []
    near = replace(COMPETITION, excessive=Excessive(distance="euclidean", threshold=30.0))
    assert codes(verdict(TABLE.assign(pay=0.0), competition=near)) == ["excessive_anonymization"]


def test_only_attackers_that_count_make_the_security() -> None:
    silent = {name: AttackerSettings(counts=False) for name in TRACKS["microdata"].attackers}
    assert verdict(competition=replace(COMPETITION, attackers=silent)).security == 0.0
    counting = silent | {"id_rand": AttackerSettings()}
    found = verdict(competition=replace(COMPETITION, attackers=counting))
    assert found.security == found.attackers["id_rand"].rate.rate


def test_parameters_of_the_competition_reach_measures_and_attackers() -> None:
    anonymized = TABLE.assign(job="a", pay=TABLE["pay"].to_numpy()[::-1])
    settings: Mapping[str, MeasureSettings] = {"cross_count": MeasureSettings(1.0, {"columns": ("sex",)})}
    found = verdict(anonymized, competition=replace(COMPETITION, measures=settings))
    assert found.measures["cross_count"].value == 0.0
    by_rent = replace(COMPETITION, attackers={"sa_nearest": AttackerSettings(parameters={"column": "rent"})})
    assert verdict(anonymized, competition=by_rent).attackers["sa_nearest"].rate.correct == 5


def test_given_scales_are_used_and_others_computed() -> None:
    anonymized = TABLE.assign(pay=TABLE["pay"] + 1)
    fixed = replace(COMPETITION, measures={"mean_mae": MeasureSettings(2.0)}, scales={"mean_mae": 2.0})
    assert verdict(anonymized, competition=fixed).utility == pytest.approx(0.25)
    own = scales(MICRODATA, ORIGINAL, {})["mean_mae"]
    free = replace(fixed, scales={})
    assert verdict(anonymized, competition=free).utility == pytest.approx(0.5 / own)


def test_scales_are_means_over_five_null_releases() -> None:
    both = {"cross_count": MeasureSettings(parameters={"columns": ("sex", "job")})}
    found = scales(MICRODATA, ORIGINAL, both)
    deviations = TABLE[["pay", "rent"]].std(ddof=0)
    assert found["mean_mae"] == pytest.approx(deviations.mean())
    assert found["row_difference"] == 6.0
    for name in ("cross_mean", "cross_count", "cor_mae", "information_loss"):
        drawn = [UTILITIES[name].compute(null_release(ORIGINAL, draw)) for draw in range(5)]
        assert found[name] == pytest.approx(np.mean(drawn))


def test_a_null_release_permutes_each_column_in_file_order() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    table = null_release(ORIGINAL, 3).target.anonymized
    for name in TABLE.columns:
        assert table[name].tolist() == TABLE[name].iloc[rng.permutation(6)].tolist()


def test_the_smallest_share_of_rows_is_a_limit_of_the_competition() -> None:
    lenient = replace(COMPETITION, limits=Limits(min_rows_kept=0.1))
    assert codes(verdict(TABLE.head(1), competition=lenient)) == []


def test_a_file_that_gives_some_scales_leaves_the_others_to_be_computed() -> None:
    full = scales(MICRODATA, ORIGINAL, COMPETITION.measures)
    release = null_release(ORIGINAL, 7)
    results = [
        evaluate(
            replace(COMPETITION, scales=given_scales), ORIGINAL, release.target.anonymized, release.source
        ).utility
        for given_scales in ({}, full, {"mean_mae": full["mean_mae"]})
    ]
    assert results[0] == results[1] == results[2] > 0
