"""Baselines: releases made by sample methods, which organizers put on the board for comparison."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.runner.originals import SampleReleaseJob
from app.accounts import memberships
from app.boards import standing_updates
from app.competitions import competitions
from app.core import audit
from app.core.db import transaction
from app.core.db.models import Round, Submission
from app.core.identity.principal import Principal
from app.core.processes import parsing
from app.core.storage import get_store
from app.organizing import decisions
from app.submissions.uploads import ReleaseUpload

_SEED = 2015
"""Seed of the sample methods; it can be public because a baseline is not a target."""


class BaselineUpload(ReleaseUpload):
    """A release that organizers put on the board under a name; it has no attempt, rank, quota or target."""

    name = ""

    def begin(self, session: Session, principal: Principal) -> None:
        """Check that the person is one of the organizers."""
        self.set_round(competitions.find_for_organizer(session, principal, self.slug))
        self.load(session, None)

    def parse(self, files: Mapping[str, bytes], texts: Mapping[str, str]) -> None:
        if "name" not in texts:
            raise InvalidInput("a baseline needs a name: send a part named name", code="name_length")
        self.name = texts["name"]
        super().parse(files, texts)

    def accept(self, session: Session, principal: Principal) -> Submission:
        round_ = session.get_one(Round, self.round.id, with_for_update=True)
        competitions.require_organizer(session, round_.competition_id, principal)
        self.require_same_settings(round_)
        if round_.closed_at is not None:
            raise Conflict("the competition has closed", code="phase_closed")
        team = memberships.create_team(session, round_.competition_id, self.name, baseline=True)
        self.started_at = transaction.read_clock(session)
        submission = self.insert(session, round_, team, principal.user_id)
        audit.record(session, principal, "baseline.add", round_.competition_id, subject=team.name)
        return submission


def run_sample_method(upload: BaselineUpload, method: str) -> dict[str, bytes]:
    """Run a sample method on the competition's data and return the shuffled release, if possible with secret.

    There is no secret where the service allocates the answers. The result is reproducible. Needs no session.
    """
    track = upload.track
    if method not in track.methods:
        raise InvalidInput("methods: {methods}", code="unknown_method", methods=tuple(track.methods))
    answer = upload.own_files[track.answer_spec.file.name] if track.allocates_answer else None
    job = SampleReleaseJob(
        competition_file=upload.round.file,
        original=competitions.load_contents(dict(upload.original)),
        method=method,
        seed=_SEED,
        answer=get_store().get(answer) if answer else None,
    )
    return parsing.read_original(job, track.name)


def remove(session: Session, principal: Principal, slug: str, team_id: UUID) -> None:
    """Remove a baseline from the board permanently; its scores stay in the database but are not shown."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = decisions.lock_team(session, round_, team_id)
    if not team.baseline:
        raise NotFound("the competition has no such baseline", code="no_such_baseline")
    principal.require_reauthentication()
    audit.record(session, principal, "baseline.remove", round_.competition_id, subject=team.name)
    team.disqualified_at = transaction.read_clock(session)
    standing_updates.refresh(session, round_.id, [team.id])
    team.name_key = f"{team.name_key} {team.id}"  # frees the name for a team
