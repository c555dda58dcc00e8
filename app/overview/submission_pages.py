"""The page of a submission: its progress, then its results."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.competition.required_packages import find_changed_package, is_unsupported
from app.competitions.frame import Frame, load_frame
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedUserPage
from app.submissions import submissions
from app.submissions.charts import draw_distances
from app.submissions.verdict_parts import (
    build_attacker_lines,
    build_measure_lines,
    compare_with_threshold,
)

router = APIRouter(route_class=PageRoute)


@router.get("/submissions/{submission_id}")
def show_submission(page: RequestedUserPage, submission_id: UUID) -> HTMLResponse:
    with transaction() as session:
        submission = submissions.find_visible(session, page.principal, submission_id)
        frame = load_frame(session, page.principal, submissions.get_competition_slug(session, submission))
        t = adapt_to_track(page.t, frame.round.track.name)
        is_own = frame.team is not None and frame.team.id == submission.team_id
        own_summaries = (
            submissions.list_summaries(session, page.principal, frame.round.address) if is_own else []
        )
        (line,) = submissions.build_lines(session, [submission])
        verdict = line.evaluation.parsed_verdict
        content = _build_result_content(frame, verdict, t) if verdict else {}
    response = page.render(
        "overview/submission.html",
        frame=frame,
        submission=submission,
        sealed=frame.round.track.target_files.seals_release,
        line=line,
        own=is_own,
        finals=submissions.summarize_finals(frame, own_summaries),
        changed_package=find_changed_package(frame.rules) if line.is_unfinished else None,
        waits_for_rules=line.is_unfinished and is_unsupported(frame.rules),
        result=verdict,
        stands=bool(verdict and not verdict.violations and submission.disqualified_at is None),
        **content,
    )
    if "HX-Request" in page.request.headers and not line.is_unfinished:
        response.headers["HX-Refresh"] = "true"
    return response


def _build_result_content(frame: Frame, verdict: schemas.Verdict, t: Translator) -> dict[str, Any]:
    """Return the verdict under the current rules as table lines and charts, for the template."""
    rules = frame.rules
    attackers = build_attacker_lines(rules, verdict)
    comparison = compare_with_threshold(rules, verdict)
    return {
        "measures": build_measure_lines(rules, frame.round.track, verdict),
        "attackers": attackers,
        "details": list(dict.fromkeys(part for line in attackers for part in line.entry.details or ())),
        "limit": comparison,
        "distances": draw_distances(verdict.excessive, comparison, t)
        if comparison and verdict.excessive
        else None,
    }
