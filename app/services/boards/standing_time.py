"""The time for which live targets stand, and the mean of a team's losses over it (``docs/organize.md``)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import fsum
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


def compute_mean_loss(weighted_losses: Sequence[tuple[float, float | None]]) -> float | None:
    """Return the mean of a team's losses, each given with the time for which its target stood.

    It is the last loss if no target stood, and missing if the loss of one that stood is missing. The mean of
    equal losses is exactly this loss.
    """
    weights = [weight for weight, _ in weighted_losses if weight]
    losses = [loss for weight, loss in weighted_losses if weight and loss is not None]
    if not weights:
        return weighted_losses[-1][1]
    if len(losses) < len(weights):
        return None
    base = losses[0]
    terms = (weight * (loss - base) for weight, loss in zip(weights, losses, strict=True))
    return base + fsum(terms) / fsum(weights)
