"""The results of a contest as an open data set, after the reveal.

It contains what everybody may read by then. Teams are named, people are not.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup.errors import NotFound
from app.boards import anonymization, matrix, reidentification, total
from app.competitions import competitions, visibility
from app.competitions.visibility import BoardAccess, Viewer
from app.core.db.models import Guess, Round, State, Target
from app.core.db.transaction import read_clock
from app.core.http.archives import Content
from app.core.identity.principal import Principal
from app.core.spreadsheet import render_csv
from app.core.storage import compute_digest, get_store
from app.exports import guess_table
from app.submissions import uploads
from app.targets import targets

_TOTALS = {"total": total.build_release_total, "attack-total": total.build_attack_total}
_TARGET_COLUMNS = ("target", "team", "rows", "commitment", "salt", "sha256 of the secret")


@dataclass(frozen=True, slots=True)
class ResultArchive:
    """The generated files by name, and the SHA-256 of the stored ones by name."""

    texts: dict[str, bytes]
    digests: dict[str, str]

    def iter_files(self) -> Iterator[tuple[str, Content]]:
        """Yield the names and contents of all files, the checksums first; needs no session."""
        yield "SHA256SUMS", self._render_checksums().encode()
        yield from sorted(self.texts.items())
        for name, digest in sorted(self.digests.items()):
            yield name, get_store().read_chunks(digest)

    def _render_checksums(self) -> str:
        """Return the SHA-256 of every file in the format of ``sha256sum --check``."""
        digests = self.digests | {name: compute_digest(content) for name, content in self.texts.items()}
        return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def load(session: Session, principal: Principal, slug: str) -> ResultArchive:
    """Load the archive for an organizer; raises NotFound before the reveal."""
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    round_ = competitions.find_for_organizer(session, principal, slug)
    revealed = [
        target
        for target in targets.list_revealed(session, principal, slug)
        if not targets.is_withdrawn(target)
    ]
    access = BoardAccess(round_, visibility.compute_scope(round_, Viewer(), read_clock(session)))
    boards = build_boards(session, access)
    guesses = _load_counted_guesses(session, round_, revealed)
    texts = {
        "competition.toml": competitions.build_published_file(round_).encode(),
        "guesses.csv": guess_table.format_table(round_, guesses),
        "targets.csv": _format_targets(revealed),
        **{f"boards/{name}.csv": csv for name, (_, csv) in boards.items()},
        **{f"boards/{name}.json": board.model_dump_json().encode() for name, (board, _) in boards.items()},
    }
    return ResultArchive(texts, _list_stored_files(round_, revealed) | guess_table.list_files(guesses))


def _load_counted_guesses(session: Session, round_: Round, revealed: Sequence[Target]) -> list[Guess]:
    """Return the guesses that the boards count: not those of disqualified teams, nor on their targets."""
    return guess_table.load_guesses(
        session,
        round_,
        Guess.state == State.SCORED,
        Guess.target_id.in_([target.id for target in revealed]),
        Guess.question.in_(round_.track.select_questions(round_.rules)),
        Guess.team.has(disqualified_at=None),
    )


def _list_stored_files(round_: Round, revealed: Sequence[Target]) -> dict[str, str]:
    """Return the SHA-256 of the original data, the releases and their secrets, by name in the archive."""
    files = {f"original/{name}.csv": digest for name, digest in uploads.list_original_digests(round_)}
    for target in revealed:
        for name, digest in (target.files or {}).items():
            files[f"releases/{target.name}/{name}.csv"] = digest
        if target.opening is not None:  # for the type checker: the reveal waits until all have one
            files[f"secrets/{target.name}.csv"] = target.opening.secret
    return files


def build_boards(session: Session, access: BoardAccess) -> dict[str, tuple[BaseModel, bytes]]:
    """Return each board as a viewer sees it, and its CSV."""
    releases = anonymization.build_board(session, access)
    trials = matrix.build_matrix(session, access)
    attacks = reidentification.build_board(session, access)
    boards: dict[str, tuple[BaseModel, bytes]] = {
        "anonymization": (releases, anonymization.render_csv(releases)),
        "matrix": (trials, matrix.render_csv(trials)),
        "reidentification": (attacks, reidentification.render_csv(attacks)),
    }
    with suppress(NotFound):  # without rounds
        for name, build in _TOTALS.items():
            board = build(session, access)
            boards[name] = board, total.render_csv(board)
    return boards


def _format_targets(revealed: Sequence[Target]) -> bytes:
    rows = (
        (
            target.name,
            target.submission.team.name,
            target.rows,
            target.submission.commitment,
            target.opening and target.opening.salt.hex(),
            target.opening and target.opening.secret,
        )
        for target in revealed
    )
    return render_csv(_TARGET_COLUMNS, rows)
