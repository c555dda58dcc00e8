"""An attacker from a package counts only in competitions whose file names it."""

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_attackers
from anoncup.plugins import TRACKS, add_plugin
from anoncup.rules.settings import AttackerSettings
from anoncup.tracks.parts import Attacker
from anoncup.tracks.plugin import Plugin

TEMPLATE = template(2015)
SETTINGS: tuple[dict[str, AttackerSettings], ...] = (
    {},
    {"coins": AttackerSettings()},
    {"coins": AttackerSettings(counts=False)},
    {"sort": AttackerSettings(counts=False)},
)


@pytest.fixture(autouse=True)
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin(
        api=0, attackers={"microdata": {"coins": Attacker("coins", 1, lambda _: np.zeros(0, dtype=np.int64))}}
    )
    monkeypatch.setitem(TRACKS, "microdata", add_plugin(TRACKS, plugin)["microdata"])


@pytest.mark.parametrize(
    ("extra_text", "counts"),
    [("", False), ("[attackers.coins]", True), ("[attackers.coins]\ncounts = false", False)],
)
def test_package_attackers_count_if_the_file_names_them(extra_text: str, counts: bool) -> None:
    rules = parse_competition(f"{TEMPLATE}\n{extra_text}\n")
    assert counts_towards_security(rules, "coins") is counts
    assert counts_towards_security(rules, "sort")


@pytest.mark.parametrize("settings", SETTINGS)
def test_attacker_settings_round_trip(settings: dict[str, AttackerSettings]) -> None:
    rules = parse_competition(replace_attackers(TEMPLATE, TRACKS["microdata"], settings))
    counts = {name: counts_towards_security(rules, name) for name in settings}
    assert counts == {name: attacker_settings.counts for name, attacker_settings in settings.items()}
