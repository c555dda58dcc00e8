"""The demo contests have varied releases, of which only the cheat is rejected."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anoncup import TRACKS, generate_households, template
from anoncup.evaluation.evaluate import evaluate
from app.operations import demo_contest
from app.operations.demo_contest import DEMO_CONTESTS, DemoContest

pytestmark = pytest.mark.full


@pytest.mark.parametrize("demo", DEMO_CONTESTS, ids=lambda demo: demo.slug)
def test_demo_releases_vary_and_only_the_cheat_is_rejected(demo: DemoContest) -> None:
    contest = demo_contest.prepare(demo)
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
