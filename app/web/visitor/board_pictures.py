"""Charts of the anonymization board, which only use values that the board itself shows."""

from dataclasses import dataclass

from anoncup.schemas import Board, BoardRow
from app.charts.figure import Figure
from app.charts.strip import DistributionWords, TeamValue, build_distribution
from app.charts.text import translate_words
from app.locale.language import Translator
from app.services.contests.contest import Contest
from app.web.visitor.standings import BoardColumn, group_columns

_SCORES = ("overall", "utility", "security")


@dataclass(frozen=True, slots=True)
class DistributionChoice:
    """A score or a column of the board whose distribution can be drawn."""

    name: str
    title: str
    column: BoardColumn | None = None

    def value(self, row: BoardRow) -> float | None:
        if self.column is not None:
            return self.column.value(row)
        score: float | None = getattr(row, self.name)
        return score

    @property
    def higher_is_better(self) -> bool:
        return self.column is not None and self.column.higher_is_better


def list_choices(contest: Contest, t: Translator, *, all_columns: bool) -> tuple[DistributionChoice, ...]:
    """Return the scores and, with ``all_columns``, also the board's columns in the order of the board."""
    scores = tuple(DistributionChoice(name, t.label(f"score_{name}")) for name in _SCORES)
    if not all_columns:
        return scores
    columns = (column for group in group_columns(contest.rules, contest.track) for column in group.columns)
    return scores + tuple(
        DistributionChoice(
            board_column.name, translate_title(board_column.kind, board_column.name, t), board_column
        )
        for board_column in columns
    )


def translate_title(kind: str, name: str, t: Translator) -> str:
    return t.label(f"{kind}_{name}", name)


def draw_distribution(board: Board, choice: DistributionChoice, t: Translator) -> Figure:
    """Draw the distribution of the teams' values of one column."""
    values = [(row, choice.value(row)) for row in board.rows if not row.baseline]
    word_overrides = {} if any(row.own for row in board.rows) else {"other_teams": t("Teams")}
    direction = t("higher is better") if choice.higher_is_better else t("lower is better")
    x_title = choice.title + t(" ({text})", text=direction)
    words = translate_words(DistributionWords, t, title=choice.title, x_title=x_title, **word_overrides)
    return build_distribution(
        [TeamValue(row.team, value, own=row.own) for row, value in values if value is not None], words
    )
