"""As of when a reader sees a competition's boards, and what is kept from them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from anoncup.rules.settings import Phase
from app.services.contests import phases, visibility
from app.services.contests.visibility import ALWAYS, Audience
from app.web.site.frame import Frame

MOVING = ("anonymization", "settling", "reidentification")
"""The states in which boards change by themselves."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """``as_of``: the moment the boards show. ``freeze``: ahead, in force for this reader, or, for organizers,
    for the others. ``guesses``: which of the rivals' are counted; ``guesses_before``: if only earlier ones.
    ``live``: the boards may change while they are read. ``second``: the phase of attacks; ``begun``: it has.
    """

    as_of: datetime
    freeze: Literal["none", "ahead", "now", "others"]
    guesses: Literal["all", "daily", "hidden"]
    guesses_before: datetime | None
    live: bool
    second: Phase | None
    begun: bool


def view_of(frame: Frame) -> BoardView:
    audience = Audience(frame.team.id if frame.team else None, frame.organizer)
    now = frame.standing.now
    cut = visibility.frozen_since(frame.contest, audience, now)
    horizon = visibility.guess_horizon(frame.contest, audience, now)
    second = frame.rules.phase(phases.REIDENTIFICATION)
    frozen = cut != ALWAYS
    return BoardView(
        as_of=cut if frozen else now,
        freeze="now" if frozen else freeze_of(frame, now),
        guesses="hidden" if horizon is None else "all" if horizon == ALWAYS else "daily",
        guesses_before=None if horizon == ALWAYS else horizon,
        live=not frozen and not frame.standing.paused and frame.standing.state in MOVING,
        second=second,
        begun=second is not None and second.start <= (frame.contest.row.paused_at or now),
    )


def freeze_of(frame: Frame, now: datetime) -> Literal["none", "ahead", "others"]:
    """Of a reader for whom nothing is frozen."""
    frozen_from = frame.rules.publication.frozen_from
    if frozen_from is None or frame.contest.is_over:
        return "none"
    return "ahead" if now < frozen_from else "others"
