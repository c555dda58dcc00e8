"""Targets: what may be attacked, with its manifest, and in the end its secret."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.sql.base import ExecutableOption

from anoncup.errors import NotFound
from app.db.models import Competition, Evaluation, Guess, Opening, Secret, State, Submission, Target, Team
from app.services.accounts.accounts import Principal
from app.services.boards.spreadsheet import csv_text
from app.services.contests import competitions, visibility
from app.services.contests.contest import Contest
from app.services.contests.visibility import Audience
from app.services.submissions import quota


@dataclass(frozen=True, slots=True)
class Shown:
    """A target as one person may see it.

    ``team``: its team's name, None while that is hidden. ``left``: how many guesses the person's team has
    left, by question; None if it cannot guess.
    """

    target: Target
    commitment: str
    own: bool
    withdrawn: bool
    team: str | None
    left: dict[str, int] | None

    @property
    def guesses_left(self) -> int | None:
        """Of all questions together."""
        return None if self.left is None else sum(self.left.values())


def counts() -> ColumnElement[bool]:
    """Targets that are in the contest: accepted, and neither they nor their team disqualified."""
    return and_(qualified(), Evaluation.state == State.SCORED)


def qualified() -> ColumnElement[bool]:
    return and_(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None))


def joined() -> Select[Target]:
    """Targets with all that ``counts`` asks about."""
    return (
        select(Target)
        .join(Target.submission)
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, Evaluation.current))
        .options(
            joinedload(Target.submission, innerjoin=True).options(
                joinedload(Submission.team, innerjoin=True),
                joinedload(Submission.evaluation, innerjoin=True),
                joinedload(Submission.secret, innerjoin=True).load_only(Secret.commitment),
            )
        )
    )


def is_withdrawn(target: Target) -> bool:
    submission = target.submission
    barred = submission.disqualified_at is not None or submission.team.disqualified_at is not None
    return barred or submission.evaluation.state != State.SCORED


def listed(session: Session, principal: Principal, slug: str) -> list[Shown]:
    """A competition's targets in the order of their names; withdrawn ones only for those they concern."""
    contest = competitions.find(session, principal, slug)
    viewer = visibility.audience(session, contest.row, principal)
    visibility.require_targets(session, contest, viewer)
    found = session.scalars(joined().where(Target.competition_id == contest.id).order_by(Target.name)).all()
    used = guesses_used(session, contest.row, viewer)
    limit = guess_limit(session, contest, viewer)
    questions = contest.track.asked(contest.rules)
    return [
        shown(contest, target, viewer, left_of(limit, used[target.id], questions))
        for target in found
        if may_see(target, viewer)
    ]


def may_see(target: Target, viewer: Audience) -> bool:
    own = target.submission.team_id == viewer.team_id
    return own or viewer.organizer or not is_withdrawn(target)


def left_of(limit: int, used: Mapping[str, int], questions: Iterable[str]) -> dict[str, int]:
    """By question."""
    return {name: max(0, limit - used.get(name, 0)) for name in questions}


def shown(contest: Contest, target: Target, viewer: Audience, left: dict[str, int]) -> Shown:
    own = target.submission.team_id == viewer.team_id
    known = own or visibility.owners_are_known(contest, viewer)
    withdrawn = is_withdrawn(target)
    return Shown(
        target=target,
        commitment=target.submission.secret.commitment,
        own=own,
        withdrawn=withdrawn,
        team=target.submission.team.name if known else None,
        left=None if own or withdrawn or viewer.team_id is None else left,
    )


def guesses_used(session: Session, row: Competition, viewer: Audience) -> Mapping[UUID, Mapping[str, int]]:
    """Of the viewer's team, by target and question."""
    used: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    if viewer.team_id is None:
        return used
    mine = (
        select(Guess.target_id, Guess.question, func.count())
        .where(Guess.competition_id == row.id, Guess.team_id == viewer.team_id, Guess.state != State.ERROR)
        .group_by(Guess.target_id, Guess.question)
    )
    for target, question, count in session.execute(mine):
        used[target][question] = count
    return used


def guess_limit(session: Session, contest: Contest, viewer: Audience) -> int:
    return 0 if viewer.team_id is None else quota.guess_limit(session, contest, viewer.team_id)


def visible(session: Session, principal: Principal, target_id: UUID) -> Target:
    """One target, to those who may attack it or look after it; to others it does not exist."""
    target = session.scalar(joined().where(Target.id == target_id))
    if target is None:
        raise NotFound("there is no such target", code="no_such_target")
    row = session.get_one(Competition, target.competition_id)
    viewer = visibility.audience(session, row, principal)
    if not (viewer.organizer or viewer.team_id) or not may_see(target, viewer):
        raise NotFound("there is no such target", code="no_such_target")
    visibility.require_targets(session, Contest(row), viewer)
    return target


def of_others(session: Session, principal: Principal, slug: str) -> list[Shown]:
    """The targets that the person's team may attack; for organizers all that count."""
    return [each for each in listed(session, principal, slug) if not each.own and not each.withdrawn]


def in_manifest(
    session: Session, principal: Principal | None, slug: str, *options: ExecutableOption
) -> tuple[Contest, Sequence[Target]]:
    """Return all targets, withdrawn ones too, for the public list of their digests and commitments."""
    contest = competitions.find(session, principal, slug)
    if contest.row.published_at is None:
        raise NotFound("the targets are not published yet", code="no_targets_yet")
    mine = joined().options(*options).where(Target.competition_id == contest.id).order_by(Target.name)
    return contest, session.scalars(mine).all()


def with_teams(session: Session, principal: Principal | None, slug: str) -> list[tuple[Target, str | None]]:
    """Return the manifest's targets, each with its team's name, None while that is hidden."""
    contest, found = in_manifest(session, principal, slug)
    known = visibility.owners_are_known(contest, visibility.audience(session, contest.row, principal))
    return [(target, target.submission.team.name if known else None) for target in found]


def sums(targets: Sequence[Target]) -> str:
    """SHA-256 of every file, as ``sha256sum --check`` reads them."""
    lines = [
        f"{digest}  {target.name}/{name}.csv\n"
        for target in targets
        for name, digest in sorted((target.files or {}).items())
    ]
    return "".join(lines)


def commitments(targets: Sequence[Shown]) -> str:
    """Return each target's team, blank while hidden, and its commitment to the secret."""
    rows = [(each.target.name, each.team or "", each.commitment) for each in targets]
    return csv_text(["target", "team", "commitment"], rows)


def revealed(session: Session, principal: Principal | None, slug: str) -> Sequence[Target]:
    """Return all targets with salt and secret, once they are revealed."""
    contest, found = in_manifest(session, principal, slug, joinedload(Target.opening))
    visibility.require_reveal(contest.row)
    return found


def revealed_secret(session: Session, principal: Principal | None, target_id: UUID) -> str:
    """The digest of a target's secret file, once it is revealed."""
    target = session.get(Target, target_id)
    row = session.get_one(Competition, target.competition_id) if target else None
    if row is None or not competitions.may_know(session, principal, row):
        raise NotFound("there is no such target", code="no_such_target")
    visibility.require_reveal(row)
    return session.get_one(Opening, target_id).secret
