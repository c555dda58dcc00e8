"""The page of a submission: its progress, then its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.competition.required_packages import find_changed_package, is_unsupported
from app.boards import anonymization, matrix
from app.competitions import visibility
from app.competitions.frame import Frame, load_frame
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedUserPage
from app.submissions import submissions
from app.submissions.charts import draw_distances
from app.submissions.verdict_parts import (
    AttackerLine,
    MeasureLine,
    build_attacker_lines,
    build_measure_lines,
    compare_with_threshold,
)

router = APIRouter(route_class=PageRoute)
_EVERYBODY_FOUND_RATE = 0.9995
"""Attackers with at least this rate are said to find everybody."""


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The largest costs of a release.

    ``dominant`` tells whether risk or utility loss is larger. ``attackers`` are those that determine the
    risk. ``measure`` contributes most to the utility loss; it is None if nothing is lost.
    ``finds_everybody`` means that the risk is (almost) 1.
    """

    dominant: Literal["risk", "utility", "both", "nothing"]
    attackers: tuple[AttackerLine, ...]
    measure: MeasureLine | None
    finds_everybody: bool


@router.get("/submissions/{submission_id}")
def show_submission(page: RequestedUserPage, submission_id: UUID) -> HTMLResponse:
    with transaction() as session:
        submission = submissions.find_visible(session, page.principal, submission_id)
        frame = load_frame(session, page.principal, submissions.get_competition_slug(session, submission))
        t = adapt_to_track(page.t, frame.contest.track.name)
        is_own = frame.team is not None and frame.team.id == submission.team_id
        own_summaries = (
            submissions.list_summaries(session, page.principal, frame.contest.address) if is_own else []
        )
        (line,) = submissions.build_lines(session, [submission])
        verdict = line.evaluation.parsed_verdict
        access = visibility.find_board_access(session, page.principal, frame.contest.address)
        board = anonymization.build_board(session, access) if access and verdict else None
        content = _build_result_content(frame, verdict, board, t) if verdict else {}
        rival_attacks = matrix.list_attacks(session, access, submission.id) if access else []
    response = page.render(
        "overview/submission.html",
        frame=frame,
        submission=submission,
        sealed=frame.contest.track.target_files.seals_release,
        line=line,
        own=is_own,
        finals=submissions.summarize_finals(frame, own_summaries),
        changed_package=find_changed_package(frame.rules) if line.is_unfinished else None,
        waits_for_rules=line.is_unfinished and is_unsupported(frame.rules),
        result=verdict,
        stands=bool(verdict and not verdict.violations and submission.disqualified_at is None),
        rivals=rival_attacks,
        **content,
    )
    if "HX-Request" in page.request.headers and not line.is_unfinished:
        response.headers["HX-Refresh"] = "true"
    return response


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
        "attackers": attackers,
        "details": list(dict.fromkeys(part for line in attackers for part in line.entry.details or ())),
        "costs": summarize_costs(measures, attackers, verdict),
        "limit": comparison,
        "distances": draw_distances(verdict.excessive, comparison, t)
        if comparison and verdict.excessive
        else None,
    }


def summarize_costs(
    measures: Sequence[MeasureLine], attackers: Sequence[AttackerLine], verdict: schemas.Verdict
) -> CostSummary:
    risk, loss = verdict.security, verdict.utility
    contributing = [line for line in measures if line.contribution]
    return CostSummary(
        dominant=_compare_costs(risk, loss),
        attackers=tuple(line for line in attackers if line.is_decisive) if risk else (),
        measure=max(contributing, key=lambda line: line.contribution or 0.0, default=None),
        finds_everybody=risk >= _EVERYBODY_FOUND_RATE,
    )


def _compare_costs(risk: float, loss: float) -> Literal["risk", "utility", "both", "nothing"]:
    if risk == loss:
        return "both" if risk else "nothing"
    return "risk" if risk > loss else "utility"
