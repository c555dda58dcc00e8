"""Schemas of the boards, including the headings of their columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from anoncup.messages import N_, P_
from anoncup.schemas.fields import Form, Id, Moment, Rows, Slug, TeamName, Title, example, omit_if_none

_NOT_IN_SHEET = "aside"
"""Marks fields that the exported sheet leaves out: they depend on the viewer or are only drawn."""


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """The heading and sort order of a column.

    ``brief`` is the heading in a terminal and ``page`` that on a page; a column without one is not shown
    there. ``unit`` follows the heading on the page. ``sort`` and ``largest_first`` control how the page sorts
    rows by this column.
    """

    brief: str
    page: str | tuple[str, str] = ""
    unit: str = ""
    sort: Literal["number", "text", "time"] = "number"
    largest_first: bool = False


class BoardLine(Form):
    """A row of a board. ``COLUMNS`` are the displayed fields, in the order of terminal and page."""

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]]

    @classmethod
    def columns(cls) -> list[str]:
        """Return the fields that are columns of the exported sheet, in order.

        A field with several numbers becomes several columns.
        """
        return [name for name, field in cls.model_fields.items() if _NOT_IN_SHEET not in field.metadata]


_PARTS = Annotated[
    str | None,
    Field(description="how a package's ranking function says that the score came about; absent if hidden"),
    example("12 + 7.5 - 2"),
]


class BoardRow(BoardLine):
    """A team's best accepted submission. A team without one has neither rank nor scores.

    `digits` of the board tells which numbers other teams see.
    """

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": ColumnLabel("rank", N_("Rank")),
        "team": ColumnLabel("team", N_("Team"), sort="text"),
        "score": ColumnLabel("", N_("Score")),
        "overall": ColumnLabel("overall", N_("Overall")),
        "utility": ColumnLabel("utility loss", N_("Utility loss"), "U"),
        "security": ColumnLabel("risk", N_("Risk"), "E"),
        "rival_risk": ColumnLabel("", P_("rates", "Other teams")),
        "entries": ColumnLabel("entries", P_("count", "Submissions")),
        "received_at": ColumnLabel("received", N_("Received"), sort="time"),
    }

    rank: Annotated[int | None, example(1)]
    """null if nothing was accepted; equal scores share a rank"""
    team: TeamName
    team_id: Annotated[UUID | None, _NOT_IN_SHEET] = None
    """id of the team's page"""
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    baseline: bool
    """whether the organizers added it for comparison, without a rank"""
    entries: Annotated[int, example(4)]
    """number of finished submissions"""
    overall: Annotated[float | None, example(0.132)]
    """(U + E) / 2; 0 is best"""
    utility: Annotated[float | None, example(0.084)]
    """U, the utility loss, from 0 to 1"""
    security: Annotated[float | None, example(0.18)]
    """E, the largest rate of a built-in or rival attacker that counts, from 0 to 1"""
    rival_risk: Annotated[float | None, example(0.12)]
    """rate of the best visible guess of a rival, part of E; null if there is none"""
    score: Annotated[float | None, example(3.0)]
    """value of the competition's formula; null if the board ranks by `overall` or there is no value"""
    parts: _PARTS = omit_if_none()
    on_front: Annotated[bool, _NOT_IN_SHEET, example(True)]
    """whether no other row has both a lower U and a lower E, as shown"""
    received_at: Moment | None
    measures: Annotated[dict[str, float], example({"mean_mae": 18.25})]
    attackers: Annotated[dict[str, float], example({"id_rand": 0.18})]
    """the value of each attacker that counts for E"""


class BoardBase(Form):
    competition: Slug
    title: Title


class AttackBoardBase(BoardBase):
    hidden: bool
    """whether the scores of guesses are still hidden"""
    counted: bool = True
    """whether scores count individuals; otherwise they measure what is found beyond chance"""
    questions: Annotated[tuple[str, ...], example(["link"])] = ()
    """the questions about each target"""

    @property
    def distinct_questions(self) -> tuple[str, ...]:
        """The questions if there are several, otherwise an empty tuple."""
        return self.questions if len(self.questions) > 1 else ()


class Board(BoardBase):
    frozen_from: datetime | None
    finals: bool
    """whether only the finals of the first phase are compared"""
    digits: Annotated[int | None, example(2)]
    """number of decimals of other teams' U and E until the secrets are revealed; until then `overall` has
    four decimals, `score` has four digits, and `measures`, `attackers` and `rival_risk` are empty; null if
    everything is exact"""
    measures: Annotated[tuple[str, ...], example(["mean_mae"])]
    attackers: Annotated[tuple[str, ...], example(["id_rand"])]
    rows: tuple[BoardRow, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the rows of other teams are neither rounded nor without details."""
        return self.digits is None

    @property
    def has_parts(self) -> bool:
        """Whether a row says how its score came about."""
        return any(row.parts is not None for row in self.rows)


class HistoryStep(Form):
    """A team's best submission from a moment on, as the board showed it then."""

    at: Moment
    """the first full second at which the board showed it"""
    rank: Annotated[int | None, example(1)]
    """rank at that moment; null for a baseline"""
    overall: Annotated[float | None, example(0.132)]
    """null if no submission counts any longer"""
    utility: Annotated[float | None, example(0.08)]
    security: Annotated[float | None, example(0.18)]
    score: Annotated[float | None, example(3.0)]
    """value of the competition's formula, as on the board"""


class HistoryTeam(Form):
    team_id: Id
    team: TeamName
    own: bool
    baseline: bool
    steps: tuple[HistoryStep, ...]


class History(BoardBase):
    """The anonymization board over time, as it was shown to the reader at each moment."""

    frozen_from: datetime | None
    digits: Annotated[int | None, example(2)]
    """as `digits` of the board"""
    teams: tuple[HistoryTeam, ...]


_BY_QUESTION_DESCRIPTION = "what was found beyond chance for each question, from 0 to 1"


class AttackersRow(BoardLine):
    """The attacks of a team. Without a visible guess it has neither rank nor numbers.

    ``UNCOUNTED_COLUMNS`` are the columns if individuals are not counted.
    """

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": ColumnLabel("rank", N_("Rank")),
        "team": ColumnLabel("team", N_("Team"), sort="text"),
        "identified": ColumnLabel("identified", N_("Individuals identified"), "↑", largest_first=True),
        "tried": ColumnLabel("of", N_("of individuals"), largest_first=True),
        "rate": ColumnLabel("rate", N_("Rate"), "↑", largest_first=True),
        "targets": ColumnLabel("targets", N_("Targets attacked"), largest_first=True),
    }

    UNCOUNTED_COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": COLUMNS["rank"],
        "team": COLUMNS["team"],
        "score": ColumnLabel("score", N_("Score"), "↑", largest_first=True),
        "rate": ColumnLabel("mean", N_("Mean"), "↑", largest_first=True),
        "targets": COLUMNS["targets"],
    }

    rank: Annotated[int | None, example(1)]
    team: TeamName
    team_id: Annotated[UUID | None, _NOT_IN_SHEET] = None
    """id of the team's page; null before the team is on a board"""
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    identified: Annotated[int | None, example(31)]
    """number of records identified by the best guess on each target"""
    tried: Annotated[int | None, example(150)]
    """number of records in all attacked targets"""
    rate: Annotated[float | None, example(0.18)]
    """`identified` divided by `tried`; if individuals are not counted, the score divided by the number of
    targets"""
    targets: Annotated[int | None, example(3)]
    """number of attacked targets"""
    score: float | None = omit_if_none()
    """value of the competition's formula; without a formula, the sum over all targets if individuals are not
    counted"""
    parts: _PARTS = omit_if_none()
    by_question: Annotated[
        dict[str, float] | None, Field(description=f"{_BY_QUESTION_DESCRIPTION}: the mean over the targets")
    ] = omit_if_none()


class AttackersBoard(AttackBoardBase):
    by_formula: bool = False
    """whether `score` is the value of the competition's formula"""
    rows: tuple[AttackersRow, ...]

    @property
    def has_parts(self) -> bool:
        """Whether a row says how its score came about."""
        return any(row.parts is not None for row in self.rows)

    @property
    def columns(self) -> Mapping[str, ColumnLabel]:
        """The displayed columns, without those of single questions."""
        if not self.counted:
            return AttackersRow.UNCOUNTED_COLUMNS
        score = {"score": AttackersRow.UNCOUNTED_COLUMNS["score"]} if self.by_formula else {}
        leading = {name: AttackersRow.COLUMNS[name] for name in ("rank", "team")}
        return {**leading, **score, **AttackersRow.COLUMNS}


class MatrixTarget(Form):
    target: Annotated[str, example("T07")]
    rows: Rows
    own: bool
    team: Annotated[str | None, example("Red")]
    """the team of the release; null while the competition hides it"""

    @property
    def label(self) -> str:
        """The name of the target, followed by its team if that is visible."""
        return self.target if self.team is None else f"{self.target} ({self.team})"


class Cell(Form):
    """The best trial of an attacker on one target."""

    correct: Annotated[float | None, example(9)]
    """may be an expectation for built-in attackers; null if individuals are not counted"""
    rate: Annotated[float, example(0.18)]
    trials: Rows
    by_question: Annotated[
        dict[str, float] | None,
        Field(description=f"{_BY_QUESTION_DESCRIPTION}; 0 if the team sent no guess on it"),
    ] = omit_if_none()


class MatrixRow(BoardLine):
    """A team or a built-in attacker, with a cell for each target; null for targets that it did not attack."""

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "attacker": ColumnLabel("attacker"),
    }

    attacker: Annotated[str, example("Blue")]
    built_in: bool
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    cells: tuple[Cell | None, ...]


class Matrix(AttackBoardBase):
    targets: tuple[MatrixTarget, ...]
    rows: tuple[MatrixRow, ...]


class TotalRow(BoardLine):
    """A team's scores in the rounds and their total. Without a total it has no rank."""

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": ColumnLabel("rank", N_("Rank")),
        "team": ColumnLabel("team", N_("Team"), sort="text"),
        "total": ColumnLabel("total", P_("score", "Total")),
    }

    rank: Annotated[int | None, example(1)]
    """rank by exact totals; null without a total"""
    team: TeamName
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    total: Annotated[float | None, example(0.171)]
    """value of the formula for the displayed scores; null if one of them is missing"""
    scores: Annotated[dict[str, float | None], example({"preliminary": 0.132})]
    """score in each round, as its board shows it; null if the team has none"""


class TotalBoard(BoardBase):
    formula: Annotated[str, example("0.1 * round('preliminary') + 0.9 * round('final')")]
    rounds: Annotated[tuple[str, ...], example(["preliminary"])]
    """names of the rounds that count"""
    rows: tuple[TotalRow, ...]
