"""Who won each board of a contest that is over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.locale.language import Words
from app.web.site import notation
from app.web.site.names import listed
from app.web.visitor.leader import on_rank


@dataclass(frozen=True, slots=True)
class Winner:
    """``teams``: the names of all on the first rank of ``board``; ``team_id``: of one that won alone;
    ``reached``: with what."""

    board: str
    teams: str
    team_id: UUID | None
    reached: str


def winners(board: Board, attacks: AttackersBoard | None, t: Words) -> Iterator[Winner]:
    """Of the anonymization board, then of the re-identification board, as far as anybody won it."""
    known = {row.team: row.team_id for row in board.rows}
    if best := on_rank(board, 1):
        yield winner("anonymization", [row.team for row in best], scored(best[0], t), known, t)
    if first := first_of_attacks(attacks):
        yield winner("reidentification", [row.team for row in first], found(first[0], t), known, t)


def winner(board: str, teams: list[str], reached: str, known: Mapping[str, UUID | None], t: Words) -> Winner:
    """A single one keeps its name as it is: a list of names may put it in brackets."""
    if len(teams) == 1:
        return Winner(board, teams[0], known.get(teams[0]), reached)
    return Winner(board, listed(teams, t), None, reached)


def scored(row: BoardRow, t: Words) -> str:
    if row.rank_sum is not None:
        return t("sum of ranks {sum}", sum=t.written(notation.numeral(row.rank_sum)))
    return t("overall score {overall}", overall=t.written(notation.score(row.overall)))


def found(row: AttackersRow, t: Words) -> str:
    if row.score is not None:
        return t(
            "score {score} of {targets}", score=t.written(notation.score(row.score)), targets=row.targets
        )
    return t("{identified} of {tried} individuals identified", identified=row.identified, tried=row.tried)


def first_of_attacks(board: AttackersBoard | None) -> list[AttackersRow]:
    """All on its first rank who found anything, the reader's own first; none while that is hidden."""
    rows = board.rows if board else ()
    first = [row for row in rows if row.rank == 1 and (row.identified or row.score)]
    return sorted(first, key=lambda row: not row.own)
