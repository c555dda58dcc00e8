"""Upgrades of an installation: what its registry of the microdata track has after them.

The modules of this package are scoring children that have been upgraded; the web process is, by a patch.
"""

from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any, cast

from anoncup.plugins import TRACKS
from workers import scorer

Registry = MutableMapping[str, Any]
Change = Callable[[Registry, Registry], None]
LATE = "late"


def added(_: Registry, attackers: Registry) -> None:
    """An attacker more, and a strong one."""
    attackers[LATE] = replace(attackers["euc1"], name=LATE)


def bumped(measures: Registry, _: Registry) -> None:
    """A measure that weighs, in a version that gives another number."""
    before = measures["mean_mae"]
    measures["mean_mae"] = replace(before, version=2, compute=lambda release: before.compute(release) / 2)


def removed(_: Registry, attackers: Registry) -> None:
    """An attacker less, which counts."""
    del attackers["euc1"]


def registries() -> tuple[Registry, Registry]:
    track = TRACKS["microdata"]
    return cast(Registry, track.measures), cast(Registry, track.attackers)


def prepare(change: Change, *, warm: bool) -> None:
    """Prepare the scoring child, upgraded."""
    change(*registries())
    scorer.prepare(warm=warm)
