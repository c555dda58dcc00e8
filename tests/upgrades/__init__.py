"""Upgrades of an installation, as changes of the microdata track's registries.

The modules of this package are upgraded scoring children; tests upgrade the web process by a patch.
"""

from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any, cast

from anoncup.plugins import TRACKS
from workers import scorer

Registry = MutableMapping[str, Any]
RegistryChange = Callable[[Registry, Registry], None]
ADDED_ATTACKER = "late"


def add_attacker(_: Registry, attackers: Registry) -> None:
    """Add a strong attacker."""
    attackers[ADDED_ATTACKER] = replace(attackers["euc1"], name=ADDED_ATTACKER)


def bump_measure(measures: Registry, _: Registry) -> None:
    """Upgrade a weighted measure to a version with other values."""
    old_measure = measures["mean_mae"]
    measures["mean_mae"] = replace(
        old_measure, version=2, compute=lambda release: old_measure.compute(release) / 2
    )


def remove_attacker(_: Registry, attackers: Registry) -> None:
    """Remove an attacker that counts."""
    del attackers["euc1"]


def find_registries() -> tuple[Registry, Registry]:
    track = TRACKS["microdata"]
    return cast(Registry, track.measures), cast(Registry, track.attackers)


def prepare(change: RegistryChange, *, warm: bool) -> None:
    """Apply the upgrade and prepare the scoring child."""
    change(*find_registries())
    scorer.prepare(warm=warm)
