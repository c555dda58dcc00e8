"""Draws in the walled child, with keys that follow from the seed: it never gets the seed itself."""

from hashlib import sha256

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from anoncup.tracks import seeds
from app.config import Settings
from app.crypto import sealing
from app.db.transaction import transaction
from app.services.attacks import allocation
from app.services.attacks.allocation import Undrawn
from app.services.contests.contest import read_file
from app.services.contests.sealed_inputs import Box, Means
from app.storage import store
from workers import child_manager
from workers.jobs import Aids, Drawing

MOST_ATTEMPTS = 2_000
"""Attempts at files that no other team has; then there are none left. In the second half a team may have
what the baselines have: they consume no allocation."""


def draw(undrawn: Undrawn, settings: Settings) -> None:
    """Draw files that no other team has and note them, or note that there are none left."""
    rules = read_file(undrawn.competition_file)
    rule = TRACKS[rules.track].draw
    shared = rule is None or not rule.each_team or rule.shared(rules)
    for attempt in range(MOST_ATTEMPTS):
        avoid_baselines = attempt < MOST_ATTEMPTS // 2
        files = drawn(undrawn, settings, attempt)
        if not shared and is_taken(undrawn, files, avoid_baselines=avoid_baselines):
            continue
        stored = {name: store().put(content.encode()) for name, content in files.items()}
        with transaction() as session:
            if allocation.record_allocation(
                session, undrawn, stored, attempt, shared=shared, avoid_baselines=avoid_baselines
            ):
                return
    with transaction() as session:
        allocation.note_exhausted(session, undrawn, MOST_ATTEMPTS)


def is_taken(undrawn: Undrawn, files: dict[str, str], *, avoid_baselines: bool) -> bool:
    """Whether another team has exactly these files."""
    digests = {name: sha256(content.encode()).hexdigest() for name, content in files.items()}
    with transaction() as session:
        return digests in allocation.list_allocated_files(
            session, undrawn.competition_id, with_baselines=avoid_baselines
        )


def drawn(undrawn: Undrawn, settings: Settings, attempt: int) -> dict[str, str]:
    told = aids(undrawn.competition_file, undrawn.means, settings, attempt=attempt)
    asked = Drawing(undrawn.competition_file, undrawn.original, undrawn.names, told)
    found: dict[str, str] = child_manager.evaluate(asked, settings, warm=False).content["files"]
    return found


def aids(file: str, means: Means | None, settings: Settings, *, attempt: int | None = None) -> Aids:
    """What a child is told of seed and truth; both are opened here and go to it through a pipe only."""
    draw = TRACKS[read_file(file).track].draw
    if draw is None or means is None:
        return Aids()
    truth = {name: opened_box(box, settings).decode("latin-1") for name, box in means.truth.items()}
    if means.seed is None:
        return Aids(truth)
    seed, at = opened_seed(means.seed, settings), means.attempt if attempt is None else attempt
    return Aids(truth, {one: seeds.key_for(seed, one, means.team, at).hex() for one in draw.drawn_for})


def opened_seed(box: Box, settings: Settings) -> bytes:
    """The seed, if it is what was committed to."""
    seed = opened_box(box, settings)
    if seeds.commitment(seed) != box.commitment:
        raise Unavailable("a seed does not match its commitment", code="secret_unreadable")
    return seed


def opened_box(box: Box, settings: Settings) -> bytes:
    return sealing.open_sealed(
        settings.opening_keys_dir, key_id=box.key_id, box=box.sealed, submission_id=box.bound_to
    )
