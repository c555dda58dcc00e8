"""Baselines: releases made by sample methods, which organizers put on the board for comparison."""

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.evaluation.samples import build_sample_release
from anoncup.lazy import lazy
from anoncup.plugins import TRACKS
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import ReleaseContext
from app.db import now
from app.db.models import Competition
from app.processes import parser_process
from app.services.accounts import audit, memberships, names
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.contests.contest import parse_stored_rules
from app.services.organizing import disqualification
from app.services.originals import allocated_files
from app.services.submissions import submissions, uploads
from app.services.submissions.submissions import SubmissionReceipt
from app.services.submissions.uploads import PendingRelease, UploadContext
from app.storage import get_store

if TYPE_CHECKING:
    from numpy.random import default_rng

else:
    default_rng = lazy("numpy.random.default_rng")

_SEED = 2015
"""Seed of the sample methods; it can be public because a baseline is not a target."""


def load_upload_context(session: Session, principal: Principal, slug: str) -> UploadContext:
    """Return the context for reading a baseline's release, for one of the organizers."""
    competition = competitions.find_for_organizer(session, principal, slug).competition
    if competition.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    own_files = allocated_files.require_allocated(session, competition, None)
    return UploadContext(
        competition.id,
        competition.file,
        uploads.list_original_digests(competition),
        key=None,
        attempt=None,
        is_first=not competition.scored_by,
        own_files=own_files,
    )


def run_sample_method(context: UploadContext, method: str) -> tuple[dict[str, bytes], bytes | None]:
    """Run a sample method on the competition's data and return the shuffled release and its secret.

    The secret is None where the service allocates the answers. The result is reproducible. Needs no session.
    """
    track = context.track
    if method not in track.methods:
        raise InvalidInput("methods: {methods}", code="unknown_method", methods=tuple(track.methods))
    answer = context.own_files[track.answer_spec.file.name] if track.allocates_answer else None
    readable_digests = [*dict(context.original).values(), *filter(None, [answer])]
    files = parser_process.call_with_files(
        parser_process.ORIGINALS,
        readable_digests,
        _make_sample_files,
        context.competition_file,
        context.original,
        method,
        answer,
    )
    secret = files.pop(SECRET_FILE, None)
    return files, secret


def _make_sample_files(
    competition_file: str, digests: tuple[tuple[str, str], ...], method: str, answer: str | None
) -> dict[str, bytes]:
    """Make the release of a sample method and its secret; runs in the parser process.

    ``answer``: digest of the answer allocated to the baselines, or None where teams send secrets. All
    baselines share one answer, so that they differ only in their methods.
    """
    rules = parse_stored_rules(competition_file)
    track = TRACKS[rules.track]
    original = competitions.load_original_tables(digests, competition_file)
    allocated_answer = {}
    if answer is not None:
        individual_count = track.count_individuals(original)
        answer_context = ReleaseContext(
            rules, {"originals": individual_count, "rows": individual_count}, lambda: original
        )
        allocated_answer["answer"] = track.answer_spec.read(get_store().get(answer), answer_context)
    return build_sample_release(track, method, original, rules, default_rng(_SEED), **allocated_answer)


def add(
    session: Session,
    principal: Principal,
    upload: PendingRelease,
    *,
    name: str,
    sealing_key: Path | None,
) -> SubmissionReceipt:
    """Put a release on the board under ``name``; it is scored, but has no rank, quota or target."""
    context = upload.context
    competition = session.get_one(Competition, context.competition_id, with_for_update=True)
    competitions.require_organizer(session, competition.id, principal)
    if not uploads.is_still_valid(competition, context):
        raise Conflict("the competition has changed meanwhile; send it again", code="changed_meanwhile")
    if competition.closed_at is not None:
        raise Conflict("the competition has closed", code="phase_closed")
    team = memberships.create_team(session, competition.id, name, baseline=True)
    receipt = submissions.store_submission(
        session,
        principal.user_id,
        upload,
        competition=competition,
        team=team,
        received_at=now.read_clock(session),
        seal=submissions.make_seal(sealing_key),
    )
    audit.record(session, principal, "baseline.add", competition_id=competition.id, subject=team.name)
    return receipt


def remove(session: Session, principal: Principal, slug: str, team_id: UUID) -> None:
    """Remove a baseline from the board permanently; its scores stay in the database but are not shown."""
    competition = competitions.lock_for_organizer(session, principal, slug).competition
    team = disqualification.lock_team(session, competition, team_id)
    if not team.baseline:
        raise NotFound("the competition has no such baseline", code="no_such_baseline")
    principal.require_reauthentication()
    audit.record(session, principal, "baseline.remove", competition_id=competition.id, subject=team.name)
    team.disqualified_at = now.read_clock(session)
    # A suffix frees the name for a team.
    for column in names.build_key_columns(team.name):
        setattr(team, column, f"{getattr(team, column)} {team.id}")
