"""An attacker that a package brings counts where a competition file names it, and nowhere else."""

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import attacker_counts
from anoncup.competition.templates import template
from anoncup.competition.writer import with_attackers
from anoncup.plugins import TRACKS, with_parts
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
    brought = Plugin(
        api=0, attackers={"microdata": {"coins": Attacker("coins", 1, lambda _: np.zeros(0, dtype=np.int64))}}
    )
    monkeypatch.setitem(TRACKS, "microdata", with_parts(TRACKS, brought)["microdata"])


@pytest.mark.parametrize(
    ("more", "counts"),
    [("", False), ("[attackers.coins]", True), ("[attackers.coins]\ncounts = false", False)],
)
def test_it_counts_where_the_file_names_it(more: str, counts: bool) -> None:
    rules = parse_competition(f"{FILE}\n{more}\n")
    assert attacker_counts(rules, "coins") is counts
    assert attacker_counts(rules, "sort")


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_written_of_attackers_is_read_again(settings: dict[str, AttackerSettings]) -> None:
    rules = parse_competition(with_attackers(FILE, TRACKS["microdata"], settings))
    counting = {name: attacker_counts(rules, name) for name in settings}
    assert counting == {name: one.counts for name, one in settings.items()}
