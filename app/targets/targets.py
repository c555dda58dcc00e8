"""Targets of attacks, their manifest and, after the reveal, their secrets."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.sql.base import ExecutableOption

from anoncup import schemas
from anoncup.errors import NotFound
from app.competitions import competitions, visibility
from app.competitions.visibility import Viewer
from app.core.db.models import Guess, Opening, Round, State, Submission, Target
from app.core.identity.principal import Principal
from app.submissions import quota


def select_targets() -> Select[Target]:
    """Select targets with what decides whether they are withdrawn."""
    return select(Target).options(
        joinedload(Target.submission, innerjoin=True).options(
            joinedload(Submission.team, innerjoin=True),
            joinedload(Submission.evaluation, innerjoin=True),
        )
    )


def is_withdrawn(target: Target) -> bool:
    """Return whether a target counts no more: it is rejected, or it or its team is disqualified."""
    submission = target.submission
    is_disqualified = submission.disqualified_at is not None or submission.team.disqualified_at is not None
    return is_disqualified or submission.evaluation.state != State.SCORED


def list_visible(session: Session, principal: Principal, slug: str) -> list[schemas.Target]:
    """Return a competition's targets as this person may see them, sorted by name.

    Withdrawn ones are included only for their own team and for organizers.
    """
    round_ = competitions.find(session, principal, slug)
    viewer = visibility.load_viewer(session, round_.competition, principal)
    visibility.require_targets(session, round_, viewer)
    targets = session.scalars(
        select_targets().where(Target.round_id == round_.id).order_by(Target.name)
    ).all()
    used_by_target = _count_used_guesses(session, round_, viewer)
    limit = 0 if viewer.team_id is None else quota.load_guess_limit(session, round_, viewer.team_id)
    questions = round_.track.select_questions(round_.rules)
    return [
        _mask_target(
            round_,
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


def _mask_target(
    round_: Round, target: Target, viewer: Viewer, guesses_left: dict[str, int]
) -> schemas.Target:
    is_own = target.submission.team_id == viewer.team_id
    is_team_known = is_own or visibility.can_see_owners(round_, viewer)
    can_guess = not is_own and not is_withdrawn(target) and viewer.team_id is not None
    return schemas.Target(
        **list_public_fields(target),
        id=target.id,
        own=is_own,
        withdrawn=is_withdrawn(target),
        team=target.submission.team.name if is_team_known else None,
        guesses_left=sum(guesses_left.values()) if can_guess else None,
        guesses_left_by_question=guesses_left if can_guess else None,
    )


def list_public_fields(target: Target) -> dict[str, Any]:
    """Return what everybody may know of a target, by the names of the API."""
    return {
        "name": target.name,
        "rows": target.rows,
        "files": {f"{name}.csv": digest for name, digest in (target.files or {}).items()},
        "commitment": target.submission.commitment,
    }


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
    in_round = select_targets().join(Round, Round.id == Target.round_id)
    query = in_round.where(Target.id == target_id, Round.removed_at.is_(None))
    if (target := session.scalar(query)) is None:
        raise _build_missing_error()
    round_ = session.get_one(Round, target.round_id)
    viewer = visibility.load_viewer(session, round_.competition, principal)
    if not (viewer.is_organizer or viewer.team_id) or not _can_see(target, viewer):
        raise _build_missing_error()
    visibility.require_targets(session, round_, viewer)
    return target


def _build_missing_error() -> NotFound:
    return NotFound("there is no such target", code="no_such_target")


def _load_published(
    session: Session, principal: Principal | None, slug: str, *options: ExecutableOption
) -> tuple[Round, Sequence[Target]]:
    """Return all published targets, even withdrawn ones."""
    round_ = competitions.find(session, principal, slug)
    if round_.published_at is None:
        raise NotFound("the targets are not published yet", code="no_targets_yet")
    query = select_targets().options(*options).where(Target.round_id == round_.id)
    return round_, session.scalars(query.order_by(Target.name)).all()


def load_manifest(session: Session, principal: Principal | None, slug: str) -> list[schemas.ManifestEntry]:
    """Return the public list of digests and commitments, with the teams unless they are hidden."""
    round_, targets = _load_published(session, principal, slug)
    viewer = visibility.load_viewer(session, round_.competition, principal)
    are_teams_known = visibility.can_see_owners(round_, viewer)
    return [
        schemas.ManifestEntry(
            **list_public_fields(target), team=target.submission.team.name if are_teams_known else None
        )
        for target in targets
    ]


def render_checksums(targets: Iterable[schemas.ManifestEntry]) -> str:
    """Return the SHA-256 of every file in the format of ``sha256sum --check``."""
    return "".join(
        f"{digest}  {target.name}/{file}\n"
        for target in targets
        for file, digest in sorted(target.files.items())
    )


def list_revealed(session: Session, principal: Principal | None, slug: str) -> Sequence[Target]:
    """Return all targets with salt and secret. Raise an error before the reveal."""
    round_, targets = _load_published(session, principal, slug, joinedload(Target.opening))
    visibility.require_reveal(round_)
    return targets


def find_revealed_secret(session: Session, target_id: UUID) -> str:
    """Return the digest of a target's secret file. Raise an error before the reveal."""
    query = select(Round).join(Target).where(Target.id == target_id, Round.removed_at.is_(None))
    if (round_ := session.scalar(query)) is None:
        raise _build_missing_error()
    visibility.require_reveal(round_)
    return session.get_one(Opening, target_id).secret
