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


class BoardRow(BoardLine):
    """A team's best accepted submission; a team without one has neither rank nor scores.

    What others see of a row, and when, is ruled by `digits` of the board.
    """

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": ColumnLabel("rank", N_("Rank")),
        "team": ColumnLabel("team", N_("Team"), sort="text"),
        "score": ColumnLabel("", N_("Score")),
        "overall": ColumnLabel("overall", N_("Overall")),
        "utility": ColumnLabel("utility loss", N_("Utility loss"), "U"),
        "security": ColumnLabel("risk", N_("Risk"), "E"),
        "rivals": ColumnLabel("", P_("rates", "Other teams")),
        "entries": ColumnLabel("entries", P_("count", "Submissions")),
        "received_at": ColumnLabel("received", N_("Received"), sort="time"),
    }

    rank: Annotated[
        int | None, Field(description="null: nothing accepted; equal scores share a rank"), example(1)
    ]
    rank_before: Annotated[
        int | None,
        _NOT_IN_SHEET,
        Field(description="at the moment `compared_with`; null: it had none, or it is not known"),
    ] = None
    team: TeamName
    team_id: Annotated[UUID | None, _NOT_IN_SHEET, Field(description="names the team's page")] = None
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    baseline: Annotated[bool, Field(description="added by the organizers for comparison, without a rank")]
    entries: Annotated[int, Field(description="finished submissions"), example(4)]
    overall: Annotated[float | None, Field(description="(U + E) / 2, 0 is best"), example(0.132)]
    utility: Annotated[float | None, Field(description="U, the loss of utility in [0, 1]"), example(0.084)]
    security: Annotated[
        float | None,
        Field(description="E, the largest rate of an attacker that counts, built in or a rival, in [0, 1]"),
        example(0.18),
    ]
    rivals: Annotated[
        float | None,
        Field(description="the best visible guess of a rival, part of E; null: there is none"),
        example(0.12),
    ]
    score: Annotated[
        float | None,
        Field(description="value of the competition's formula; null: it ranks by `overall`, or none"),
        example(3.0),
    ]
    on_front: Annotated[
        bool, _NOT_IN_SHEET, Field(description="no other row has less of U and of E, as shown"), example(True)
    ]
    received_at: Moment | None
    measures: Annotated[dict[str, float], example({"mean_mae": 18.25})]
    attackers: Annotated[
        dict[str, float], Field(description="what E takes of each, if it counts"), example({"id_rand": 0.18})
    ]


class BoardBase(Form):
    competition: Slug
    title: Title


class AttackBoardBase(BoardBase):
    hidden: Annotated[bool, Field(description="scores of guesses are not shown yet")]
    counted: Annotated[
        bool, Field(description="individuals are counted; else what is found beyond chance is said")
    ] = True
    questions: Annotated[
        tuple[str, ...], Field(description="asked about each target"), example(["link"])
    ] = ()

    @property
    def distinct_questions(self) -> tuple[str, ...]:
        """The questions if there are several, otherwise an empty tuple."""
        return self.questions if len(self.questions) > 1 else ()


class Board(BoardBase):
    frozen_from: datetime | None
    finals: Annotated[
        bool, Field(description="only targets are compared: the finals of the first phase, or live ones")
    ]
    digits: Annotated[
        int | None,
        Field(
            description="decimals of others' U and E until the secrets are revealed; till then `overall` has"
            " four, `score` four digits, and `measures`, `attackers`, `rivals` are empty; null: all in full"
        ),
        example(2),
    ]
    compared_with: Annotated[
        datetime | None,
        Field(description="a day before, to the hour: when `rank_before` was; null: no board was seen then"),
    ] = None
    measures: Annotated[tuple[str, ...], example(["mean_mae"])]
    attackers: Annotated[tuple[str, ...], example(["id_rand"])]
    rows: tuple[BoardRow, ...]


class HistoryStep(Form):
    """From a moment on a team's best was this, as the board then showed it."""

    at: Annotated[Moment, Field(description="the first full second whose board showed it")]
    rank: Annotated[int | None, Field(description="at that moment; of a baseline null"), example(1)]
    overall: Annotated[float | None, Field(description="null: nothing counts any longer"), example(0.132)]
    utility: Annotated[float | None, example(0.08)]
    security: Annotated[float | None, example(0.18)]
    score: Annotated[
        float | None, Field(description="value of the competition's formula, as on the board"), example(3.0)
    ]
    why: Annotated[
        Literal["release", "scoring", "guesses"] | None,
        Field(description="another release counts, it is scored anew, others found more; null: not told"),
    ] = None


class HistoryTeam(Form):
    team_id: Id
    team: TeamName
    own: bool
    baseline: bool
    steps: tuple[HistoryStep, ...]


class HistoryPlace(Form):
    team: Annotated[int, Field(description="its place in `teams`, from 0"), example(0)]
    rank: Annotated[int, example(1)]


class HistoryLeaders(Form):
    """From a moment on the first were these."""

    at: Moment
    first: Annotated[tuple[HistoryPlace, ...], Field(description="ten at most")]


class HistoryRank(Form):
    """From a moment on one's own team had this rank, of so many: also by what others did."""

    at: Moment
    rank: Annotated[int | None, example(3)]
    ranked: Annotated[int, Field(description="teams with a rank"), example(12)]


class History(BoardBase):
    """How the anonymization board came about: of each moment what its board showed to the one who asks."""

    frozen_from: datetime | None
    digits: Annotated[int | None, Field(description="as on the board"), example(2)]
    teams: tuple[HistoryTeam, ...]
    leaders: tuple[HistoryLeaders, ...]
    own_ranks: tuple[HistoryRank, ...] = ()


_BY_QUESTION_DESCRIPTION = "by question what was found beyond chance, from 0 to 1"


class AttackersRow(BoardLine):
    """A team's attacks; one of which no guess is visible has neither rank nor numbers.

    ``UNCOUNTED_COLUMNS``: the columns where individuals are not counted.
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
    team_id: Annotated[
        UUID | None,
        _NOT_IN_SHEET,
        Field(description="names the team's page; null: it stands on no board yet"),
    ] = None
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    identified: Annotated[
        int | None, Field(description="records, by the best guess on each target"), example(31)
    ]
    tried: Annotated[int | None, Field(description="records of every target attacked"), example(150)]
    rate: Annotated[
        float | None,
        Field(description="their quotient; else the score by the number of targets"),
        example(0.18),
    ]
    targets: Annotated[int | None, Field(description="targets attacked"), example(3)]
    score: Annotated[
        float | None,
        Field(description="where none are counted: found in each target, added up; or by a formula"),
    ] = omit_if_none()
    by_question: Annotated[
        dict[str, float] | None, Field(description=f"{_BY_QUESTION_DESCRIPTION}: the mean over the targets")
    ] = omit_if_none()


class AttackersBoard(AttackBoardBase):
    by_formula: Annotated[bool, Field(description="`score` is the value of the competition's formula")] = (
        False
    )
    rows: tuple[AttackersRow, ...]

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
    team: Annotated[
        str | None,
        Field(description="the team that made it; null while the competition hides it"),
        example("Red"),
    ]

    @property
    def label(self) -> str:
        """The name of the target, followed by its team if that is visible."""
        return self.target if self.team is None else f"{self.target} ({self.team})"


class Cell(Form):
    """The best of an attacker's trials on one target."""

    correct: Annotated[
        float | None,
        Field(
            description="an expectation, maybe, of an attacker that is built in; null where none are counted"
        ),
        example(9),
    ]
    rate: Annotated[float, example(0.18)]
    trials: Rows
    by_question: Annotated[dict[str, float] | None, Field(description=_BY_QUESTION_DESCRIPTION)] = (
        omit_if_none()
    )


class MatrixRow(BoardLine):
    """An attacker: a team, or one of those built in; a cell per target, null where it did not try."""

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


class AttackStep(Form):
    """A guess by which an attacker's best on a target became better, and what its best was from then on."""

    at: Annotated[Moment, Field(description="when the guess was received")]
    correct: Annotated[int | None, Field(description="null where none are counted"), example(9)]
    rate: Annotated[float, example(0.18)]
    by_question: Annotated[dict[str, float] | None, Field(description=_BY_QUESTION_DESCRIPTION)] = (
        omit_if_none()
    )


class TotalRow(BoardLine):
    """A team's scores in the rounds, and their total; without a total there is no rank."""

    COLUMNS: ClassVar[Mapping[str, ColumnLabel]] = {
        "rank": ColumnLabel("rank", N_("Rank")),
        "team": ColumnLabel("team", N_("Team"), sort="text"),
        "total": ColumnLabel("total", P_("score", "Total")),
    }

    rank: Annotated[int | None, Field(description="by exact totals; null: no total"), example(1)]
    team: TeamName
    own: Annotated[bool, _NOT_IN_SHEET, example(True)]
    total: Annotated[
        float | None,
        Field(description="the value of the formula for the scores as shown; null: one is missing"),
        example(0.171),
    ]
    scores: Annotated[
        dict[str, float | None],
        Field(description="by round, as its board shows it; null: the team has none there"),
        example({"preliminary": 0.132}),
    ]


class TotalBoard(BoardBase):
    formula: Annotated[str, example("0.1 * round('preliminary') + 0.9 * round('final')")]
    rounds: Annotated[tuple[str, ...], Field(description="those that count"), example(["preliminary"])]
    rows: tuple[TotalRow, ...]


class AttackHistoryRow(Form):
    """A team; by target its steps, the earliest first, none where it did not try."""

    attacker: Annotated[str, example("Blue")]
    own: Annotated[bool, example(True)]
    cells: tuple[tuple[AttackStep, ...], ...]


class AttackHistory(AttackBoardBase):
    targets: tuple[MatrixTarget, ...]
    rows: tuple[AttackHistoryRow, ...]
