"""One submission: its receipt while it waits, and all that was found out about it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.competition.scoring_versions import lacks
from anoncup.rules.model import Rules
from anoncup.tracks.model import Track
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.locale.language import Words
from app.services.boards import standing_forecast
from app.services.boards.standing_forecast import Place
from app.services.boards.submission_attacks import attacks_on
from app.services.contests.visibility import ALWAYS
from app.services.submissions import submissions, summaries
from app.services.submissions.summaries import Summary
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, page
from app.web.team.board_position import board_if_open
from app.web.team.costs import costs_of
from app.web.team.submission_lines import finals_of, lines_of
from app.web.team.submission_pictures import attackers_of, distances_of, strips_of
from app.web.team.verdicts import attacker_lines, limit_of, measure_lines
from app.web.team.weights import what_if

router = APIRouter(route_class=PageRoute)


@router.get("/submissions/{submission_id}")
def submission(request: Request, submission_id: UUID, principal: SignedIn) -> HTMLResponse:
    t = language.words_of(request)
    with transaction() as session:
        found = submissions.visible(session, principal, submission_id)
        frame = frame_of(session, principal, submissions.slug_of(session, found))
        own = frame.team is not None and frame.team.id == found.team_id
        outline = summaries.of_own_team(session, principal, frame.contest.slug) if own else []
        (line,) = lines_of(session, [found])
        result = line.evaluation.found
        sight, board = board_if_open(session, principal, frame.contest.slug)
        shown = result_of(frame, result, board, t) if result else {}
        rivals = attacks_on(session, sight, found.id) if sight else []
        place = standing_forecast.of_submission(session, sight, board, found) if sight and board else None
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
        stands=bool(result and not result.violations and found.disqualified_at is None),
        place=place,
        rivals=rivals,
        what_if=what_if(frame.rules, frame.contest.track, result, request.query_params) if result else None,
        who_fell=who_fell(frame.contest.track, frame.rules) if own and result else None,
        best=stands_for_team(place, outline),
        frozen=sight.view.as_of if sight and sight.view.as_of != ALWAYS else None,
        **shown,
    )


def who_fell(track: Track, rules: Rules) -> str | None:
    """The command by which a team finds out whom attackers found; None where it is not asked who is who."""
    if track.right(rules) is None:
        return None
    originals = (f"--original original/{file.name}.csv" for file in track.original if file.required)
    release = (f"--{name} {name}.csv" for name in track.files)
    secret = f"--secret {track.answers.file.name}.csv"
    return " ".join(
        ["anoncup score --competition competition.toml", *originals, *release, secret, "--fallen fallen.csv"]
    )


def stands_for_team(place: Place | None, outline: Sequence[Summary]) -> UUID | None:
    """Which of its submissions stands on the board for the team, where another one does."""
    if place is None or place.stands or place.best is None:
        return None
    return next((one.id for one in outline if one.received_at == place.best.received_at), None)


def result_of(frame: Frame, result: schemas.Verdict, board: schemas.Board | None, t: Words) -> dict[str, Any]:
    """The verdict in lines and pictures, by the rules in force."""
    rules = frame.rules
    measures = measure_lines(rules, frame.contest.track, result, board)
    attackers = attacker_lines(rules, result)
    limit = limit_of(rules, result)
    return {
        "measures": measures,
        "strips": strips_of(measures, t),
        "attackers": attackers,
        "details": list(dict.fromkeys(part for one in attackers for part in one.entry.details or ())),
        "costs": costs_of(measures, attackers, result),
        "rates": attackers_of(attackers, t),
        "limit": limit,
        "distances": distances_of(result, limit, t),
    }
