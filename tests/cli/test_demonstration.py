"""The demo shows releases that differ, and says whose account is whose."""

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import Verdict, evaluate
from anoncup.plugins import TRACKS
from app.cli.demo_contest import DEMOS, ORGANIZER, Demo, Notes, competition_file, release_of

pytestmark = pytest.mark.full

LONG = {"demo", "demo-shop"}


def verdicts_of(demo: Demo) -> dict[str, Verdict]:
    rules, tables = parse_competition(competition_file(demo)), demo.tables()
    prepared = TRACKS[rules.track].prepare(tables, rules)
    verdicts = {}
    for place, entry in enumerate(demo.entries):
        released, source = release_of(entry, tables, rules, np.random.default_rng(place))
        verdicts[entry.team] = evaluate(rules, prepared, released, source)
    return verdicts


@pytest.mark.parametrize(
    "demo",
    [pytest.param(each, id=each.slug, marks=[pytest.mark.full] * (each.slug in LONG)) for each in DEMOS],
)
def test_the_releases_of_a_demo_spread_over_the_plane_and_only_the_cheat_is_rejected(demo: Demo) -> None:
    verdicts = verdicts_of(demo)
    cheats = {
        entry.team
        for entry in demo.entries
        if any(method.endswith("permutation") for method, _ in entry.steps)
    }
    assert {team for team, verdict in verdicts.items() if verdict.violations} == cheats
    accepted = [(each.utility, each.security) for each in verdicts.values() if not each.violations]
    assert sum(risk > 0.95 for _, risk in accepted) == 1
    risks = sorted(risk for _, risk in accepted)
    assert risks[0] < 0.3
    assert any(0.3 < risk < 0.7 for risk in risks)
    front = [one for one in accepted if not any(other < one and other[1] < one[1] for other in accepted)]
    assert len(front) >= 3


def test_the_file_of_accounts_says_which_account_belongs_to_which_contest(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    notes = Notes(path)
    token = "a token of the team"
    for demo in DEMOS:
        for entry in demo.entries:
            notes.team(demo, entry).token = token
    assert notes.organizer.competitions == ["demo", "demo-shop", "demo-duel"]
    notes.save()
    written = {each["name"]: each for each in json.loads(path.read_text())["accounts"]}
    assert written["member of Shell game"] == {
        "name": "member of Shell game",
        "role": "team member",
        "competitions": ["demo-duel"],
        "team": "Shell game",
        "password": written["member of Shell game"]["password"],
        "token": token,
    }
    assert written[ORGANIZER]["role"] == "organizer"
    assert len({each["password"] for each in written.values()}) == len(written)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Notes(path).accounts == notes.accounts
