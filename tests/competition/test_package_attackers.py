"""An attacker from a package counts only in competitions whose file names it."""

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS, add_plugin
from anoncup.tracks.parts import Attacker
from anoncup.tracks.plugin import Plugin

TEMPLATE = template(2015)


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
