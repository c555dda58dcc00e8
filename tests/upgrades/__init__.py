"""Upgrades of an installation, as changes of the microdata track's registries.

Jobs of this package are scored by upgraded processes; tests upgrade the web process by a patch.
"""

from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any, cast

from anoncup.lazy import lazy_in
from anoncup.plugins import TRACKS
from anoncup.runner import scoring
from anoncup.runner.answers import ProgressSender
from anoncup.runner.jobs import ScoreJob

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


def find_registries() -> tuple[Registry, Registry]:
    track = TRACKS["microdata"]
    return cast(Registry, track.measures), cast(Registry, track.attackers)


_here = lazy_in(__name__)


class UpgradedScoreJob(ScoreJob):
    """Scores with a changed registry, which the child has to itself."""

    handler = _here("score_upgraded")
    is_single = True

    change: str


def score_upgraded(job: UpgradedScoreJob, progress: ProgressSender) -> dict[str, Any]:
    change: RegistryChange = globals()[job.change]
    change(*find_registries())
    return scoring.score(job, progress)
