"""Check whether new rules disclose more of a contest than the present ones; disclosure cannot be undone."""

from collections.abc import Mapping
from datetime import datetime

from anoncup.rules.model import Rules
from anoncup.rules.settings import Publication

_DISCLOSURE_ORDER: Mapping[str, tuple[str, ...]] = {
    "board": ("organizers", "teams", "public"),
    "feedback": ("hidden", "daily", "immediate"),
    "owners": ("hidden", "shown"),
}
"""Choices of the settings in ``[publication]``, in order of increasing disclosure."""


def discloses_more(current: Rules, proposed: Rules) -> bool:
    """Whether ``proposed`` shows anything to more people, sooner or in more detail, or allows more guesses.

    Settings that hide more do not compensate for this.
    """
    return (
        _shows_more(current.publication, proposed.publication)
        or proposed.limits.guesses_per_target > current.limits.guesses_per_target
        or proposed.ranking != current.ranking  # discloses a second order of the rows, or other tables
        or _moves_midnight(current, proposed)
        or _opens_sooner(current, proposed)
    )


def _shows_more(current: Publication, proposed: Publication) -> bool:
    is_more_open = any(
        order.index(getattr(proposed, name)) > order.index(getattr(current, name))
        for name, order in _DISCLOSURE_ORDER.items()
    )
    return (
        is_more_open
        or _freezes_later(current.frozen_from, proposed.frozen_from)
        or proposed.digits > current.digits
        or (current.shuffle_targets and not proposed.shuffle_targets)
    )


def _freezes_later(current: datetime | None, proposed: datetime | None) -> bool:
    """Whether boards freeze later, or not at all."""
    return current is not None and (proposed is None or proposed > current)


def _moves_midnight(current: Rules, proposed: Rules) -> bool:
    """Whether another time zone moves the midnight that publishes scores of guesses, up to a day earlier."""
    is_daily = {current.publication.feedback, proposed.publication.feedback} == {"daily"}
    return is_daily and current.timezone != proposed.timezone


def _opens_sooner(current: Rules, proposed: Rules) -> bool:
    """Whether the teams get the targets earlier, or get any where they had none."""
    starts = [
        phase.start if (phase := rules.phase("reidentification")) else None for rules in (current, proposed)
    ]
    current_start, proposed_start = starts
    return proposed_start is not None and (current_start is None or proposed_start < current_start)
