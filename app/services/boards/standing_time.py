"""The time for which live targets stand, by which a team's losses are weighted (``docs/organize.md``)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase

StandingTimes = Mapping[UUID, float]
"""Seconds by submission."""


class Standing(Protocol):
    """A target with the time for which it stands."""

    @property
    def submission_id(self) -> UUID: ...
    @property
    def published_at(self) -> datetime: ...
    @property
    def retired_at(self) -> datetime | None: ...


def compute_standing_times(
    rules: Rules, targets: Iterable[Standing], moment: datetime
) -> StandingTimes | None:
    """Return how long each target stands in the second phase; None without live targets.

    A target that stands at ``moment`` counts as standing until the end of the phase, so that scores change
    only when something happens.
    """
    phase = rules.phase("reidentification")
    if rules.targets != "live" or phase is None:
        return None
    return {target.submission_id: _compute_standing_time(target, phase, moment) for target in targets}


def _compute_standing_time(target: Standing, phase: Phase, moment: datetime) -> float:
    is_retired = target.retired_at is not None and target.retired_at < moment
    end = min(target.retired_at, phase.end) if target.retired_at and is_retired else phase.end
    return max(0.0, (end - max(target.published_at, phase.start)).total_seconds())
