"""What the set-up pages of a competition share: its state, their rendering, and saving a new file."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse

from anoncup.competition.drafts import WEIGHT_REMOVED
from anoncup.errors import (
    Conflict,
    DomainError,
    FileProblem,
    Forbidden,
    InvalidUpload,
    TooManyRequests,
    WrongCredential,
)
from app.boards import standing_updates
from app.competitions import competitions, phases, revisions
from app.competitions.frame import Frame
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.competitions.revisions import Revision
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.core.http.problems import get_status
from app.core.identity.principal import STEP_UP_CODES, Principal
from app.core.pages.pages import Page, see_other, translate_error
from app.rescoring import rescores

FORM_ERRORS = (Conflict, InvalidUpload, Forbidden, TooManyRequests, WrongCredential)
"""Errors that a form can show, besides an invalid competition file."""
_MAX_EXAMPLES = 3
"""Maximum number of examples of the same problem in the same column."""


@dataclass(frozen=True, slots=True)
class SetupContext:
    """The state of the set-up, which all of its pages show.

    ``has_submissions`` is about the round, ``has_any_submission`` about all rounds. Once a competition has
    submissions, its judging rules only change through a rescore, and other changes require the password. Once
    one of its rounds has begun, shortening a phase does. An open rescore blocks all other changes.
    """

    page: OrganizerPage
    frame: Frame
    has_submissions: bool
    has_any_submission: bool
    has_begun: bool
    open_rescore_id: UUID | None

    @property
    def can_edit_threshold(self) -> bool:
        """Whether the common rule of all rounds can be changed: not if the round shown has one of its own."""
        round_ = self.frame.round
        return not round_.name or "excessive" not in round_.settings.own_tables


@dataclass(frozen=True, slots=True)
class FormRejection:
    """A rejected form with its message in the reader's language."""

    sentence: str
    status: int
    problem: DomainError

    @property
    def invalid_upload(self) -> InvalidUpload | None:
        return self.problem if isinstance(self.problem, InvalidUpload) else None

    @property
    def examples(self) -> tuple[FileProblem, ...]:
        """The first problems of each kind in each column of an invalid file."""
        counts: Counter[tuple[str, str | None]] = Counter()
        examples = []
        for file_problem in self.invalid_upload.problems if self.invalid_upload else ():
            counts[file_problem.code, file_problem.column] += 1
            if counts[file_problem.code, file_problem.column] <= _MAX_EXAMPLES:
                examples.append(file_problem)
        return tuple(examples)


def load_setup_context(session: Session, page: OrganizerPage) -> SetupContext:
    frame = page.load_frame(session)
    has_submissions = competitions.has_submissions(session, frame.round.id)
    open_rescore = revisions.find_open_rescore(session, frame.round.id)
    rounds = frame.round.competition.rounds
    has_begun = any(phases.has_contest_begun(session, round_) for round_ in rounds)
    open_rescore_id = open_rescore.id if open_rescore else None
    has_any_submission = competitions.has_any_submission(session, frame.round.competition)
    return SetupContext(page, frame, has_submissions, has_any_submission, has_begun, open_rescore_id)


def _load_requested_setup(page: RequestedOrganizerPage) -> SetupContext:
    with transaction() as session:
        return load_setup_context(session, page)


RequestedSetup = Annotated[SetupContext, Depends(_load_requested_setup)]


def render_setup(
    context: SetupContext, template: str, *, problem: DomainError | None = None, **content: Any
) -> HTMLResponse:
    rejection = describe_rejection(context.page, problem) if problem else None
    status = rejection.status if rejection else 422 if content.get("errors") else 200
    return context.page.render(
        template, frame=context.frame, setup=context, rejection=rejection, **({"status": status} | content)
    )


def describe_rejection(page: Page, problem: DomainError) -> FormRejection:
    reason = page.t.label(f"invalid_{problem.code}", "") or translate_error(problem, page.t)
    return FormRejection(reason, get_status(problem), problem)


def require_form_error(problem: DomainError) -> DomainError:
    """Return the error if a form can show it; raise it if the action is not allowed at all."""
    if isinstance(problem, Forbidden) and problem.code not in STEP_UP_CODES:
        raise problem
    return problem


def apply_or_rescore(
    principal: Principal, slug: str, build_revision: Callable[[Round], Revision], *, page_name: str
) -> RedirectResponse:
    """Apply a revision. If it changes the scores of existing submissions, begin a rescore instead."""
    with transaction() as session:
        round_ = competitions.find_for_organizer(session, principal, slug)
        has_submissions = competitions.has_submissions(session, round_.id)
    revision = build_revision(round_)
    with transaction() as session:
        if has_submissions and changes_scores(round_, revision):
            rescores.begin(session, principal, slug, revision)
            return see_other(f"/competitions/{slug}/organize/rescores", notice="new_rules_scored")
        round_ = revisions.apply_revision(session, principal, slug, revision)
        standing_updates.refresh_all_rounds(session, round_.competition)
    were_weights_removed = any(remark.code == WEIGHT_REMOVED for remark in revision.remarks)
    notice = "weights_taken" if were_weights_removed else "setup_saved"
    return see_other(f"/competitions/{slug}/organize/{page_name}", notice=notice)


def changes_scores(round_: Round, revision: Revision) -> bool:
    old_key = revisions.build_scoring_key(round_.rules, round_.scales)
    new = revision.find_round(round_)
    return new is not None and old_key != revisions.build_scoring_key(new.rules, new.scales)
