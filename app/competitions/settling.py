"""Determine what a competition waits for after a deadline."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.competitions import reveal_notice
from app.competitions.phases import PhaseStatus
from app.core.db.models import Round


@dataclass(frozen=True, slots=True)
class Wait:
    """What a competition waits for in the state ``settling``.

    ``releases``: uploads that began in time, and their scores. ``targets``: the files of the targets.
    ``notice``: the time of the reveal, ``reveal_at``. ``guesses``: as ``releases``, in the second phase.
    """

    reason: Literal["releases", "targets", "notice", "guesses"]
    reveal_at: datetime | None = None


def find_wait(round_: Round, status: PhaseStatus) -> Wait | None:
    """Return what the competition waits for; None unless its state is ``settling``."""
    if status.state != "settling":
        return None
    if round_.frozen_at is None:
        return Wait("releases")
    if round_.published_at is None:
        return Wait("targets")
    reveal_at = reveal_notice.find_reveal_time(round_)
    if reveal_at is not None and reveal_at > status.now:
        return Wait("notice", reveal_at)
    return Wait("guesses")
