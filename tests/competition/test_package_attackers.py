"""An attacker from a package counts only in competitions whose file names it."""

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import is_counted_attacker
from anoncup.competition.templates import template
from anoncup.competition.writer import replace_attackers
from anoncup.plugins import TRACKS, add_plugin
from anoncup.rules.settings import AttackerSettings
from anoncup.tracks.parts import Attacker
from anoncup.tracks.plugin import Plugin

FILE = template(2015)
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
def test_a_package_attacker_counts_where_the_file_names_it(extra_text: str, counts: bool) -> None:
    rules = parse_competition(f"{FILE}\n{extra_text}\n")
    assert is_counted_attacker(rules, "coins") is counts
    assert is_counted_attacker(rules, "sort")


@pytest.mark.parametrize("settings", SETTINGS)
def test_written_attacker_settings_are_read_back(settings: dict[str, AttackerSettings]) -> None:
    rules = parse_competition(replace_attackers(FILE, TRACKS["microdata"], settings))
    counts = {name: is_counted_attacker(rules, name) for name in settings}
    assert counts == {name: attacker_settings.counts for name, attacker_settings in settings.items()}
