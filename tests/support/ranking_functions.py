"""A ranking function of a package that is installed for one test of this process."""

from collections.abc import Callable, Sequence

import pytest

from anoncup.competition import parser, ranking_functions, required_packages, scoring_versions
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.tracks.ranking_board import Ranked, RankingBoard, RankingFunction

REQUIRES = '[requires]\nCup_2024 = ">=1"'
MODULES = (parser, ranking_functions, required_packages, scoring_versions)


def install_function(patch: pytest.MonkeyPatch, rank: Callable[[RankingBoard], Sequence[Ranked]]) -> None:
    """Install ``cup-2024:best`` in version 3, and a package without parts."""
    cup = Package("cup-2024", "1.2", "cup:PLUGIN", ("ranking_functions.best",))
    functions = {"best": RankingFunction("best", 3, rank)}
    parts = InstalledParts(TRACKS, (cup, Package("other", "1", "")), ranking_functions=functions)
    for module in MODULES:
        patch.setattr(module, "INSTALLED", parts)
