"""The winners of each board of a closed contest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.locale.language import Translator
from app.web.site import notation
from app.web.site.names import join_names
from app.web.visitor.leader import list_rows_at_rank


@dataclass(frozen=True, slots=True)
class Winner:
    """The winners of a board: the names of all teams on its first rank.

    ``team_id`` is only set if there is a single winner. ``result`` is the winning score as a text.
    """

    board: str
    teams: str
    team_id: UUID | None
    result: str


def iter_winners(board: Board, attackers_board: AttackersBoard | None, t: Translator) -> Iterator[Winner]:
    """Yield the winners of the anonymization board, then of the re-identification board, if there are any."""
    team_ids = {row.team: row.team_id for row in board.rows}
    if leading_rows := list_rows_at_rank(board, 1):
        yield _build_winner(
            "anonymization",
            [row.team for row in leading_rows],
            _format_board_result(leading_rows[0], t),
            team_ids,
            t,
        )
    if leading_attackers := list_leading_attackers(attackers_board):
        yield _build_winner(
            "reidentification",
            [row.team for row in leading_attackers],
            _format_attack_result(leading_attackers[0], t),
            team_ids,
            t,
        )


def _build_winner(
    board: str, teams: list[str], result: str, team_ids: Mapping[str, UUID | None], t: Translator
) -> Winner:
    """Return the winners of a board. A single name is not formatted as a list, which may add brackets."""
    if len(teams) == 1:
        return Winner(board, teams[0], team_ids.get(teams[0]), result)
    return Winner(board, join_names(teams, t), None, result)


def _format_board_result(row: BoardRow, t: Translator) -> str:
    if row.rank_sum is not None:
        return t("sum of ranks {sum}", sum=t.localize_numbers(notation.format_number(row.rank_sum)))
    return t("overall score {overall}", overall=t.localize_numbers(notation.format_score(row.overall)))


def _format_attack_result(row: AttackersRow, t: Translator) -> str:
    if row.score is not None:
        return t(
            "score {score} of {targets}",
            score=t.localize_numbers(notation.format_score(row.score)),
            targets=row.targets,
        )
    return t("{identified} of {tried} individuals identified", identified=row.identified, tried=row.tried)


def list_leading_attackers(board: AttackersBoard | None) -> list[AttackersRow]:
    """Return the rows on the first rank that found anything, the reader's own first.

    There are none while the results are hidden.
    """
    rows = board.rows if board else ()
    leading_rows = [row for row in rows if row.rank == 1 and (row.identified or row.score)]
    return sorted(leading_rows, key=lambda row: not row.own)
