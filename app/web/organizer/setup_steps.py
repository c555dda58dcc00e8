"""The steps of setting up a competition: what is done, what is missing, how a change is put in force."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal
from uuid import UUID

from fastapi import Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse

from anoncup.competition.drafts import STARTS, draft
from anoncup.competition.parser import parse_competition
from anoncup.errors import (
    Conflict,
    DomainError,
    InvalidCompetition,
    InvalidUpload,
    NotAllowed,
    Problem,
    TooMany,
    WrongCredential,
)
from anoncup.messages import N_
from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Publication, Ranking
from app.db.transaction import transaction
from app.http.problems import status_of
from app.services.accounts.accounts import UNCONFIRMED, Principal
from app.services.contests import competitions, phases, revisions, sealed_inputs
from app.services.contests.contest import Contest, read_file
from app.services.contests.revisions import Revision
from app.services.organizing import rejudgings
from app.services.originals import originals
from app.services.teams import invites
from app.web.organizer.forms import Sent
from app.web.organizer.frame import organizers_frame
from app.web.site import language
from app.web.site.frame import Frame
from app.web.site.pages import page, see, sentence_of

REFUSED = (Conflict, InvalidUpload, NotAllowed, TooMany, WrongCredential)
"""What may be wrong with a change besides the file itself."""
EXAMPLES = 3
"""How many of the same problem in the same column are shown."""
SAVED_BY_ANOTHER = N_(
    "other values have been saved here since you opened this page: open it in another tab to see them; "
    "saving again replaces them"
)


@dataclass(frozen=True, slots=True)
class Step:
    """``state``: default is a step that could stay as it began, and has."""

    name: str
    path: str
    state: Literal["done", "default", "missing"]


@dataclass(frozen=True, slots=True)
class Desk:
    """What every step's page shows. ``judged``: somebody has submitted, so what is measured stands;
    ``begun``: an end that moves nearer needs the password; ``open_set``: the re-score set that holds every
    other change back."""

    frame: Frame
    steps: tuple[Step, ...]
    judged: bool
    begun: bool
    open_set: UUID | None

    @property
    def missing(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.state == "missing")

    def of(self, place: str) -> str:
        """What a step's form was filled from: it is sent along, and says whether that has changed since."""
        return mark(self.frame.rules, place)

    def state(self, name: str) -> str:
        return next((step.state for step in self.steps if step.name == name), "")

    def leads_on(self, place: str) -> bool:
        """Whether the form of a step is saved on the way to the next: while it is being set up, and once
        what it is about is there."""
        still = not (self.judged or self.open_set)
        return (
            still and self.after(place) is not None and (place != "measures" or self.state("data") == "done")
        )

    def onward(self, form: Sent, place: str) -> str:
        """The step that a form leads to once it is saved: its own, or the next."""
        following = self.after(place) if form.flag("onward") else None
        return following.name if following else place

    def after(self, place: str) -> Step | None:
        """The step that follows in the order of the list, whatever its state; None after the last."""
        names = [step.name for step in self.steps]
        return next(iter(self.steps[names.index(place) + 1 :]), None) if place in names else None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a form was refused: a sentence in the reader's language."""

    sentence: str
    status: int
    problem: DomainError

    @property
    def malformed(self) -> InvalidUpload | None:
        return self.problem if isinstance(self.problem, InvalidUpload) else None

    @property
    def examples(self) -> tuple[Problem, ...]:
        """Of what is wrong in a file the first few of each kind in each column."""
        kinds: Counter[tuple[str, str | None]] = Counter()
        found = []
        for one in self.malformed.problems if self.malformed else ():
            kinds[one.code, one.column] += 1
            if kinds[one.code, one.column] <= EXAMPLES:
                found.append(one)
        return tuple(found)


def desk_of(session: Session, principal: Principal, slug: str) -> Desk:
    frame = organizers_frame(session, principal, slug)
    invited = invites.teams_invited(session, frame.contest.id)
    judged = competitions.has_submissions(session, frame.contest.id)
    rescore = revisions.open_rescore(session, frame.contest.id)
    begun = phases.has_begun(session, frame.contest.row)
    lacking = sealed_inputs.lacking(session, frame.contest.row)
    steps = steps_of(frame, invited=invited, lacking=bool(lacking))
    return Desk(frame, steps, judged, begun, rescore.id if rescore else None)


def steps_of(frame: Frame, *, invited: bool, lacking: bool) -> tuple[Step, ...]:
    rules, has_data = frame.rules, frame.contest.row.original_rows is not None
    done = {
        "basics": bool(rules.phases),
        "data": has_data and not lacking,
        "measures": has_data and bool(rules.weights),
        **({} if rules.excessive is None else {"threshold": rules.threshold is not None}),
        "publication": True,
        "teams": invited,
    }
    untouched = {
        "measures": rules.weights in usual_weights(rules.track),
        "publication": publication_of(rules) == PUBLICATION,
    }

    def state(name: str) -> Literal["done", "default", "missing"]:
        if not done[name]:
            return "missing"
        return "default" if untouched.get(name) else "done"

    return tuple(Step(name, f"{frame.path}/organize/{name}", state(name)) for name in done)


@cache
def usual_weights(track: str) -> tuple[dict[str, float], ...]:
    """The weights that drafts of a track begin with."""
    drafts = [parse_competition(draft(start)) for start in STARTS]
    return tuple(one.weights for one in drafts if one.track == track)


def publication_of(rules: Rules) -> tuple[Publication, Ranking, Limits]:
    """All that the step of publication sets; the rows to be kept are set with the measures."""
    limits = replace(rules.limits, min_rows_kept=Limits().min_rows_kept)
    return rules.publication, rules.ranking, limits


PUBLICATION = Publication(), Ranking(), Limits()
"""What a competition begins with."""
FILLED_FROM: dict[str, Callable[[Rules], object]] = {
    "basics": lambda rules: (rules.title, rules.timezone, rules.phases),
    "measures": lambda rules: (rules.measures, rules.attackers, rules.questions, rules.limits.min_rows_kept),
    "threshold": lambda rules: rules.excessive,
    "publication": publication_of,
}
"""What the form of each step shows of the rules."""


def step_page(
    request: Request,
    principal: Principal,
    template: str,
    desk: Desk,
    *,
    problem: DomainError | None = None,
    **content: Any,
) -> HTMLResponse:
    refused = refusal(request, problem) if problem else None
    status = refused.status if refused else 422 if content.get("wrong") else 200
    return page(
        request,
        principal,
        template,
        frame=desk.frame,
        desk=desk,
        refused=refused,
        **({"status": status} | content),
    )


def refusal(request: Request, problem: DomainError) -> Refused:
    t = language.words_of(request)
    why = t.label(f"invalid_{problem.code}", "") or sentence_of(problem, t)
    return Refused(why, status_of(problem), problem)


def saved(
    principal: Principal,
    slug: str,
    written: Callable[[Contest], str],
    *,
    back: str,
    of: str = "",
    to: str = "",
    sure: Callable[[], Principal] | None = None,
) -> RedirectResponse | DomainError:
    """Put the file that ``written`` makes of the present one in force, or say what refuses it.

    ``of``: the mark of what the form was filled from; "": it was not said. ``to``: the step that is shown
    then, if it is another. ``sure``: checks the password that was sent along, where a change may need it.
    """

    def made(contest: Contest) -> Revision:
        if of and of != mark(contest.rules, back):
            raise Conflict(SAVED_BY_ANOTHER, code="changed_meanwhile")
        return revisions.revision_of_file(contest, written(contest))

    try:
        return put_in_force(sure() if sure else principal, slug, made, back=to or back)
    except (*REFUSED, InvalidCompetition) as problem:
        return refused(problem)


def mark(rules: Rules, place: str) -> str:
    """Tells one state of what a step's form is filled from from another."""
    return competitions.sha256_of(repr(FILLED_FROM[place](rules)))


def refused(problem: DomainError) -> DomainError:
    """What a form says of it; but of what somebody may not do at all there is a page of its own."""
    if isinstance(problem, NotAllowed) and problem.code != UNCONFIRMED:
        raise problem
    return problem


def put_in_force(
    principal: Principal, slug: str, made: Callable[[Contest], Revision], *, back: str
) -> RedirectResponse:
    """Revise the competition; other rules for what has been submitted become a re-score set to look at."""
    with transaction() as session:
        contest = competitions.for_organizer(session, principal, slug)
        judged = competitions.has_submissions(session, contest.id)
    revision = made(contest)
    with transaction() as session:
        if judged and scores_change(contest, revision):
            rejudgings.begin(session, principal, slug, revision)
            return see(f"/competitions/{slug}/organize/rescores", done="new_rules_scored")
        revisions.revise(session, principal, slug, revision)
    taken = any(remark.code == originals.WEIGHT_TAKEN for remark in revision.remarks)
    done = "weights_taken" if taken else "setup_saved"
    return see(f"/competitions/{slug}/organize/{back}", done=done)


def scores_change(contest: Contest, new: Revision) -> bool:
    before = revisions.rules_of(contest.rules, contest.row.scales)
    return before != revisions.rules_of(read_file(new.file), new.scales)
