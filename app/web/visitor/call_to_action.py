"""What the one who looks at a competition can do next: the name of a sentence, and where it leads."""

from dataclasses import dataclass
from datetime import datetime

from app.services.accounts.accounts import Principal
from app.web.site.frame import Frame

TO_WATCH = ("settling", "between", "reidentification")
"""States in which a newcomer has nothing to send, and something to see."""


@dataclass(frozen=True, slots=True)
class Step:
    """The words ``step_<name>`` and ``step_<name>_link``; ``to``: below the competition, or from ``/``.

    ``starts``: when the phase starts that has to be waited for.
    """

    name: str
    to: str
    starts: datetime | None = None


def next_step(frame: Frame, principal: Principal | None, *, board_open: bool) -> Step | None:
    """None for a disqualified team: there is nothing that it could do. ``board_open``: to this reader."""
    if frame.organizer:
        return of_organizer(frame)
    if frame.team is not None:
        return None if frame.disqualified else of_team(frame)
    if frame.standing.state == "closed":
        return Step("over", f"{frame.path}/boards/anonymization")
    if frame.standing.state in TO_WATCH and board_open:
        return Step(f"watch_{frame.standing.state}", f"{frame.path}/boards/anonymization")
    return Step("join", "/account") if principal else Step("visitor", f"/sign-in?to={frame.path}")


def of_organizer(frame: Frame) -> Step:
    if frame.contest.row.original_rows is None:
        return Step("data", f"{frame.path}/organize/data")
    return Step("organize", f"{frame.path}/organize")


def of_team(frame: Frame) -> Step:
    """By where the competition stands."""
    if frame.standing.paused:
        return Step("team_paused", f"{frame.path}/rules")
    places = {
        "draft": "rules",
        "anonymization": "submissions",
        "settling": "submissions",
        "between": "submissions",
        "reidentification": "targets",
        "closed": "boards/anonymization",
    }
    state = frame.standing.state
    return Step(f"team_{state}", f"{frame.path}/{places[state]}", frame.starts)
