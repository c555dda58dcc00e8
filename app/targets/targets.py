"""Targets of attacks, their manifest and, after the reveal, their secrets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.sql.base import ExecutableOption

from anoncup.errors import NotFound
from app.competitions import competitions, visibility
from app.competitions.contest import Contest
from app.competitions.visibility import Viewer
from app.core.db.models import Evaluation, Guess, Opening, Round, State, Submission, Target, Team
from app.core.identity.principal import Principal
from app.core.spreadsheet import render_csv
from app.submissions import quota


@dataclass(frozen=True, slots=True)
class VisibleTarget:
    """A target as one person may see it.

    ``team`` is the name of its team; None while that is hidden. ``guesses_left_by_question`` is the number of
    guesses that the person's team has left; None if it cannot guess.
    """

    target: Target
    commitment: str
    is_own: bool
    is_withdrawn: bool
    team: str | None
    guesses_left_by_question: dict[str, int] | None

    @property
    def guesses_left(self) -> int | None:
        """Number of guesses left over all questions; None if the team cannot guess."""
        return None if self.guesses_left_by_question is None else sum(self.guesses_left_by_question.values())


def _is_in_contest() -> ColumnElement[bool]:
    """Build the condition that a target is accepted and neither it nor its team is disqualified."""
    return and_(
        Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None), Evaluation.state == State.SCORED
    )


def select_targets() -> Select[Target]:
    """Select targets, joined with the tables that ``_is_in_contest`` uses."""
    return (
        select(Target)
        .join(Target.submission)
        .join(Submission.team)
        .join(Evaluation, and_(Evaluation.submission_id == Submission.id, Evaluation.current))
        .options(
            joinedload(Target.submission, innerjoin=True).options(
                joinedload(Submission.team, innerjoin=True),
                joinedload(Submission.evaluation, innerjoin=True),
            )
        )
    )


def select_counting(round_id: UUID) -> Select[Target]:
    """Select the targets of a round that count, as on the boards: all but the withdrawn ones."""
    return select_targets().where(_is_in_contest(), Target.round_id == round_id)


def is_withdrawn(target: Target) -> bool:
    submission = target.submission
    is_disqualified = submission.disqualified_at is not None or submission.team.disqualified_at is not None
    return is_disqualified or submission.evaluation.state != State.SCORED


def list_visible(session: Session, principal: Principal, slug: str) -> list[VisibleTarget]:
    """Return a competition's targets, sorted by name.

    Withdrawn ones are included only for their own team and for organizers.
    """
    contest = competitions.find(session, principal, slug)
    viewer = visibility.load_viewer(session, contest.competition, principal)
    visibility.require_targets(session, contest, viewer)
    targets = session.scalars(
        select_targets().where(Target.round_id == contest.round.id).order_by(Target.name)
    ).all()
    used_by_target = _count_used_guesses(session, contest.round, viewer)
    limit = 0 if viewer.team_id is None else quota.load_guess_limit(session, contest, viewer.team_id)
    questions = contest.track.select_questions(contest.rules)
    return [
        _build_visible_target(
            contest,
            target,
            viewer,
            {name: max(0, limit - used_by_target[target.id].get(name, 0)) for name in questions},
        )
        for target in targets
        if _can_see(target, viewer)
    ]


def _can_see(target: Target, viewer: Viewer) -> bool:
    is_own = target.submission.team_id == viewer.team_id
    return is_own or viewer.is_organizer or not is_withdrawn(target)


def _build_visible_target(
    contest: Contest, target: Target, viewer: Viewer, guesses_left: dict[str, int]
) -> VisibleTarget:
    is_own = target.submission.team_id == viewer.team_id
    is_team_known = is_own or visibility.can_see_owners(contest, viewer)
    is_target_withdrawn = is_withdrawn(target)
    return VisibleTarget(
        target=target,
        commitment=target.submission.commitment,
        is_own=is_own,
        is_withdrawn=is_target_withdrawn,
        team=target.submission.team.name if is_team_known else None,
        guesses_left_by_question=None
        if is_own or is_target_withdrawn or viewer.team_id is None
        else guesses_left,
    )


def _count_used_guesses(session: Session, round_: Round, viewer: Viewer) -> Mapping[UUID, Mapping[str, int]]:
    """Return the number of guesses that the viewer's team has used, by target and question."""
    used: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    if viewer.team_id is None:
        return used
    guess_counts = (
        select(Guess.target_id, Guess.question, func.count())
        .where(
            Guess.round_id == round_.id,
            Guess.team_id == viewer.team_id,
            Guess.state.not_in(quota.FREE_GUESS_STATES),
        )
        .group_by(Guess.target_id, Guess.question)
    )
    for target, question, count in session.execute(guess_counts):
        used[target][question] = count
    return used


def find_visible(session: Session, principal: Principal, target_id: UUID) -> Target:
    """Return a target to the teams and organizers of its competition; raise NotFound for others.

    A withdrawn target is found only by its own team and the organizers.
    """
    target = session.scalar(select_targets().where(Target.id == target_id))
    if target is None:
        raise NotFound("there is no such target", code="no_such_target")
    round_ = session.get_one(Round, target.round_id)
    if round_.removed_at is not None:
        raise NotFound("there is no such target", code="no_such_target")
    viewer = visibility.load_viewer(session, round_.competition, principal)
    if not (viewer.is_organizer or viewer.team_id) or not _can_see(target, viewer):
        raise NotFound("there is no such target", code="no_such_target")
    visibility.require_targets(session, Contest(round_), viewer)
    return target


def list_attackable(session: Session, principal: Principal, slug: str) -> list[VisibleTarget]:
    """Return the targets that the person's team may attack; for organizers all that are not withdrawn."""
    return [
        target
        for target in list_visible(session, principal, slug)
        if not target.is_own and not target.is_withdrawn
    ]


def load_manifest(
    session: Session, principal: Principal | None, slug: str, *options: ExecutableOption
) -> tuple[Contest, Sequence[Target]]:
    """Return all published targets, even withdrawn ones, for the public list of digests and commitments."""
    contest = competitions.find(session, principal, slug)
    if contest.round.published_at is None:
        raise NotFound("the targets are not published yet", code="no_targets_yet")
    query = select_targets().options(*options).where(Target.round_id == contest.round.id)
    return contest, session.scalars(query.order_by(Target.name)).all()


def load_manifest_with_teams(
    session: Session, principal: Principal | None, slug: str
) -> list[tuple[Target, str | None]]:
    """Return the manifest's targets, each with the name of its team, or None while that is hidden."""
    contest, targets = load_manifest(session, principal, slug)
    are_teams_known = visibility.can_see_owners(
        contest, visibility.load_viewer(session, contest.competition, principal)
    )
    return [(target, target.submission.team.name if are_teams_known else None) for target in targets]


def render_checksums(targets: Sequence[Target]) -> str:
    """Return the SHA-256 of every file in the format of ``sha256sum --check``."""
    lines = [
        f"{digest}  {target.name}/{name}.csv\n"
        for target in targets
        for name, digest in sorted((target.files or {}).items())
    ]
    return "".join(lines)


def render_commitments(targets: Sequence[VisibleTarget]) -> str:
    """Return a CSV of each target's team (blank while hidden) and its commitment to the secret."""
    rows = [(target.target.name, target.team or "", target.commitment) for target in targets]
    return render_csv(["target", "team", "commitment"], rows)


def list_revealed(session: Session, principal: Principal | None, slug: str) -> Sequence[Target]:
    """Return all targets with salt and secret. Raise an error before the reveal."""
    contest, targets = load_manifest(session, principal, slug, joinedload(Target.opening))
    visibility.require_reveal(contest.round)
    return targets


def find_revealed_secret(session: Session, target_id: UUID) -> str:
    """Return the digest of a target's secret file. Raise an error before the reveal."""
    target = session.get(Target, target_id)
    round_ = session.get_one(Round, target.round_id) if target else None
    is_removed = round_ is None or round_.removed_at is not None
    if round_ is None or is_removed:
        raise NotFound("there is no such target", code="no_such_target")
    visibility.require_reveal(round_)
    return session.get_one(Opening, target_id).secret
