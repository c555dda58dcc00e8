"""Choose the next action that a competition's overview page offers to its reader."""

from dataclasses import dataclass
from datetime import datetime

from app.services.accounts.accounts import Principal
from app.web.site.frame import Frame

_WATCHABLE_STATES = ("settling", "between", "reidentification")
"""States in which newcomers cannot submit anything but can watch the board."""


@dataclass(frozen=True, slots=True)
class CallToAction:
    """A link with the labels ``step_<name>`` and ``step_<name>_link``.

    ``starts_at`` is the start of the next phase if the reader has to wait for it.
    """

    name: str
    path: str
    starts_at: datetime | None = None


def choose_action(frame: Frame, principal: Principal | None, *, is_board_open: bool) -> CallToAction | None:
    """Return the reader's next action, or None for members of a disqualified team."""
    if frame.is_organizer:
        return _choose_organizer_action(frame)
    if frame.team is not None:
        return None if frame.is_disqualified else _choose_team_action(frame)
    if frame.status.state == "closed":
        return CallToAction("over", f"{frame.path}/boards/anonymization")
    if frame.status.state in _WATCHABLE_STATES and is_board_open:
        return CallToAction(f"watch_{frame.status.state}", f"{frame.path}/boards/anonymization")
    return (
        CallToAction("join", "/account")
        if principal
        else CallToAction("visitor", f"/sign-in?to={frame.path}")
    )


def _choose_organizer_action(frame: Frame) -> CallToAction:
    if frame.contest.competition.original_rows is None:
        return CallToAction("data", f"{frame.path}/organize/data")
    return CallToAction("organize", f"{frame.path}/organize")


def _choose_team_action(frame: Frame) -> CallToAction:
    """Return the next action of a team member, which depends on the state of the competition."""
    if frame.status.paused:
        return CallToAction("team_paused", f"{frame.path}/rules")
    page_by_state = {
        "draft": "rules",
        "anonymization": "submissions",
        "settling": "submissions",
        "between": "submissions",
        "reidentification": "targets",
        "closed": "boards/anonymization",
    }
    state = frame.status.state
    return CallToAction(f"team_{state}", f"{frame.path}/{page_by_state[state]}", frame.next_start)
