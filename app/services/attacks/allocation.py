"""How the clock draws: commit to a seed, draw for all, draw for each team, show the seed at the reveal.

The steps are those of ``transitions``: under the competition's lock, once. Between them the long work reads
what is ``undrawn``, has it computed, and notes it, if it was drawn from what stands.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.tracks import seeds
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Competition, Drawn, Seed, SeedOpening, Team
from app.db.now import clock
from app.services.accounts import audit
from app.services.contests import phases, sealed_inputs
from app.services.contests.sealed_inputs import NOBODY, Box, Means

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Awaited:
    """Files that are to be drawn for a team. ``team_id``: None where no team is meant."""

    names: tuple[str, ...]
    team: str
    team_id: UUID | None


@dataclass(frozen=True, slots=True)
class Undrawn:
    """The same, and what they are drawn from."""

    competition_id: UUID
    competition_file: str
    original: dict[str, str]
    names: tuple[str, ...]
    means: Means
    team_id: UUID | None


def is_due(session: Session, row: Competition, now: datetime) -> bool:
    """Whether there is a seed to commit to, or something to draw."""
    return is_uncommitted(session, row) or awaited(session, row, now) is not None


def is_uncommitted(session: Session, row: Competition) -> bool:
    return bool(row.drawing) and row.frozen_at is None and not has_seed(session, row.id)


def has_seed(session: Session, competition_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(Seed.competition_id == competition_id))))


def commit(session: Session, row: Competition) -> bool:
    """Make the competition's seed, which nobody reads before the reveal; True if it had none.

    ``row`` is locked. Unavailable without a private key: who could not open it does not make it.
    """
    if not is_uncommitted(session, row):
        return False
    seed = secrets.token_bytes(seeds.SEED_BYTES)
    sealed = sealing.seal_to_held(get_settings().opening_keys_dir, bound_to=row.id, secret=seed)
    made = seeds.commitment(seed)
    session.add(Seed(competition_id=row.id, key_id=sealed.key_id, sealed=sealed.box, commitment=made))
    noted(session, row, "seed.commit", sha256=made)
    return True


def awaited(session: Session, row: Competition, now: datetime) -> Awaited | None:
    """What is to be drawn next; None if that is nothing, or awaits something."""
    ready = bool(row.drawing) and row.original_rows is not None and row.frozen_at is None
    if not ready or not has_seed(session, row.id):
        return None
    if not row.drawing["each_team"]:
        return Awaited(row.undrawn, NOBODY, None) if row.undrawn else None
    if not phases.first_has_begun(row, now) or sealed_inputs.lacking(session, row):
        return None
    names, mine = tuple(row.drawing["files"]), Drawn.competition_id == row.id
    if not session.scalar(select(exists().where(mine, Drawn.team == NOBODY))):
        return Awaited(names, NOBODY, None)
    waiting = select(Team).where(Team.competition_id == row.id, ~Team.baseline)
    waiting = waiting.where(~exists().where(Drawn.team_id == Team.id))
    columns = waiting.with_only_columns(Team.name, Team.id).order_by(Team.created_at, Team.id)
    team = session.execute(columns.limit(1)).one_or_none()
    return Awaited(names, *team) if team else None


def undrawn(session: Session, competition_id: UUID) -> Undrawn | None:
    """The same with all that it is drawn from."""
    row = session.get_one(Competition, competition_id, populate_existing=True)
    found = awaited(session, row, clock(session))
    if found is None:
        return None
    means = replace(sealed_inputs.means(session, row.id, None), team=found.team, attempt=0)
    return Undrawn(row.id, row.file, row.given, found.names, means, found.team_id)


def record_allocation(
    session: Session,
    done: Undrawn,
    files: Mapping[str, str],
    attempt: int,
    *,
    shared: bool,
    avoid_baselines: bool = True,
) -> bool:
    """Note what was drawn; False if an earlier team has the same and they are not ``shared``.

    What was drawn from something that has changed since is let go, and so is what another clock has noted.
    """
    row = session.get_one(Competition, done.competition_id, with_for_update=True, populate_existing=True)
    if undrawn(session, row.id) != done:
        return True
    if not row.drawing["each_team"]:
        row.drawn = {**row.drawn, **files}
        noted(session, row, "data.draw", **files)
        return True
    if not shared and files in list_allocated_files(session, row.id, with_baselines=avoid_baselines):
        return False
    team = done.means.team
    made = Drawn(competition_id=row.id, team=team, team_id=done.team_id, attempt=attempt, files=dict(files))
    session.add(made)
    row.drawn_at = row.drawn_at or clock(session)
    noted(session, row, "own.draw", team=team, attempt=attempt)
    return True


def list_allocated_files(
    session: Session, competition_id: UUID, *, with_baselines: bool = True
) -> list[dict[str, str]]:
    """Return the files that teams have, and those of the baselines if they count."""
    others = select(Drawn.files).where(Drawn.competition_id == competition_id)
    return list(session.scalars(others if with_baselines else others.where(Drawn.team != NOBODY)))


def note_exhausted(session: Session, done: Undrawn, attempts: int) -> None:
    """Note that no allocation is left for a team: a row without files, so that nobody waits for it."""
    row = session.get_one(Competition, done.competition_id, with_for_update=True, populate_existing=True)
    if undrawn(session, row.id) != done:
        return
    team = done.means.team
    session.add(Drawn(competition_id=row.id, team=team, team_id=done.team_id, attempt=attempts, files={}))
    noted(session, row, "own.exhausted", team=team)
    log.error("no_allocation_left", competition=str(row.id), team=team)


def sealed_seed(session: Session, competition_id: UUID) -> Box | None:
    """The seed, if it is still to be shown at the reveal."""
    shown = exists().where(SeedOpening.competition_id == competition_id)
    return None if session.scalar(select(shown)) else sealed_inputs.seed_of(session, competition_id)


def opened(session: Session, competition_id: UUID, seed: bytes) -> None:
    """Note a competition's opened seed, which is shown from the reveal on, unless another clock has."""
    opening = insert(SeedOpening).values(competition_id=competition_id, seed=seed)
    session.execute(opening.on_conflict_do_nothing())


def noted(session: Session, row: Competition, action: str, **after: Any) -> None:
    audit.record(session, None, action, competition_id=row.id, subject=row.slug, after=after)
    log.info(action, competition=row.slug, **after)
