"""The pages of the second phase: the list of targets, and a single target with its guesses."""

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup import schemas
from anoncup.errors import DomainError, InvalidUpload, NotFound
from anoncup.rules.model import Rules
from anoncup.runner.jobs import NO_ANSWER, ParsedGuess
from anoncup.schemas import GuessOutcome
from anoncup.tracks.model import AnyQuestion
from app.competitions import phases
from app.competitions.frame import Frame, load_frame
from app.core.db.models import Guess, Opening, Round, State, Target
from app.core.db.transaction import transaction
from app.core.identity.principal import Principal
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other
from app.submissions.receiving import receive_dry_run, receive_upload
from app.submissions.upload_form import (
    UPLOAD_ERRORS,
    classify_problem,
    classify_remarks,
    get_check_status,
    run_upload,
    translate_script_texts,
)
from app.targets import guesses, targets
from app.targets.guesses import GuessUpload

router = APIRouter(route_class=PageRoute)

_MAX_SHOWN_GUESSES = 100
_OVER_STATES = ("settling", "closed")
"""States in which there are targets but no more guesses are accepted."""
_PENDING_STATES = (State.QUEUED, State.SCORING)


@dataclass(frozen=True, slots=True)
class OwnGuess:
    """One of the team's guesses.

    ``outcome`` is None while the competition hides it. ``line_count`` is the number of lines of its file, or
    None if that varies. The last field tells whether its value is the share of correct rows.
    """

    guess: Guess
    outcome: GuessOutcome | None
    line_count: int | None
    is_share_of_rows: bool

    @property
    def refusal(self) -> dict[str, Any]:
        """The template variables of the problems for which the guess was refused; empty for others."""
        error = self.guess.parsed_refusal
        return _list_file_problems(error) if error else {}

    @property
    def is_pending(self) -> bool:
        return self.guess.state in _PENDING_STATES


@dataclass(frozen=True, slots=True)
class TargetQuestion:
    """A question about one target; ``guesses_left`` is None if the team cannot guess."""

    question: AnyQuestion
    guesses_left: int | None
    line_count: int | None

    @property
    def name(self) -> str:
        return self.question.name


@router.get("/competitions/{slug}/targets")
def show_targets(page: RequestedUserPage, slug: str) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
        published_targets = _load_published_targets(session, page.principal, slug)
        own_guesses = (
            _load_own_guesses(session, page.principal, frame) if published_targets is not None else []
        )
    return page.render(
        "targets/targets.html",
        frame=frame,
        targets=published_targets,
        own_guesses=own_guesses[:_MAX_SHOWN_GUESSES],
        more=max(0, len(own_guesses) - _MAX_SHOWN_GUESSES),
        has_pending_guesses=any(guess.is_pending for guess in own_guesses),
        teams={target.id: target.team for target in published_targets or []},
        guide=_build_guide(frame),
    )


def _load_published_targets(session: Session, principal: Principal, slug: str) -> list[schemas.Target] | None:
    try:
        return targets.list_visible(session, principal, slug)
    except NotFound:  # load_frame has found the competition, so only its targets can be missing
        return None


def _load_own_guesses(session: Session, principal: Principal, frame: Frame) -> list[OwnGuess]:
    """Return the guesses of the reader's team, newest first; none for readers without a team."""
    if frame.team is None:
        return []
    rows, horizon = guesses.list_for_team(session, principal, frame.round.address)
    questions = frame.round.track.questions

    def build_own_guess(guess: Guess) -> OwnGuess:
        question, outcome = questions.get(guess.question), guesses.get_visible_result(guess, horizon)
        line_count = _count_lines(question, guess.target, frame.rules) if question else None
        return OwnGuess(
            guess, outcome, line_count, is_share_of_rows=question is not None and question.asks_identity
        )

    return [build_own_guess(row) for row in rows]


def _count_lines(question: AnyQuestion, target: Target, rules: Rules) -> int | None:
    """Return the number of lines of a guess, or None if it varies."""
    minimum, maximum = question.file.row_limits(target.sizes, rules)
    return minimum if minimum == maximum else None


def _list_questions(frame: Frame) -> list[AnyQuestion]:
    """Return the questions of the competition, the default one first."""
    return list(frame.round.track.select_questions(frame.rules).values())


def _build_guide(frame: Frame) -> dict[str, Any]:
    """Return the template variables of the instructions for guesses."""
    questions = _list_questions(frame)
    return {
        "questions": questions,
        "question_groups": [list(group) for _, group in groupby(questions, attrgetter("file"))],
        "counts_rows": all(question.asks_identity for question in questions),
        "is_over": frame.status.state in _OVER_STATES,
        "feedback": frame.rules.publication.feedback,
    }


@router.get("/targets/{target_id}")
def show_target(page: RequestedUserPage, target_id: UUID) -> HTMLResponse:
    return _render_target(page, target_id)


def _render_target(
    page: UserPage, target_id: UUID, problem: DomainError | None = None, question: str | None = None
) -> HTMLResponse:
    """Render a target. ``problem`` is the reason why a guess on ``question`` was rejected."""
    with transaction() as session:
        content = _build_target_content(session, page.principal, target_id)
    content["script_words"] = translate_script_texts(page.t)
    if problem:
        questions = content["target_questions"]
        content["refused_at"] = questions[0].name if len(questions) == 1 else question
        content |= _list_file_problems(problem)
    return page.render("targets/target.html", problem=problem, **content)


def _list_file_problems(problem: DomainError) -> dict[str, Any]:
    """Return the template variables of a guess with an invalid file; none for other problems."""
    if not isinstance(problem, InvalidUpload):
        return {}
    return {"problems": problem.problems, "total": problem.total}


def _build_target_content(session: Session, principal: Principal, target_id: UUID) -> dict[str, Any]:
    target = targets.find_visible(session, principal, target_id)
    slug = session.get_one(Round, target.round_id).address
    frame = load_frame(session, principal, slug)
    visible_target = next(
        candidate for candidate in targets.list_visible(session, principal, slug) if candidate.id == target_id
    )
    own_guesses = [
        guess for guess in _load_own_guesses(session, principal, frame) if guess.guess.target_id == target_id
    ]
    return {
        "frame": frame,
        "target": visible_target,
        "own_guesses": own_guesses,
        "has_pending_guesses": any(own_guess.is_pending for own_guess in own_guesses),
        "titles": {f"{file.name}.csv": file.title for file in frame.round.track.target_files.specs},
        "originals": frame.round.original_rows or 0,
        "salt": session.get_one(Opening, target_id).salt.hex() if frame.round.revealed_at else None,
        "can_guess": _can_guess(frame, visible_target),
        "target_questions": _build_target_questions(frame, target, visible_target.guesses_left_by_question),
        "guide": _build_guide(frame),
        "no_answer": NO_ANSWER,
    }


def _build_target_questions(
    frame: Frame, target: Target, guesses_left: dict[str, int] | None
) -> list[TargetQuestion]:
    return [
        TargetQuestion(
            question=question,
            guesses_left=guesses_left.get(question.name) if guesses_left else None,
            line_count=_count_lines(question, target, frame.rules),
        )
        for question in _list_questions(frame)
    ]


def _can_guess(frame: Frame, visible_target: schemas.Target) -> bool:
    return (
        frame.status.is_open(phases.REIDENTIFICATION)
        and bool(visible_target.guesses_left)
        and not (frame.team and frame.team.disqualified_at)
    )


class FormGuessUpload(GuessUpload):
    """A guess sent with the form, which sends no idempotency key."""

    def accept(self, session: Session, principal: Principal) -> Guess:
        """Accept the guess under a key derived from its content, so that sending it twice counts once."""
        self.key = self.derive_key(session)
        return super().accept(session, principal)


@router.post("/targets/{target_id}/guesses")
async def submit_guess(page: RequestedUserPage, target_id: UUID) -> Response:
    upload = FormGuessUpload(target_id)
    try:
        await run_upload(receive_upload(page.request, page.principal, upload))
    except UPLOAD_ERRORS as error:
        return await run_in_threadpool(_render_target, page, target_id, error, upload.question or None)
    return see_other(f"/targets/{target_id}", notice="guess_submitted")


@router.post("/targets/{target_id}/guesses/check")
async def check_guess(page: RequestedUserPage, target_id: UUID) -> HTMLResponse:
    """Check the chosen file without submitting it. The form's script inserts the response into the page."""
    upload = GuessUpload(target_id)
    try:
        guess = await run_upload(receive_dry_run(page.request, page.principal, upload))
    except UPLOAD_ERRORS as error:
        return await run_in_threadpool(_render_check, page, upload, problem=error)
    return await run_in_threadpool(_render_check, page, upload, guess)


def _render_check(
    page: UserPage,
    upload: GuessUpload,
    guess: ParsedGuess | None = None,
    *,
    problem: DomainError | None = None,
) -> HTMLResponse:
    has_one_form = not upload.question or len(upload.questions) == 1
    warnings = guess.remarks if guess else ()
    response = page.render(
        "targets/guess_checked.html",
        problem=problem,
        id="guess" if has_one_form else f"guess-{upload.question}",
        verdict=classify_problem(problem) if problem else classify_remarks(warnings),
        warnings=warnings,
        summary=page.t.ngettext("{n} row is answered.", "{n} rows are answered.", guess.answered)
        if guess
        else "",
        **(_list_file_problems(problem) if problem else {}),
    )
    if problem:
        response.status_code = get_check_status(problem)
    return response
