"""Baselines: releases of sample methods that organizers put on the board for comparison."""

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.evaluation.samples import sample_release
from anoncup.lazy import deferred
from anoncup.plugins import TRACKS
from anoncup.tracks.files import SECRET
from anoncup.tracks.model import About
from app.db import now
from app.db.models import Competition
from app.processes import parser_process
from app.services.accounts import audit, memberships, names
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.contests.contest import read_file
from app.services.organizing import disqualification
from app.services.originals import allocations
from app.services.submissions import submissions, uploads
from app.services.submissions.submissions import Receipt
from app.services.submissions.uploads import Entrance, Upload
from app.storage import store

if TYPE_CHECKING:
    from numpy.random import default_rng

else:
    default_rng = deferred("numpy.random.default_rng")

SEED = 2015
"""Of what a sample method draws; a baseline is no target, so nothing is to be guessed of it."""


def entrance(session: Session, principal: Principal, slug: str) -> Entrance:
    """What a baseline's release is read against; for the competition's organizers."""
    row = competitions.for_organizer(session, principal, slug).row
    if row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own = allocations.require_drawn(session, row, None)
    return Entrance(
        row.id, row.file, uploads.digests(row), key=None, attempt=None, first=not row.scored_by, own=own
    )


def sample(at: Entrance, method: str) -> tuple[dict[str, bytes], bytes | None]:
    """The work of a sample method on the competition's data, in a new order, and its secret, if one is sent.

    Needs no session. The same method gives the same release again.
    """
    track = at.track
    if method not in track.methods:
        raise InvalidInput("methods: {methods}", code="unknown_method", methods=tuple(track.methods))
    answer = at.own[track.answers.file.name] if track.draws_answer else None
    readable = [*dict(at.original).values(), *filter(None, [answer])]
    files = parser_process.call_reading(
        parser_process.ORIGINALS, readable, make_sample, at.file, at.original, method, answer
    )
    secret = files.pop(SECRET, None)
    return files, secret


def make_sample(
    file: str, digests: tuple[tuple[str, str], ...], method: str, answer: str | None
) -> dict[str, bytes]:
    """Make the release of a sample method, and its secret; called in the parser.

    ``answer``: the digest of what the service has drawn for all baselines, where it draws. What is compared
    is their methods.
    """
    rules = read_file(file)
    track = TRACKS[rules.track]
    original = competitions.original_tables(digests, file)
    own = {}
    if answer is not None:
        count = track.individuals(original)
        about = About(rules, {"originals": count, "rows": count}, lambda: original)
        own["answer"] = track.answers.read(store().get(answer), about)
    return sample_release(track, method, original, rules, default_rng(SEED), **own)


def add(
    session: Session,
    principal: Principal,
    upload: Upload,
    *,
    name: str,
    sealing_key: Path | None,
) -> Receipt:
    """Put a release on the board under ``name``: scored like any other, without rank, quota or target."""
    at = upload.entrance
    row = session.get_one(Competition, at.competition_id, with_for_update=True)
    competitions.require_organizer(session, row.id, principal)
    if not uploads.stands(row, at):
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")
    if row.closed_at is not None:
        raise Conflict("the competition has closed", code="phase_closed")
    team = memberships.create_team(session, row.id, name, baseline=True)
    made = submissions.keep(
        session,
        principal.user_id,
        upload,
        row=row,
        team=team,
        received_at=now.clock(session),
        seal=submissions.to_key_in(sealing_key),
    )
    audit.record(session, principal, "baseline.add", competition_id=row.id, subject=team.name)
    return made


def remove(session: Session, principal: Principal, slug: str, team_id: UUID) -> None:
    """Take a baseline off the board for good; what was scored stays in the record, out of sight."""
    row = competitions.locked_for_organizer(session, principal, slug).row
    team = disqualification.team_in(session, row, team_id)
    if not team.baseline:
        raise NotFound("the competition has no such baseline", code="no_such_baseline")
    principal.require_confirmed()
    audit.record(session, principal, "baseline.remove", competition_id=row.id, subject=team.name)
    team.disqualified_at = now.clock(session)
    # Its name becomes free for a team.
    for column in names.columns(team.name):
        setattr(team, column, f"{getattr(team, column)} {team.id}")
