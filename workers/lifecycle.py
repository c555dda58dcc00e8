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

from anoncup.errors import DomainError, Unavailable
from anoncup.plugins import TRACKS
from anoncup.runner.jobs import TargetFilesJob, WorkerInputs
from anoncup.tracks.model import AnyTrack
from app.config import Settings, get_settings
from app.core import logs, sealing
from app.core.db.stored_files import read_rules
from app.core.db.transaction import transaction
from app.core.processes import package_calls, runners
from app.core.storage import get_store
from app.lifecycle import contest_lifecycle
from app.lifecycle.contest_lifecycle import SealedTarget, TargetWithoutFiles
from app.originals import sealed_inputs
from app.originals.sealed_inputs import SealedBox
from app.targets import allocation
from workers import jobs
from workers.allocate import allocate_files, build_worker_inputs, open_seed
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
        sealed_targets = contest_lifecycle.list_sealed_targets(session, round_id)
        seed = contest_lifecycle.find_unopened_seed(session, round_id)
        allocation_request = allocation.load_request(session, round_id)
    needs_keys = bool(sealed_targets or seed or allocation_request)
    problem = (SCORING_READINESS if needs_keys else REPORT_READINESS).find_problem()
    if problem is not None:
        log.error("takes_no_work", round=str(round_id), reason=problem)
        return False
    successes = [_try_action(lambda: _allocate_all(round_id, settings), round=round_id)]
    for target in targets_without_files:
        successes.append(_try_action(partial(write_target_files, target, settings), target=target.target_id))
    for sealed in sealed_targets:
        successes.append(_try_action(partial(reveal_secret, sealed, settings), target=sealed.target_id))
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


def write_target_files(target: TargetWithoutFiles, settings: Settings) -> None:
    """Let the sandbox rewrite a target's files, without a trace of the uploaded bytes, and store them."""
    track = TRACKS[read_rules(target.competition_file).track]
    job = TargetFilesJob(
        competition_file=target.competition_file,
        original=jobs.load_files(dict(target.original)),
        files=jobs.load_release(
            target.files,
            settings,
            sealed_for=target.submission_id if track.target_files.seals_release else None,
        ),
        file_names=track.target_file_names,
        secret=None if track.target_files.write is None else _open_target_secret(target, settings),
        inputs=_build_target_inputs(target, track, settings),
    )
    contents = jobs.run(job, settings)
    files = {name: get_store().save(content) for name, content in contents.items()}
    with transaction() as session:
        contest_lifecycle.record_files(session, target.target_id, files)


def _build_target_inputs(target: TargetWithoutFiles, track: AnyTrack, settings: Settings) -> WorkerInputs:
    """Return the team's own files, and the organizers' files and keys that the target may depend on."""
    if track.allocation is None:
        return WorkerInputs()
    with transaction() as session:
        allocation_inputs = sealed_inputs.load_allocation_inputs(session, target.round_id, target.team_id)
    if track.target_files.write is None:
        allocation_inputs = replace(allocation_inputs, seed=None, organizer_files={})
    return build_worker_inputs(track, allocation_inputs, settings)


def _open_target_secret(target: TargetWithoutFiles, settings: Settings) -> bytes:
    return sealing.open_sealed(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, bound_to=target.submission_id
    )


def reveal_seed(round_id: UUID, seed: SealedBox, settings: Settings) -> None:
    """Open the seed for the reveal; raise Unavailable if it does not match its commitment."""
    content = open_seed(seed, settings)
    with transaction() as session:
        allocation.record_seed_opening(session, round_id, content)


def reveal_secret(target: SealedTarget, settings: Settings) -> None:
    """Open a secret for the reveal; raise Unavailable if it does not match its commitment."""
    salted_secret = sealing.open_with_salt(
        settings.opening_keys_dir, key_id=target.key_id, box=target.sealed, bound_to=target.submission_id
    )
    if sealing.compute_commitment(salted_secret.salt, salted_secret.secret) != target.commitment:
        raise Unavailable("a sealed secret does not match its commitment", code="secret_unreadable")
    digest = get_store().save(salted_secret.secret)
    with transaction() as session:
        contest_lifecycle.record_opening(session, target.target_id, salt=salted_secret.salt, secret=digest)


if __name__ == "__main__":
    main()
