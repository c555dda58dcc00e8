"""The pictures of the boards: what a board holds, and nothing besides, as charts."""

from collections.abc import Sequence
from dataclasses import dataclass

from anoncup.rules.model import Rules
from anoncup.schemas import Board, BoardRow
from app.charts.figure import Figure
from app.charts.scatter import Point, ScatterWords, scatter
from app.charts.strip import DistributionWords, Standing, distribution
from app.charts.text import worded
from app.locale.language import Words
from app.services.contests.contest import Contest
from app.web.visitor.standings import Column, groups, named

SCORES = ("overall", "utility", "security")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a distribution may be asked of: a score of the board, or one of its columns."""

    name: str
    title: str
    column: Column | None = None

    def value(self, row: BoardRow) -> float | None:
        if self.column is not None:
            return self.column.value(row)
        found: float | None = getattr(row, self.name)
        return found

    @property
    def higher_is_better(self) -> bool:
        return self.column is not None and self.column.higher_is_better


def choices(contest: Contest, t: Words, *, every: bool) -> tuple[Choice, ...]:
    """The board's scores and, where it shows them of ``every`` team, its other columns, in its order."""
    scores = tuple(Choice(name, t.label(name)) for name in SCORES)
    if not every:
        return scores
    columns = (column for group in groups(contest.rules, contest.track) for column in group.columns)
    return scores + tuple(Choice(one.name, title_of(one.kind, one.name, t), one) for one in columns)


def chosen(offered: Sequence[Choice], name: str) -> Choice:
    """The one asked for, else the first."""
    return next((one for one in offered if one.name == name), offered[0])


def title_of(kind: str, name: str, t: Words) -> str:
    return t.label(f"{kind}_{name}", name)


def scatter_of(board: Board, rules: Rules, t: Words) -> Figure:
    """A team's loss of utility against its risk; where their mean ranks, with its lines."""
    points = [
        Point(
            named(row, t),
            row.utility,
            row.security,
            own=row.own,
            on_front=row.on_front,
            baseline=row.baseline,
            blur=0.0 if row.own or board.digits is None else 0.5 * 10**-board.digits,
            rank=row.rank,
            overall=row.overall,
        )
        for row in board.rows
        if row.utility is not None and row.security is not None
    ]
    return scatter(points, worded(ScatterWords, t), equal=rules.ranking.rule == "score")


def distribution_of(board: Board, choice: Choice, t: Words) -> Figure:
    """How the teams' values of one column lie."""
    values = [(row, choice.value(row)) for row in board.rows if not row.baseline]
    others = {} if any(row.own for row in board.rows) else {"others": t("Teams")}
    better = t("higher is better") if choice.higher_is_better else t("lower is better")
    x = choice.title + t(" ({text})", text=better)
    words = worded(DistributionWords, t, title=choice.title, x=x, **others)
    return distribution(
        [Standing(row.team, value, own=row.own) for row, value in values if value is not None], words
    )
