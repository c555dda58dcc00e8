"""The demo contests have varied releases, of which only the cheat is rejected."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anoncup import TRACKS, generate_households, template
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from app.competitions.competitions import collect_current_versions, complete_file
from app.operations import demo_contest
from app.operations.demo_contest import DEMO_CONTESTS, DemoContest

pytestmark = pytest.mark.full


@pytest.mark.parametrize("demo", DEMO_CONTESTS, ids=lambda demo: demo.slug)
def test_demo_releases_vary_and_only_the_cheat_is_rejected(demo: DemoContest) -> None:
    contest = demo_contest.prepare(demo)
    assert contest.rules.publication.reveal_notice_hours == 0
    verdicts = {}
    for index, entry in enumerate(contest.entries):
        release = demo_contest._build_release(entry, contest, np.random.default_rng([0, index]))
        verdicts[entry.team] = evaluate(contest.rules, contest.original, *release)
    cheats = {entry.team for entry in demo.entries if entry.steps[-1][0].endswith("permutation")}
    assert {team for team, verdict in verdicts.items() if verdict.violations} == cheats
    risks = sorted(verdict.security for verdict in verdicts.values() if not verdict.violations)
    assert risks[0] < 0.3
    assert any(0.3 < risk < 0.7 for risk in risks)
    assert sum(risk > 0.95 for risk in risks) == 1


def test_own_contest_is_played_with_the_methods_of_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    track = TRACKS["microdata"]
    method = replace(track.methods["shift"], name="mine")
    monkeypatch.setitem(TRACKS, "microdata", replace(track, methods={**track.methods, "mine": method}))
    competition, original = tmp_path / "own.toml", tmp_path / "original.csv"
    competition.write_text(template(2015).replace("[excessive]", "[excessive]\nthreshold = 0.3"), "utf-8")
    generate_households(30).to_csv(original, index=False)
    contest = demo_contest.load_own_contest(competition, [str(original)])
    assert [entry.team for entry in contest.entries] == [*track.methods, "mine"]


def test_file_of_a_service_is_played_without_its_scoring_versions(tmp_path: Path) -> None:
    competition, original = tmp_path / "own.toml", tmp_path / "original.csv"
    file = template(2015).replace("[excessive]", "[excessive]\nthreshold = 0.3")
    competition.write_text(
        complete_file(file, {}, collect_current_versions(parse_competition(file))), "utf-8"
    )
    generate_households(30).to_csv(original, index=False)
    assert "scored_by" not in demo_contest.load_own_contest(competition, [str(original)]).file


def test_attack_that_no_team_could_send_is_left_to_the_next_attacker() -> None:
    contest = demo_contest.prepare(next(demo for demo in DEMO_CONTESTS if demo.year == 2016))
    rng = np.random.default_rng(0)
    release, answer = demo_contest._build_release(contest.entries[0], contest, rng)
    context = contest.track.build_context(contest.rules, contest.original, release)
    target = contest.track.build_target(answer, context)
    files = demo_contest._make_guess_files(
        ("random_in_cluster", "sort_spend"), target, contest.track, contest.rules, rng
    )
    assert files
