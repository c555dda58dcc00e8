"""The time for which live targets stand, and the mean of a team's losses over it (``docs/organize.md``)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import fsum
from typing import Protocol
from uuid import UUID

from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from app.db.models import Round

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
    rules: Rules, round_: Round, targets: Iterable[Standing], moment: datetime
) -> StandingTimes | None:
    """Return how long each target stands in the second phase, without pauses; None without live targets.

    A target that stands at ``moment`` counts as standing until the end of the phase, so that scores change
    only when something happens.
    """
    phase = rules.phase("reidentification")
    if rules.targets != "live" or phase is None:
        return None
    return {target.submission_id: _measure(target, phase, round_, moment) for target in targets}


def _measure(target: Standing, phase: Phase, round_: Round, moment: datetime) -> float:
    is_retired = target.retired_at is not None and target.retired_at < moment
    retired_at = target.retired_at if is_retired else None
    start, end = _subtract_pauses(phase.start, round_), _subtract_pauses(phase.end, round_)
    stands_from = max(start, _read_stopped_clock(target.published_at, round_))
    stands_until = min(end, _read_stopped_clock(retired_at, round_)) if retired_at else end
    return max(0.0, (stands_until - stands_from).total_seconds())


def _read_stopped_clock(moment: datetime, round_: Round) -> datetime:
    """Return the time of the round's clock, which stands still in a pause, at a moment of the past."""
    return _subtract_pauses(min(moment, round_.paused_at or moment), round_)


def _subtract_pauses(moment: datetime, round_: Round) -> datetime:
    """Return the moment less the pauses before it that are over."""
    pauses = [tuple(map(datetime.fromisoformat, (pause["start"], pause["end"]))) for pause in round_.pauses]
    paused = (min(end, moment) - start for start, end in pauses if start < moment)
    return moment - sum(paused, timedelta(0))


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
