"""One submission: its receipt while it waits, and all that was found out about it."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app import wire
from app.errors import NotAllowed
from app.http.dependencies import SignedIn
from app.language import Words
from app.scoring.counted import lacks
from app.services.boards import anonymization
from app.services.contest import visibility
from app.services.people.accounts import Principal
from app.services.submissions import submissions, summaries
from app.transaction import transaction
from app.web.site import languages
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, page
from app.web.team.costs import costs_of
from app.web.team.submission_lines import finals_of, lines_of
from app.web.team.submission_pictures import attackers_of, distances_of, strips_of
from app.web.team.verdicts import attacker_lines, limit_of, measure_lines

router = APIRouter(route_class=PageRoute)


@router.get("/submissions/{submission_id}")
def submission(request: Request, submission_id: UUID, principal: SignedIn) -> HTMLResponse:
    t = languages.words_of(request)
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        frame = frame_of(session, principal, submissions.slug_of(session, found))
        own = frame.team is not None and frame.team.id == found.team_id
        outline = summaries.of_own_team(session, principal, frame.contest.slug) if own else []
        (line,) = lines_of(session, [found])
        result = line.evaluation.found
        shown = result_of(session, principal, frame, result, t) if result else {}
    return page(
        request,
        principal,
        "team/submission.html",
        frame=frame,
        submission=found,
        sealed=frame.contest.track.seals_release,
        line=line,
        own=own,
        finals=finals_of(frame, outline),
        waits_for_rules=line.unfinished and lacks(frame.rules),
        result=result,
        **shown,
    )


def result_of(
    session: Session, principal: Principal, frame: Frame, result: wire.Verdict, t: Words
) -> dict[str, Any]:
    """The verdict in lines and pictures, by the rules in force."""
    rules = frame.rules
    board = board_if_open(session, principal, frame.contest.slug)
    measures = measure_lines(rules, frame.contest.track, result, board)
    attackers = attacker_lines(rules, result)
    limit = limit_of(rules, result)
    return {
        "measures": measures,
        "strips": strips_of(measures, t),
        "attackers": attackers,
        "details": list(dict.fromkeys(part for one in attackers for part in one.entry.details or ())),
        "costs": costs_of(measures, attackers, result),
        "rates": attackers_of(attackers, t, counted=frame.contest.track.counts(rules)),
        "limit": limit,
        "distances": distances_of(result, limit, t),
    }


def board_if_open(session: Session, principal: Principal, slug: str) -> wire.Board | None:
    """What this person may compare a release with; None while the board is closed to them."""
    try:
        return anonymization.board(session, visibility.boards(session, principal, slug))
    except NotAllowed:
        return None
