"""Re-score sets: begun with other rules, compared, applied or cancelled."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.competition.rules_text import with_threshold, with_weights
from anoncup.errors import DomainError, InvalidCompetition, InvalidInput, NotFound
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import MAX_CHARACTERS
from app.db.models import State
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Sure
from app.services.accounts.accounts import Principal
from app.services.boards.entries import is_qualified
from app.services.contests import competitions, revisions
from app.services.contests.contest import read_file
from app.services.organizing import rejudgings
from app.services.organizing.rejudgings import Change, Judged, Preview
from app.web.organizer.frame import Typed, organizers_frame, trouble
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/rescores", route_class=PageRoute)

WEIGHT = "weight_"


@dataclass(frozen=True, slots=True)
class TeamChange:
    """A team's place by the rules in force and by the new ones; ``overall``: of its best submission, by the
    built-in attackers alone."""

    team: str
    rank_before: int | None
    rank_after: int | None
    overall_before: float | None
    overall_after: float | None

    @property
    def rise(self) -> int | None:
        """Places gained; None where either rank is missing."""
        return (self.rank_before - self.rank_after) if self.rank_before and self.rank_after else None


@router.get("")
def all_sets(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return rescores_page(request, principal, slug)


@router.post("")
def begin(request: Request, slug: str, principal: SignedIn, fields: Typed) -> Response:
    try:
        with transaction() as session:
            contest = competitions.for_organizer(session, principal, slug)
        revision = revisions.revision_of_file(contest, file_of(contest.row.file, fields))
        with transaction() as session:
            made = rejudgings.begin(session, principal, slug, revision)
    except DomainError as problem:
        return rescores_page(request, principal, slug, problem=problem, fields=fields)
    return see(f"/competitions/{slug}/organize/rescores/{made.id}", done="rescore_begun")


def file_of(file: str, fields: dict[str, str]) -> str:
    """The competition's file with the rules that were typed: as a whole, or the weights and the threshold."""
    if fields.get("by") == "file":
        return sound(fields.get("file", ""))
    weights = {
        name.removeprefix(WEIGHT): numeral(value) for name, value in fields.items() if name.startswith(WEIGHT)
    }
    unknown = set(weights) - set(weighed(read_file(file)))
    if unknown:
        raise InvalidInput("the weight of a measure that this track does not have", code="unknown_measure")
    threshold = fields.get("threshold", "").strip()
    return with_threshold(with_weights(file, weights), numeral(threshold) if threshold else None)


def sound(text: str) -> str:
    if len(text) > MAX_CHARACTERS or "\x00" in text:
        raise InvalidCompetition("not the text of a competition file", code="not_toml")
    return text.replace("\r\n", "\n")


def numeral(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not 0 <= found < float("inf"):
        raise InvalidInput("enter a number, 0 or more", code="wrong_value")
    return found


def weighed(rules: Rules) -> dict[str, float]:
    """The weight of every measure that may have one."""
    known = TRACKS[rules.track].measures.values()
    return {each.name: rules.weight(each.name) for each in known if each.weighs}


@router.get("/{rescore_id}")
def one(request: Request, slug: str, rescore_id: UUID, principal: SignedIn) -> HTMLResponse:
    return compared(request, principal, slug, rescore_id)


@router.post("/{rescore_id}/apply")
def apply(request: Request, slug: str, rescore_id: UUID, principal: SignedIn, sure: Sure) -> Response:
    try:
        principal = sure()
    except DomainError as problem:
        return compared(request, principal, slug, rescore_id, problem=problem)
    return ended(request, principal, slug, rescore_id, "apply")


@router.post("/{rescore_id}/cancel")
def cancel(request: Request, slug: str, rescore_id: UUID, principal: SignedIn) -> Response:
    return ended(request, principal, slug, rescore_id, "cancel")


def ended(request: Request, principal: Principal, slug: str, rescore_id: UUID, act: str) -> Response:
    end, done = {
        "apply": (rejudgings.apply, "rescore_applied"),
        "cancel": (rejudgings.cancel, "rescore_cancelled"),
    }[act]
    try:
        with transaction() as session:
            in_competition(session, principal, slug, rescore_id)
            end(session, principal, rescore_id)
    except DomainError as problem:
        return compared(request, principal, slug, rescore_id, problem=problem)
    return see(f"/competitions/{slug}/organize/rescores/{rescore_id}", done=done)


def in_competition(session: Session, principal: Principal, slug: str, rescore_id: UUID) -> Frame:
    """The frame, if the set is one of this competition."""
    frame = organizers_frame(session, principal, slug)
    found = rejudgings.organizers_set(session, principal, rescore_id)
    if found.competition_id != frame.contest.id:
        raise NotFound("there is no such re-score set", code="no_such_rescore")
    return frame


def compared(
    request: Request,
    principal: Principal,
    slug: str,
    rescore_id: UUID,
    *,
    problem: DomainError | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = in_competition(session, principal, slug, rescore_id)
        found = rejudgings.preview(session, principal, rescore_id)
    new = read_file(found.rescore.file)
    done = request.query_params.get("done", "")
    return page(
        request,
        principal,
        "organizer/rescore.html",
        frame=frame,
        preview=found,
        done="" if done == "rescore_begun" and found.stage != "scoring" else done,
        rules=differences(frame.rules, new) if found.stage in ("scoring", "ready") else [],
        parts=revisions.changed_parts(frame.contest.row.file, found.rescore.file),
        by_team=by_team(found),
        turned=[each for each in found.changes if each.before.state != each.after.state],
        lost=[each for each in found.changes if rejudgings.is_lost(each)],
        **trouble(request, problem),
    )


def differences(before: Rules, after: Rules) -> list[tuple[str, Any, Any]]:
    """The weights and the threshold that differ, each with its old and new value."""
    old, new = weighed(before), weighed(after)
    found: list[tuple[str, Any, Any]] = [(name, old[name], new[name]) for name in old]
    found.append(("threshold", before.threshold, after.threshold))
    return [each for each in found if each[1] != each[2]]


def by_team(found: Preview) -> list[TeamChange]:
    """Every team that takes part, in the order of the new ranks, then of the old ones."""
    teams: dict[str, list[Change]] = {}
    for change in found.changes:
        if is_qualified(change.submission) and not change.submission.team.baseline:
            teams.setdefault(change.submission.team.name, []).append(change)
    rows = [
        TeamChange(
            team,
            changes[0].before.rank,
            changes[0].after.rank,
            best([change.before for change in changes]),
            best([change.after for change in changes]),
        )
        for team, changes in teams.items()
    ]
    last = float("inf")
    return sorted(rows, key=lambda row: (row.rank_after or last, row.rank_before or last, row.team))


def best(judged: list[Judged]) -> float | None:
    found = [each.overall for each in judged if each.state == State.SCORED]
    return min((overall for overall in found if overall is not None), default=None)


def rescores_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    fields: dict[str, str] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        sets = rejudgings.listed(session, principal, slug)
        waiting = len(rejudgings.scorable(session, frame.contest.id))
    open_set = next((each for each in sets if each.stage in ("scoring", "ready")), None)
    done = request.query_params.get("done", "")
    return page(
        request,
        principal,
        "organizer/rescores.html",
        frame=frame,
        sets=sets,
        open_set=open_set,
        done="" if done == "new_rules_scored" and not (open_set and open_set.stage == "scoring") else done,
        weights=weighed(frame.rules),
        fields=fields or {},
        waiting=waiting,
        **trouble(request, problem),
    )
