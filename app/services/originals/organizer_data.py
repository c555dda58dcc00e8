"""Files that organizers hold and nobody else sees: checked, sealed to the workers' key, never given back."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.plugins import TRACKS
from app.crypto import sealing
from app.db.models import Competition, Truth
from app.processes import parser_process
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, revisions, sealed_inputs
from app.services.contests.contest import Contest, read_file

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A file that has been found right for the competition as it stood; in memory only."""

    name: str
    content: bytes
    replaces: revisions.State


def name_of(contest: Contest, file: str) -> str:
    """The file of truth that is called so; NotFound if the competition asks for none of that name."""
    names: dict[str, str] = {f"{name}.csv": name for name in contest.row.drawing.get("truth", ())}
    if file not in names:
        raise NotFound("the organizers' own files are {names}", code="no_such_file", names=tuple(names))
    return names[file]


def given(contest: Contest, name: str, content: bytes) -> Given:
    """InvalidUpload says what is wrong with it, and nothing of what it holds. Needs no session."""
    row = contest.row
    require_open(row)
    if row.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    digests = tuple(sorted(row.original.items()))
    parser_process.call_reading(
        parser_process.ORIGINALS, row.original.values(), check, digests, row.file, name, content
    )
    return Given(name, content, (row.file, dict(row.original)))


def check(digests: Pairs, file: str, name: str, content: bytes) -> None:
    rules = read_file(file)
    draw = TRACKS[rules.track].draw
    if draw is not None and draw.check_truth is not None:
        draw.check_truth(name, content, competitions.original_tables(digests, file), rules)


def require_open(row: Competition) -> None:
    if row.drawn_at is not None:
        raise Conflict(revisions.DRAWN_ALREADY, code="drawn_already")


def hold(
    session: Session, principal: Principal, slug: str, one: Given, *, sealing_key: Path | None
) -> Contest:
    """Seal it in place of what was given under that name, until the first team has its draw."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    row = contest.row
    require_open(row)
    if (row.file, row.original) != one.replaces:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    bound_to = sealed_inputs.bound_to(row.id, one.name)
    sealed = sealing.seal(sealing_key, submission_id=bound_to, secret=one.content)
    values = {"key_id": sealed.key_id, "sealed": sealed.box, "commitment": sealed.commitment}
    mine = Truth.competition_id == row.id, Truth.name == one.name
    kept = {**values, "size": len(one.content), "at": func.clock_timestamp()}
    # It may not read what it replaces.
    done = session.execute(update(Truth).where(*mine).values(**kept).returning(Truth.name))
    if done.first() is None:
        session.add(Truth(competition_id=row.id, name=one.name, size=len(one.content), **values))
        session.flush()
    audit.record(
        session,
        principal,
        "truth.upload",
        competition_id=row.id,
        subject=one.name,
        after={"commitment": sealed.commitment},
    )
    return contest
