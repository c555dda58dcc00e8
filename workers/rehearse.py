"""Makes the moves of rehearsals: claim, have the walled child anonymize or attack, send what it made."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidUpload, NotAllowed, TooMany
from anoncup.tracks.files import SECRET
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import RehearsalMove
from app.db.transaction import transaction
from app.services.attacks import guesses
from app.services.attacks.guesses import Given
from app.services.organizing import rehearsal_moves
from app.services.organizing.rehearsal_moves import Claim
from app.services.submissions import uploads
from app.services.submissions.submissions import Seal
from app.services.submissions.uploads import Upload
from workers import child_manager, lease_runner
from workers.child_manager import ScoringFailed, Step
from workers.jobs import Attack, Sampling
from workers.readiness import FOR_SECRETS

OnStep = Callable[[Step], None]
T = TypeVar("T")


def play() -> bool:
    """Make the move that is fairly next; False if none is due. Safe to do twice, and to kill."""
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = rehearsal_moves.claim_next(session, lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return False
    if claimed.release is not None:
        hand_in(claimed, claimed.release, settings)
    elif claimed.guess is not None:
        attack(claimed, claimed.guess, settings)
    return True


def hand_in(claimed: Claim, at: uploads.Entrance, settings: Settings) -> None:
    """A release of the team's method."""

    def do(on_step: OnStep) -> Upload:
        asked = Sampling(
            claimed.scored_by, claimed.original, claimed.method, seed_of(claimed), names=at.names
        )
        made = child_manager.evaluate(asked, settings, on_step=on_step).content["files"]
        files = {name: made[name].encode() for name in at.public}
        return well_formed(
            lambda: uploads.read_upload(at, files=files, secret=made[SECRET].encode(), comment=claimed.method)
        )

    upload = lease_runner.done(do, RehearsalMove, claimed.move_id, claimed.attempt, fitness=FOR_SECRETS)
    if upload is not None:
        sent(claimed, lambda session: rehearsal_moves.send(session, claimed, upload, seal_in(settings)))


def attack(claimed: Claim, at: guesses.Entrance, settings: Settings) -> None:
    """What a built-in attacker says of a target."""

    def do(on_step: OnStep) -> list[Given]:
        asked = Attack(
            claimed.scored_by,
            claimed.original,
            dict(claimed.target),
            attacker=claimed.method,
            seed=seed_of(claimed),
            names=tuple(at.asked),
        )
        made = child_manager.evaluate(asked, settings, on_step=on_step).content["files"]
        return well_formed(
            lambda: [guesses.read(content.encode(), at, question) for question, content in made.items()]
        )

    given = lease_runner.done(do, RehearsalMove, claimed.move_id, claimed.attempt, fitness=FOR_SECRETS)
    if given is not None:
        sent(claimed, lambda session: rehearsal_moves.guess(session, claimed, given))


def well_formed(read: Callable[[], T]) -> T:
    """A sample method may make what the competition's rules do not admit."""
    try:
        return read()
    except InvalidUpload as problem:
        raise ScoringFailed(problem.message, code=rehearsal_moves.REFUSED) from None


def sent(claimed: Claim, do: Callable[[Session], bool]) -> None:
    """In one COMMIT with the end of the move, or the refusal is noted."""
    try:
        with transaction() as session:
            do(session)
    except (Conflict, NotAllowed, TooMany) as problem:
        with transaction() as session:
            rehearsal_moves.refused(session, claimed, problem)


def seed_of(claimed: Claim) -> int:
    """The same again for a move that is made again; every move has another one."""
    return claimed.move_id.int


def seal_in(settings: Settings) -> Seal:
    """As a web process would, which alone is told the public key."""
    folder = settings.opening_keys_dir
    return lambda bound_to, secret: sealing.seal_to_held(folder, bound_to=bound_to, secret=secret)
