"""The demo contests: varied releases, and a file that lists all accounts."""

import numpy as np
import pytest

from anoncup.competition.parser import parse_rounds
from anoncup.evaluation.evaluate import Verdict, evaluate
from app.operations.demo_contest import (
    DEMO_CONTESTS,
    DemoContest,
    build_competition_file,
    build_original,
    build_release,
)
from tests.support.originals import make_original

pytestmark = pytest.mark.full

SLOW_DEMOS = {"demo", "demo-shop"}


def evaluate_demo(demo: DemoContest) -> dict[str, Verdict]:
    rules, tables = next(iter(parse_rounds(build_competition_file(demo)).values())), demo.tables()
    prepared = make_original(tables, rules)
    verdicts = {}
    for index, entry in enumerate(demo.entries):
        original = build_original(tables, rules)
        released_table, source = build_release(entry, original, rules, np.random.default_rng(index))
        verdicts[entry.team] = evaluate(rules, prepared, released_table, source)
    return verdicts


@pytest.mark.parametrize(
    "demo",
    [
        pytest.param(demo, id=demo.slug, marks=[pytest.mark.full] * (demo.slug in SLOW_DEMOS))
        for demo in DEMO_CONTESTS
    ],
)
def test_demo_releases_vary_and_only_the_cheat_is_rejected(
    demo: DemoContest,
) -> None:
    verdicts = evaluate_demo(demo)
    cheats = {
        entry.team
        for entry in demo.entries
        if any(method.endswith("permutation") for method, _ in entry.steps)
    }
    assert {team for team, verdict in verdicts.items() if verdict.violations} == cheats
    accepted = [(result.utility, result.security) for result in verdicts.values() if not result.violations]
    assert sum(risk > 0.95 for _, risk in accepted) == 1
    risks = sorted(risk for _, risk in accepted)
    assert risks[0] < 0.3
    assert any(0.3 < risk < 0.7 for risk in risks)
    undominated = [
        point for point in accepted if not any(rival < point and rival[1] < point[1] for rival in accepted)
    ]
    assert len(undominated) >= 3
