"""The long work of a transition: allocates files, writes the targets' files, opens secrets for the reveal.

This process holds private keys, so it parses no uploaded file: the sandbox does.

usage: python -m workers.lifecycle ROUND_ID
"""

import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import UUID

import structlog
from sqlalchemy.orm import joinedload

from anoncup.errors import DomainError, Unavailable
from anoncup.runner.jobs import TargetFilesJob
from app.config import Settings, get_settings
from app.core import logs, sealing
from app.core.db.models import Round, Target
from app.core.db.transaction import transaction
from app.core.processes import package_calls, runners
from app.core.storage import get_store
from app.lifecycle import contest_lifecycle
from app.originals import sealed_inputs
from app.originals.sealed_inputs import SealedBox
from app.targets import allocation
from workers import jobs
from workers.allocate import allocate_files, build_worker_inputs, open_box, open_seed
from workers.readiness import REPORT_READINESS, SCORING_READINESS

log = structlog.get_logger(__name__)

_TIMEOUT_S = 1800
"""A process that takes longer counts as hanging and is killed. Files that it has written stay."""


def main() -> None:
    signal.alarm(_TIMEOUT_S)
    logs.configure()
    package_calls.enable()
    try:
        is_complete = run_long_work(UUID(sys.argv[1]))
    finally:
        runners.end_all()
    sys.exit(0 if is_complete else 1)


def run_long_work(round_id: UUID) -> bool:
    """Do all work that the round's next step needs; return False if some of it failed.

    Running it concurrently or killing it at any point does no harm.
    """
    settings = get_settings()
    with transaction() as session:
        targets_without_files = contest_lifecycle.list_targets_without_files(session, round_id)
        sealed_secrets = contest_lifecycle.list_sealed_secrets(session, round_id)
        seed = contest_lifecycle.find_unopened_seed(session, round_id)
        allocation_request = allocation.load_request(session, round_id)
    needs_keys = bool(sealed_secrets or seed or allocation_request)
    problem = (SCORING_READINESS if needs_keys else REPORT_READINESS).find_problem()
    if problem is not None:
        log.error("takes_no_work", round=str(round_id), reason=problem)
        return False
    successes = [_try_action(lambda: _allocate_all(round_id, settings), round=round_id)]
    for target_id in targets_without_files:
        successes.append(_try_action(partial(write_target_files, target_id, settings), target=target_id))
    for target_id, box in sealed_secrets.items():
        successes.append(_try_action(partial(reveal_secret, target_id, box, settings), target=target_id))
    if seed is not None:
        successes.append(_try_action(lambda: reveal_seed(round_id, seed, settings), round=round_id))
    return all(successes)


def _allocate_all(round_id: UUID, settings: Settings) -> None:
    """Allocate files to one team after the other, because each team's files depend on those before it."""
    while True:
        with transaction() as session:
            request = allocation.load_request(session, round_id)
        if request is None:
            return
        allocate_files(request, settings)


def _try_action(action: Callable[[], None], **ids: UUID) -> bool:
    """Do the action; log a domain error and return False for it, so that the other actions are still done."""
    try:
        action()
    except DomainError as problem:
        log_fields = {name: str(identifier) for name, identifier in ids.items()}
        log.error("turning_failed", **log_fields, reason=str(problem))
        return False
    return True


def write_target_files(target_id: UUID, settings: Settings) -> None:
    """Let the sandbox rewrite a target's files, without a trace of the uploaded bytes, and store them.

    They may depend on the team's own files, and if the track says so, on all that is sealed.
    """
    with transaction() as session:
        target = session.get_one(Target, target_id, options=[joinedload(Target.submission)])
        round_, submission = session.get_one(Round, target.round_id), target.submission
        competition_file, track = round_.file, round_.track
        secret = sealed_inputs.load_secret(session, submission.id)
        inputs = sealed_inputs.load_inputs_for_submission(session, round_, submission.id)
    needs_secrets = track.target_files.write is not None
    if inputs is not None and not needs_secrets:
        inputs = replace(inputs, seed=None, organizer_files={})
    job = TargetFilesJob(
        competition_file=competition_file,
        original=jobs.load_files(round_.public_files),
        files=jobs.load_release(
            submission.files,
            settings,
            sealed_for=submission.id if track.target_files.seals_release else None,
        ),
        file_names=track.target_file_names,
        secret=open_box(secret, settings) if needs_secrets else None,
        inputs=build_worker_inputs(track, inputs, settings),
    )
    contents = jobs.run(job, settings)
    files = {name: get_store().save(content) for name, content in contents.items()}
    with transaction() as session:
        contest_lifecycle.record_files(session, target_id, files)


def reveal_seed(round_id: UUID, seed: SealedBox, settings: Settings) -> None:
    """Open the seed for the reveal; raise Unavailable if it does not match its commitment."""
    content = open_seed(seed, settings)
    with transaction() as session:
        allocation.record_seed_opening(session, round_id, content)


def reveal_secret(target_id: UUID, box: SealedBox, settings: Settings) -> None:
    """Open a secret for the reveal; raise Unavailable if it does not match its commitment."""
    salted_secret = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=box.key_id, box=box.sealed, bound_to=box.bound_to
    )
    if sealing.compute_commitment(salted_secret.salt, salted_secret.secret) != box.commitment:
        raise Unavailable("a sealed secret does not match its commitment", code="secret_unreadable")
    digest = get_store().save(salted_secret.secret)
    with transaction() as session:
        contest_lifecycle.record_opening(session, target_id, salt=salted_secret.salt, secret=digest)


if __name__ == "__main__":
    main()
