"""Whether other rules show more of a contest than those in force: what is shown once stays known."""

from collections.abc import Mapping
from datetime import datetime

from anoncup.rules.model import Rules
from anoncup.rules.settings import Publication

MORE_OPEN: Mapping[str, tuple[str, ...]] = {
    "board": ("organizers", "teams", "public"),
    "feedback": ("hidden", "daily", "immediate"),
    "owners": ("hidden", "shown"),
}
"""Of the choices in ``[publication]``: each shows more than the one before."""


def discloses_more(before: Rules, after: Rules) -> bool:
    """Whether ``after`` shows anything to more people, sooner or in more detail, or lets teams guess more
    often, whatever else it hides.
    """
    return (
        shows_more(before.publication, after.publication)
        or after.limits.guesses_per_target > before.limits.guesses_per_target
        or after.ranking != before.ranking  # a second order of the same rows; other tables for all teams
        or moves_midnight(before, after)
        or opens_sooner(before, after)
    )


def shows_more(before: Publication, after: Publication) -> bool:
    opened = any(
        order.index(getattr(after, name)) > order.index(getattr(before, name))
        for name, order in MORE_OPEN.items()
    )
    return (
        opened
        or thaws(before.frozen_from, after.frozen_from)
        or after.digits > before.digits
        or (before.shuffle_targets and not after.shuffle_targets)
    )


def thaws(before: datetime | None, after: datetime | None) -> bool:
    """Whether boards that were to stand still go on for longer."""
    return before is not None and (after is None or after > before)


def moves_midnight(before: Rules, after: Rules) -> bool:
    """Whether another zone shows the scores of guesses, which come at midnight, up to a day sooner."""
    daily = {before.publication.feedback, after.publication.feedback} == {"daily"}
    return daily and before.timezone != after.timezone


def opens_sooner(before: Rules, after: Rules) -> bool:
    """Whether the teams get the targets sooner, or at all."""
    starts = [phase.start if (phase := one.phase("reidentification")) else None for one in (before, after)]
    was, now = starts
    return now is not None and (was is None or now < was)
