"""The moment that the boards show to a reader, and the results that they hide."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from anoncup.rules.settings import Phase
from app.competitions import phases, visibility
from app.competitions.frame import Frame
from app.competitions.visibility import UNFROZEN, Viewer

_LIVE_STATES = ("anonymization", "settling", "reidentification")
"""States of a competition in which boards change by themselves."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """The state of the boards for one reader.

    ``as_of`` is the moment that the boards show. ``freeze`` is ``ahead`` if the boards will be frozen,
    ``now`` if they are frozen for this reader, and ``others`` if they are frozen for others but not for this
    reader, who is an organizer. ``guesses`` tells which guesses of rivals count: all, those before
    ``guesses_before``, or none. ``is_live`` means that the boards may change while they are read.
    """

    as_of: datetime
    freeze: Literal["none", "ahead", "now", "others"]
    guesses: Literal["all", "daily", "hidden"]
    guesses_before: datetime | None
    is_live: bool
    attack_phase: Phase | None
    has_attack_phase_begun: bool


def build_board_view(frame: Frame) -> BoardView:
    viewer = Viewer(frame.team.id if frame.team else None, frame.is_organizer)
    now = frame.status.now
    frozen_at = visibility.compute_freeze_time(frame.contest, viewer, now)
    horizon = visibility.compute_guess_horizon(frame.contest, viewer, now)
    attack_phase = frame.rules.phase(phases.REIDENTIFICATION)
    is_frozen = frozen_at != UNFROZEN
    return BoardView(
        as_of=frozen_at if is_frozen else now,
        freeze="now" if is_frozen else _find_freeze_state(frame, now),
        guesses="hidden" if horizon is None else "all" if horizon == UNFROZEN else "daily",
        guesses_before=None if horizon == UNFROZEN else horizon,
        is_live=not is_frozen and not frame.status.paused and frame.status.state in _LIVE_STATES,
        attack_phase=attack_phase,
        has_attack_phase_begun=attack_phase is not None
        and attack_phase.start <= (frame.contest.round.paused_at or now),
    )


def _find_freeze_state(frame: Frame, now: datetime) -> Literal["none", "ahead", "others"]:
    """Return the freeze state for a reader who does not see a frozen board."""
    frozen_from = frame.rules.publication.frozen_from
    if frozen_from is None or frame.contest.is_over:
        return "none"
    return "ahead" if now < frozen_from else "others"
