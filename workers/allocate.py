"""Make the files that are allocated to one team or to all teams.

The sandbox gets keys derived from the seed, never the seed itself.
"""

from dataclasses import replace

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from anoncup.runner.jobs import AllocateJob, WorkerInputs
from anoncup.tracks import seeds
from anoncup.tracks.model import AnyTrack
from app.config import Settings
from app.core import sealing
from app.core.db.stored_files import read_rules
from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.originals.sealed_inputs import AllocationInputs, SealedBox
from app.targets import allocation
from app.targets.allocation import AllocationRequest
from workers import jobs

MAX_ATTEMPTS = 2_000
"""Attempts to make files that no other team has, before the allocation counts as exhausted."""


def allocate_files(request: AllocationRequest, settings: Settings) -> None:
    """Make files that no other team has and record them, or record that none are left or assigned."""
    rules = read_rules(request.competition_file)
    track = TRACKS[rules.track]
    allocation_rule = track.allocation
    may_repeat = (
        allocation_rule is None or not allocation_rule.per_team or allocation_rule.allows_shared(rules)
    )
    for attempt in range(MAX_ATTEMPTS):
        allocation_inputs = replace(request.allocation_inputs, attempt=attempt)
        job = AllocateJob(
            competition_file=request.competition_file,
            original=jobs.load_files(request.original),
            file_names=tuple(request.file_names),
            inputs=build_worker_inputs(track, allocation_inputs, settings),
        )
        files = jobs.run(job, settings)
        if not files:  # the organizers have assigned none to the team
            break
        stored = {name: get_store().save(content) for name, content in files.items()}
        with transaction() as session:
            if allocation.record_allocation(session, request, stored, attempt, allow_repeats=may_repeat):
                return
    with transaction() as session:
        allocation.record_exhaustion(session, request, attempt + 1)


def build_worker_inputs(
    track: AnyTrack, allocation_inputs: AllocationInputs | None, settings: Settings
) -> WorkerInputs:
    """Return the organizers' files and the keys derived from the seed, for the child.

    Seed and files are opened in this process. They reach the child only in memory.
    """
    if track.allocation is None or allocation_inputs is None:
        return WorkerInputs()
    organizer_files = {
        name: open_box(box, settings) for name, box in allocation_inputs.organizer_files.items()
    }
    own_files = jobs.load_files(allocation_inputs.own_files)
    keys = {}
    if allocation_inputs.seed is not None:
        seed = open_seed(allocation_inputs.seed, settings)
        keys = {
            purpose: seeds.derive_key(seed, purpose, allocation_inputs.team, allocation_inputs.attempt).hex()
            for purpose in track.allocation.generator_purposes
        }
    return WorkerInputs(
        organizer_files=organizer_files, keys=keys, team=allocation_inputs.team, own_files=own_files
    )


def open_seed(box: SealedBox, settings: Settings) -> bytes:
    """Return the opened seed; raise Unavailable if it does not match its commitment."""
    seed = open_box(box, settings)
    if seeds.commit_to_seed(seed) != box.commitment:
        raise Unavailable("a seed does not match its commitment", code="secret_unreadable")
    return seed


def open_box(box: SealedBox, settings: Settings) -> bytes:
    """Return the content, which reaches a child only in memory."""
    return sealing.open_sealed(
        settings.opening_keys_dir, key_id=box.key_id, box=box.sealed, bound_to=box.bound_to
    )
