"""The page of a submission: its progress, then its results."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.competition.scoring_versions import is_unsupported
from anoncup.rules.model import Rules
from anoncup.tracks.model import Track
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal
from app.locale.language import Translator
from app.services.boards import matrix, standing_forecast
from app.services.boards.standing_forecast import SubmissionPosition
from app.services.contests.visibility import UNFROZEN
from app.services.submissions import submissions, summaries
from app.services.submissions.summaries import SubmissionSummary
from app.web.site import language
from app.web.site.frame import Frame, load_frame
from app.web.site.pages import PageRoute, render_page
from app.web.team.board_position import load_board_if_open
from app.web.team.costs import summarize_costs
from app.web.team.submission_lines import build_lines, summarize_finals
from app.web.team.submission_pictures import draw_attackers, draw_distances, draw_strips
from app.web.team.verdicts import build_attacker_lines, build_measure_lines, compare_with_threshold
from app.web.team.weights import compute_what_if

router = APIRouter(route_class=PageRoute)


@router.get("/submissions/{submission_id}")
def show_submission(request: Request, submission_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    t = language.negotiate_translator(request)
    with transaction() as session:
        submission = submissions.find_visible(session, principal, submission_id)
        frame = load_frame(session, principal, submissions.get_competition_slug(session, submission))
        is_own = frame.team is not None and frame.team.id == submission.team_id
        own_summaries = summaries.list_summaries(session, principal, frame.contest.slug) if is_own else []
        (line,) = build_lines(session, [submission])
        verdict = line.evaluation.parsed_verdict
        access, board = load_board_if_open(session, principal, frame.contest.slug)
        content = _build_result_content(frame, verdict, board, t) if verdict else {}
        rival_attacks = matrix.list_attacks(session, access, submission.id) if access else []
        forecast = (
            standing_forecast.forecast_position(session, access, board, submission)
            if access and board
            else None
        )
    return render_page(
        request,
        principal,
        "team/submission.html",
        frame=frame,
        submission=submission,
        sealed=frame.contest.track.seals_release,
        line=line,
        own=is_own,
        finals=summarize_finals(frame, own_summaries),
        waits_for_rules=line.is_unfinished and is_unsupported(frame.rules),
        result=verdict,
        stands=bool(verdict and not verdict.violations and submission.disqualified_at is None),
        place=forecast,
        rivals=rival_attacks,
        what_if=compute_what_if(frame.rules, frame.contest.track, verdict, request.query_params)
        if verdict
        else None,
        who_fell=build_reidentified_command(frame.contest.track, frame.rules) if is_own and verdict else None,
        best=_find_board_submission(forecast, own_summaries),
        frozen=access.scope.as_of if access and access.scope.as_of != UNFROZEN else None,
        **content,
    )


def build_reidentified_command(track: Track, rules: Rules) -> str | None:
    """Return the command that lists the re-identified individuals, or None if nobody can be identified."""
    if track.select_hit_probabilities(rules) is None:
        return None
    original_options = (
        f"--original original/{file.name}.csv" for file in track.original_files if file.required
    )
    release_options = (f"--{name} {name}.csv" for name in track.release_file_names)
    secret_option = f"--secret {track.answer_spec.file.name}.csv"
    return " ".join(
        [
            "anoncup score --competition competition.toml",
            *original_options,
            *release_options,
            secret_option,
            "--reidentified reidentified.csv",
        ]
    )


def _find_board_submission(
    forecast: SubmissionPosition | None, own_summaries: Sequence[SubmissionSummary]
) -> UUID | None:
    """Return the id of the submission that represents the team on the board, if it is not this one."""
    if forecast is None or forecast.is_on_board or forecast.team_row is None:
        return None
    return next(
        (summary.id for summary in own_summaries if summary.received_at == forecast.team_row.received_at),
        None,
    )


def _build_result_content(
    frame: Frame, verdict: schemas.Verdict, board: schemas.Board | None, t: Translator
) -> dict[str, Any]:
    """Return the verdict under the current rules as table lines and charts, for the template."""
    rules = frame.rules
    measures = build_measure_lines(rules, frame.contest.track, verdict, board)
    attackers = build_attacker_lines(rules, verdict)
    comparison = compare_with_threshold(rules, verdict)
    return {
        "measures": measures,
        "strips": draw_strips(measures, t),
        "attackers": attackers,
        "details": list(dict.fromkeys(part for line in attackers for part in line.entry.details or ())),
        "costs": summarize_costs(measures, attackers, verdict),
        "rates": draw_attackers(attackers, t),
        "limit": comparison,
        "distances": draw_distances(verdict, comparison, t),
    }
