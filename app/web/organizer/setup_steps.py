"""The steps of setting up a competition: their state, their pages, and saving them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from anoncup.competition.drafts import DRAFT_SOURCES, create_draft
from anoncup.competition.parser import parse_rounds
from anoncup.errors import (
    Conflict,
    DomainError,
    FileProblem,
    Forbidden,
    InvalidCompetition,
    InvalidUpload,
    TooManyRequests,
    WrongCredential,
)
from anoncup.messages import N_
from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Publication, Ranking
from app.db.transaction import transaction
from app.http.problems import get_status
from app.services.accounts.principal import STEP_UP_CODES, Principal
from app.services.contests import competitions, phases, revisions, sealed_inputs
from app.services.contests.contest import Contest
from app.services.contests.revisions import Revision
from app.services.organizing import rescores
from app.services.originals import original_import
from app.services.teams import invites
from app.web.organizer.forms import ParsedForm
from app.web.organizer.frame import OrganizerPage, RequestedOrganizerPage
from app.web.site.frame import Frame
from app.web.site.pages import Page, see_other, translate_error

FORM_ERRORS = (Conflict, InvalidUpload, Forbidden, TooManyRequests, WrongCredential)
"""Errors that a form can show, besides an invalid competition file."""
_MAX_EXAMPLES = 3
"""Maximum number of examples of the same problem in the same column."""
SAVED_BY_ANOTHER = N_(
    "other values have been saved here since you opened this page: open it in another tab to see them; "
    "saving again replaces them"
)


@dataclass(frozen=True, slots=True)
class SetupStep:
    """A setup step. Its state is ``default`` if it is complete but has the values of a new competition."""

    name: str
    path: str
    state: Literal["done", "default", "missing"]


@dataclass(frozen=True, slots=True)
class SetupContext:
    """The state of the setup, which every step's page shows.

    Once a competition has submissions, its judging rules only change through a rescore. Once one of its
    rounds has begun, shortening a phase requires the password. An open rescore blocks all other changes.
    """

    page: OrganizerPage
    frame: Frame
    steps: tuple[SetupStep, ...]
    has_submissions: bool
    has_begun: bool
    open_rescore_id: UUID | None

    @property
    def missing_steps(self) -> tuple[SetupStep, ...]:
        return tuple(step for step in self.steps if step.state == "missing")

    def can_edit(self, step_name: str) -> bool:
        """Return whether the form of a step can be used.

        Forms change the common rules of all rounds. They cannot be used for phases, which each round has of
        its own, or for tables in which the round shown differs from the common rules.
        """
        contest = self.frame.contest
        if not contest.round.name:
            return True
        tables = _TABLES_BY_STEP.get(step_name, ())
        return step_name != "basics" and contest.settings.own_tables.isdisjoint(tables)

    def compute_fingerprint(self, step_name: str) -> str:
        """Return the fingerprint of the values that a step's form shows.

        The form sends it back, so that changes made by others in the meantime are noticed.
        """
        return _compute_fingerprint(self.frame.rules, step_name)

    def get_step_state(self, name: str) -> str:
        return next((step.state for step in self.steps if step.name == name), "")

    def leads_to_next(self, step_name: str) -> bool:
        """Return whether saving a step leads to the next one.

        It does while the setup is editable. Saving the measures does so only if the data step is done.
        """
        is_editable = not (self.has_submissions or self.open_rescore_id)
        return (
            is_editable
            and self.find_following_step(step_name) is not None
            and (step_name != "measures" or self.get_step_state("data") == "done")
        )

    def choose_next_step_name(self, form: ParsedForm, step_name: str) -> str:
        """Return the name of the step to show after saving: the next one if the form asks for it."""
        next_step = self.find_following_step(step_name) if form.is_checked("onward") else None
        return next_step.name if next_step else step_name

    def find_following_step(self, step_name: str) -> SetupStep | None:
        """Return the step after the named one, in any state, or None after the last one."""
        names = [step.name for step in self.steps]
        return next(iter(self.steps[names.index(step_name) + 1 :]), None) if step_name in names else None


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
    has_invited = invites.has_teams_or_invites(session, frame.contest.id)
    has_submissions = competitions.has_submissions(session, frame.contest.round.id)
    open_rescore = revisions.find_open_rescore(session, frame.contest.round.id)
    rounds = frame.contest.competition.rounds
    has_begun = any(phases.has_contest_begun(session, round_) for round_ in rounds)
    missing_inputs = sealed_inputs.list_missing_files(session, frame.contest.round)
    steps = _build_steps(frame, has_invited=has_invited, lacks_inputs=bool(missing_inputs))
    open_rescore_id = open_rescore.id if open_rescore else None
    return SetupContext(page, frame, steps, has_submissions, has_begun, open_rescore_id)


def _load_requested_setup(page: RequestedOrganizerPage) -> SetupContext:
    with transaction() as session:
        return load_setup_context(session, page)


RequestedSetup = Annotated[SetupContext, Depends(_load_requested_setup)]


def _build_steps(frame: Frame, *, has_invited: bool, lacks_inputs: bool) -> tuple[SetupStep, ...]:
    rules, has_data = frame.rules, frame.contest.round.original_rows is not None
    done_by_step = {
        "basics": bool(rules.phases),
        "data": has_data and not lacks_inputs,
        "measures": has_data and bool(rules.weights),
        **({} if rules.excessive is None else {"threshold": rules.threshold is not None}),
        "publication": True,
        "teams": has_invited,
    }
    default_by_step = {
        "measures": rules.weights in _list_draft_weights(rules.track),
        "publication": _get_publication_settings(rules) == _DEFAULT_PUBLICATION,
    }

    def get_state(name: str) -> Literal["done", "default", "missing"]:
        if not done_by_step[name]:
            return "missing"
        return "default" if default_by_step.get(name) else "done"

    return tuple(SetupStep(name, f"{frame.path}/organize/{name}", get_state(name)) for name in done_by_step)


@cache
def _list_draft_weights(track: str) -> tuple[dict[str, float], ...]:
    """Return the weights of all drafts of a track."""
    drafts = [rules for start in DRAFT_SOURCES for rules in parse_rounds(create_draft(start)).values()]
    return tuple(rules.weights for rules in drafts if rules.track == track)


def _get_publication_settings(rules: Rules) -> tuple[Publication, Ranking, Limits]:
    """Return the settings of the publication step. ``min_rows_kept`` belongs to the measures step."""
    limits = replace(rules.limits, min_rows_kept=Limits().min_rows_kept)
    return rules.publication, rules.ranking, limits


_DEFAULT_PUBLICATION = Publication(), Ranking(), Limits()
"""Settings of a new competition."""
_SHOWN_VALUES: dict[str, Callable[[Rules], object]] = {
    "basics": lambda rules: (rules.title, rules.timezone, rules.phases),
    "measures": lambda rules: (rules.measures, rules.attackers, rules.questions, rules.limits.min_rows_kept),
    "threshold": lambda rules: rules.excessive,
    "publication": _get_publication_settings,
}
"""Functions that return the values shown in each step's form."""
_TABLES_BY_STEP = {
    "measures": ("measures", "attackers", "questions", "limits"),
    "threshold": ("excessive",),
    "publication": ("publication", "ranking", "limits"),
}
"""The tables of the competition file that each step's form writes, of those that a round may change."""


def render_step(
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


def save_step(
    context: SetupContext,
    form: ParsedForm,
    write_file: Callable[[Contest], str],
    render: Callable[[DomainError | None], HTMLResponse],
    *,
    step_name: str,
) -> Response:
    """Save the file that ``write_file`` makes from the present one, and redirect.

    If the form has errors or is rejected, render it again with the problem. A form that cannot be used for
    this round is not shown, so whoever sends it is led to its page.
    """

    def build_revision(contest: Contest) -> Revision:
        fingerprint = form.text("of")  # of the values that the form showed
        if fingerprint and fingerprint != _compute_fingerprint(contest.rules, step_name):
            raise Conflict(SAVED_BY_ANOTHER, code="changed_meanwhile")
        return revisions.compute_file_revision(contest, write_file(contest))

    if not context.can_edit(step_name):
        return see_other(f"{context.page.path}/{step_name}")
    if form.errors:
        return render(None)
    try:
        organizer = context.page.reauthenticate(form.secret("password"))
        next_step_name = context.choose_next_step_name(form, step_name)
        return apply_or_rescore(organizer, context.page.slug, build_revision, step_name=next_step_name)
    except (*FORM_ERRORS, InvalidCompetition) as problem:
        return render(require_form_error(problem))


def _compute_fingerprint(rules: Rules, step_name: str) -> str:
    """Return a hash of the values that a step's form shows."""
    return competitions.compute_text_digest(repr(_SHOWN_VALUES[step_name](rules)))


def require_form_error(problem: DomainError) -> DomainError:
    """Return the error if a form can show it; raise it if the action is not allowed at all."""
    if isinstance(problem, Forbidden) and problem.code not in STEP_UP_CODES:
        raise problem
    return problem


def apply_or_rescore(
    principal: Principal, slug: str, build_revision: Callable[[Contest], Revision], *, step_name: str
) -> RedirectResponse:
    """Apply a revision. If it changes the scores of existing submissions, begin a rescore instead."""
    with transaction() as session:
        contest = competitions.find_for_organizer(session, principal, slug)
        has_submissions = competitions.has_submissions(session, contest.round.id)
    revision = build_revision(contest)
    with transaction() as session:
        if has_submissions and changes_scores(contest, revision):
            rescores.begin(session, principal, slug, revision)
            return see_other(f"/competitions/{slug}/organize/rescores", notice="new_rules_scored")
        revisions.apply_revision(session, principal, slug, revision)
    were_weights_removed = any(remark.code == original_import.WEIGHT_REMOVED for remark in revision.remarks)
    notice = "weights_taken" if were_weights_removed else "setup_saved"
    return see_other(f"/competitions/{slug}/organize/{step_name}", notice=notice)


def changes_scores(contest: Contest, revision: Revision) -> bool:
    old_key = revisions.build_scoring_key(contest.rules, contest.round.scales)
    new = revision.find_round(contest.round)
    return new is not None and old_key != revisions.build_scoring_key(new.rules, new.scales)
