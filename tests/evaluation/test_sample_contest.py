"""The contest of a threshold report equals `anoncup.score` for each release, and says who should not lead."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import PCG64, Generator

import anoncup
from anoncup import schemas
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.dataframes import AnonymizedTables
from anoncup.evaluation import sample_contest
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.sample_contest import SampleContest, plan_releases
from anoncup.evaluation.threshold_report import make_report
from anoncup.excessive.question import AdviceQuestion
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Ranking
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.ranking_board import Ranked, RankingBoard
from anoncup.tracks.transactions.example import load_tc400
from tests.support.originals import make_original
from tests.support.ranking_functions import install_function

pytestmark = pytest.mark.full

GROUPS = ("SetaiKubun", "Tatekata")
UNIQUE_COLUMNS = [f"q{number}" for number in range(10)]


def build_rules(threshold: float | None = None, ranking: str = "", year: int = 2015) -> Rules:
    text = template(year).replace("threshold = 0.64\n", "")
    limit = "" if threshold is None else f"\nthreshold = {threshold!r}"
    text = text.replace("[excessive]", f"[excessive]{limit}")
    return parse_competition(text.replace('rule = "score"', ranking or 'rule = "score"'))


def play(tables: Any, rules: Rules, groups: Sequence[str] = (), **question: Any) -> SampleContest:
    original = make_original(tables, rules)
    return make_report(AdviceQuestion(groups, draws=0, **question), rules, original).contest


def list_codes(contest: SampleContest) -> tuple[list[str], list[str]]:
    return [part.code for part in contest.warnings], [part.code for part in contest.remedies]


def build_unique_table(rows: int) -> pd.DataFrame:
    """Return ten columns in which everybody is unique, and an income."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 9, (rows, 10)).astype(str), columns=UNIQUE_COLUMNS)
    return table.assign(income=rng.lognormal(size=rows).round(3))


def build_small_rules(quasi_identifiers: Sequence[str], measures: Sequence[str], more: str = "") -> Rules:
    weights = "\n".join(f"[measures.{name}]\nweight = 1" for name in measures)
    return parse_competition(
        f"""
format = 1
slug = "small"
track = "microdata"
title = "Small"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = {json.dumps(quasi_identifiers)}
sensitive = ["income"]
{weights}
{more}
[[phases]]
name = "anonymization"
start = 2027-01-01T00:00:00Z
end = 2027-01-02T00:00:00Z
"""
    )


ONLY_ID_RAND = "".join(
    f"[attackers.{name}]\ncounts = {str(name == 'id_rand').lower()}\n"
    for name, part in TRACKS["microdata"].attackers.items()
    if part.may_count
)
"""The tables of attackers of which only one counts, against which methods that merge values help."""


def build_unique_rules(more: str = "") -> Rules:
    return build_small_rules(UNIQUE_COLUMNS, ("cross_count", "information_loss"), more)


@pytest.mark.parametrize("year", [2015, 2016])
def test_each_release_scores_as_if_a_team_had_sent_it(year: int) -> None:
    rules = build_rules(0.3, year=year)
    if year == 2015:
        tables: Any = generate_households(40)
        inputs, groups = tables, GROUPS
    else:
        shop = make_original(load_tc400(), rules)
        tables, groups = TRACKS[rules.track].distances.subset(shop, np.arange(40)).tables, ("sex", "country")
        inputs = {"customers": tables.customers, "transactions": tables.transactions}
    track, original = TRACKS[rules.track], make_original(tables, rules)
    contest = play(tables, rules, groups)
    by_release = {(entry.method, str(entry.parameters)): entry for entry in contest.releases}
    planned = plan_releases(rules, original, groups)
    assert len(by_release) == len(planned) == len(contest.releases)
    expected_order = []
    for index, release in enumerate(planned):
        made, answer = release.make(Generator(PCG64(index)))
        files = AnonymizedTables(track.files_of(made), track.answer_spec.write(answer))
        released = files.tables if len(files.tables) > 1 else next(iter(files.tables.values()))
        score = anoncup.score(inputs, released, files.secret, competition=rules)
        entry = by_release[release.method, str(release.parameters)]
        assert (entry.utility, entry.security, entry.overall) == pytest.approx(
            (score.utility, score.security, score.overall), rel=1e-9
        )
        assert score.verdict.excessive is not None
        assert entry.mean_distance == pytest.approx(score.verdict.excessive.mean, rel=1e-9)
        assert bool(entry.violations) is not score.is_accepted
        expected_order.append((not score.is_accepted, score.overall if score.is_accepted else 0.0))
    expected_order.sort()
    assert [bool(entry.violations) for entry in contest.releases] == [part[0] for part in expected_order]
    losses = [entry.overall if entry.rank else 0.0 for entry in contest.releases]
    assert losses == pytest.approx([part[1] for part in expected_order], rel=1e-9)
    kinds = {entry.kind for entry in contest.releases}
    assert kinds == {"method", "cheat", "unchanged"}
    strengths = [sum(entry.method == name for entry in contest.releases) for name in track.methods]
    assert set(strengths) <= {1, 2}


def test_doing_nothing_leads_where_everybody_is_unique() -> None:
    table, rules = build_unique_table(60), build_unique_rules("[excessive]\nthreshold = 0.1\n")
    contest = play(table, rules)
    first = contest.releases[0]
    assert (first.kind, first.rank, first.utility, first.security, first.overall) == (
        "unchanged", 1, 0.0, 1.0, 0.5,
    )  # fmt: skip
    warnings, remedies = list_codes(contest)
    assert (warnings, remedies) == (["unchanged_leads"], ["attackers"])
    assert all(entry.violations for entry in contest.releases if entry.kind == "cheat")


def test_remedies_against_doing_nothing_help() -> None:
    """Noise costs so much that doing nothing leads, although noise is the better of the two at its worse."""
    income = np.random.default_rng(1).normal(100, 30, 60).round(2)
    table = pd.DataFrame({"q": ["a", "b", "c", "d"] * 15, "income": income})
    more = "[scales]\ninformation_loss = 0.03\n[excessive]\nthreshold = 0.05\n"
    contest = play(table, build_small_rules(["q"], ["information_loss"], more))
    assert list_codes(contest) == (["unchanged_leads", "threshold_too_high"], ["formula", "limit"])
    limit = contest.remedies[1].message.values["lowest"]
    assert isinstance(limit, float)
    for formula in ("max(utility, security)", f"(utility + security) / 2 + (security > {limit + 0.01!r})"):
        rules = build_small_rules(["q"], ["information_loss"], f'{more}[ranking]\ndefence = "{formula}"\n')
        ranked = play(table, rules)
        assert list_codes(ranked) == (["threshold_too_high"], [])
        assert ranked.releases[0].method == "add_noise"


def test_cheat_leads_without_a_threshold_and_the_named_one_stops_it() -> None:
    tables = generate_households(100)
    contest = play(tables, build_rules(), GROUPS)
    warnings, remedies = list_codes(contest)
    assert (warnings, remedies[0]) == (["cheat_leads"], "threshold")
    threshold = contest.remedies[0].message.values["threshold"]
    assert isinstance(threshold, float)
    with_threshold = play(tables, build_rules(threshold), GROUPS)
    assert with_threshold.threshold == threshold
    assert list_codes(with_threshold) == ([], [])
    assert with_threshold.releases[0].kind == "method"
    assert {entry.rank for entry in with_threshold.releases if entry.kind == "cheat"} == {None}
    assert with_threshold.releases[-1].violations == ("excessive_anonymization",)


def test_named_threshold_accepts_the_methods_that_the_present_one_rejects() -> None:
    tables = generate_households(100)
    contest = play(tables, build_rules(0.001), GROUPS)
    assert list_codes(contest) == (["unchanged_leads"], ["threshold", "columns"])
    threshold = contest.remedies[0].message.values["threshold"]
    assert isinstance(threshold, float)
    assert contest.recommended_warnings == ()
    assert list_codes(play(tables, build_rules(threshold), GROUPS)) == ([], [])


def test_threshold_in_use_and_the_recommended_one_have_their_warnings() -> None:
    limit = "[excessive]\nthreshold = 0.5\n"
    contest = play(
        build_unique_table(60), build_small_rules(UNIQUE_COLUMNS, ["mean_mae"], ONLY_ID_RAND + limit)
    )
    assert list_codes(contest) == (["threshold_too_high"], [])
    (warning,) = contest.recommended_warnings
    assert (warning.code, warning.message.values["leading"]) == (
        "leader_rejected",
        contest.releases[0].security,
    )
    threshold = contest.warnings[0].message.values["high"]
    assert isinstance(threshold, float)
    limit = f"[excessive]\nthreshold = {threshold * 0.999!r}\n"
    ranked = play(
        build_unique_table(60), build_small_rules(UNIQUE_COLUMNS, ["mean_mae"], ONLY_ID_RAND + limit)
    )
    assert list_codes(ranked)[0] == []
    assert contest.releases[0].parameters != ranked.releases[0].parameters


def test_larger_threshold_is_named_where_the_present_one_rejects_what_would_lead() -> None:

    def play_with(threshold: float) -> SampleContest:
        limit = f"[excessive]\nthreshold = {threshold!r}\n"
        rules = build_small_rules(UNIQUE_COLUMNS, ["mean_mae"], ONLY_ID_RAND + limit)
        return play(build_unique_table(60), rules, ("q0",))

    contest = play_with(0.05)
    assert list_codes(contest) == (["unchanged_leads"], ["larger_threshold"])
    distance = contest.remedies[0].message.values["distance"]
    assert isinstance(distance, float)
    assert list_codes(play_with(distance - 1e-6))[0] == ["unchanged_leads"]
    assert play_with(distance + 1e-6).releases[0].method == contest.remedies[0].message.values["method"]


def test_remedy_says_that_doing_nothing_leads_with_the_named_threshold() -> None:
    table = build_unique_table(60)
    (remedy,) = play(table, build_unique_rules()).remedies
    assert "doing nothing then leads" in str(remedy.message)
    rules = build_unique_rules(f"[excessive]\nthreshold = {remedy.message.values['threshold']}\n")
    contest = play(table, rules)
    assert [part.code for part in contest.warnings] == ["unchanged_leads"]
    assert contest.recommended_warnings == contest.warnings


def test_remedy_says_that_the_named_threshold_rejects_the_best_method() -> None:
    rules = build_small_rules(UNIQUE_COLUMNS, ["mean_mae"], ONLY_ID_RAND)
    contest = play(build_unique_table(60), rules, bits=100)
    assert list_codes(contest) == (["cheat_leads"], ["threshold"])
    assert str(contest.remedies[0].message).endswith("but also the best sample method")


@pytest.mark.parametrize(
    ("ranking", "compute_loss"),
    [
        ('defence = "max(utility, security)"', lambda entry: max(entry.utility, entry.security)),
        (
            'order = "descending"\ndefence = "1 - security - 2 * utility"',
            lambda entry: entry.security + 2 * entry.utility - 1,
        ),
    ],
)
def test_contest_is_ranked_by_the_formula(ranking: str, compute_loss: Any) -> None:
    contest = play(generate_households(40), build_rules(ranking=ranking), GROUPS)
    losses = [compute_loss(entry) for entry in contest.releases]
    assert losses == pytest.approx(sorted(losses), abs=1e-12)
    ranks = [1 + sum(rival < loss - 1e-9 for rival in losses) for loss in losses]
    assert [entry.rank for entry in contest.releases] == ranks
    sign = -1 if "descending" in ranking else 1
    assert [entry.score for entry in contest.releases] == pytest.approx([sign * loss for loss in losses])


def test_contest_is_ranked_by_a_function_that_sees_what_the_attackers_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The function scores U plus the largest risk, which is E; the highest is the best."""

    def rank_board(board: RankingBoard) -> list[Ranked]:
        risks = {entry.id: 0.0 for entry in board.submissions}
        for attack in board.attacks:
            if attack.counts:
                risks[attack.submission] = max(risks[attack.submission], attack.risk)
        return [Ranked(entry.team, entry.utility + risks[entry.id]) for entry in board.submissions]

    install_function(monkeypatch, rank_board)
    ranking = Ranking("function", order="descending", function="cup-2024:best")
    rules = replace(build_rules(), ranking=ranking)
    contest = play(generate_households(40), rules, GROUPS)
    scores = [entry.utility + entry.security for entry in contest.releases]
    assert [entry.score for entry in contest.releases] == scores
    assert [entry.rank for entry in contest.releases] == [
        1 + sum(rival > score + 1e-9 for rival in scores) for score in scores
    ]


def test_sum_of_ranks_compares_accepted_releases_only() -> None:
    rules, tables = build_rules(0.08, ranking='rule = "rank_sum"'), generate_households(40)
    contest, original = play(tables, rules, GROUPS), make_original(tables, rules)
    numbers = {}
    for index, release in enumerate(plan_releases(rules, original, GROUPS)):
        verdict = evaluate(rules, original, *release.make(Generator(PCG64(index))))
        if not verdict.violations:
            values = [verdict.measures[name].value for name in rules.weights]
            numbers[release.method, str(release.parameters)] = [*values, verdict.security]
    sums = {
        key: sum(
            1 + sum(rival[column] < value - 1e-9 for rival in numbers.values())
            for column, value in enumerate(row)
        )
        for key, row in numbers.items()
    }
    scores = {(entry.method, str(entry.parameters)): entry.score for entry in contest.releases}
    assert {key: score for key, score in scores.items() if score is not None} == sums
    assert 0 < len(sums) < len(contest.releases)
    accepted = [entry for entry in contest.releases if not entry.violations]
    assert accepted == list(contest.releases[: len(sums)])
    assert [entry.score for entry in accepted] == sorted(sums.values())
    assert {entry.rank for entry in contest.releases[len(sums) :]} == {None}


def test_threshold_for_another_distance_does_not_apply() -> None:
    contest = play(generate_households(40), build_rules(1e-9), GROUPS, distance="euclidean")
    assert contest.threshold is None
    assert not any(entry.violations for entry in contest.releases if entry.method != "delete_rows")
    assert max(entry.mean_distance for entry in contest.releases) > 1  # in raw units


def test_large_data_are_sampled_and_scored_with_scales_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_contest, "MAX_INDIVIDUALS", 30)
    tables, rules = generate_households(60), build_rules()
    contest = play(tables, rules, GROUPS)
    assert contest.individuals == 30
    assert contest == play(tables, replace(rules, scales=dict.fromkeys(rules.weights, 1e-6)), GROUPS)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tables_without_scales_are_not_played(rows: int) -> None:
    table = pd.DataFrame({name: ["a"] * rows for name in UNIQUE_COLUMNS}).assign(income=1.0)
    report = make_report(
        AdviceQuestion((), draws=3), build_unique_rules(), make_original(table, build_unique_rules())
    )
    assert report.contest.releases == ()
    assert report.contest.problem is not None
    assert report.contest.problem.code == "scale_zero"
    advice = schemas.parse_advice(report.to_json())
    assert advice.contest.problem is not None
    json.dumps(report.to_json(), allow_nan=False)
