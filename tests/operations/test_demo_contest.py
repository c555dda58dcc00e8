"""The demo contests have varied releases, of which only the cheat is rejected."""

import numpy as np
import pytest

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
