"""The boards: what a column means, and where it stands, is said here once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from anoncup.messages import N_, P_
from anoncup.schemas.fields import Form, Id, Moment, Rows, Slug, TeamName, Title, example, unless_none

ASIDE = "aside"
"""A field that is no column of a sheet: it depends on who asks, or is drawn."""


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is headed: ``brief`` in a terminal, ``page`` on a page, empty where it is not shown there.

    ``unit`` stands behind the page's heading; ``sort`` and ``largest_first``: how its rows are put in order.
    """

    brief: str
    page: str | tuple[str, str] = ""
    unit: str = ""
    sort: Literal["number", "text", "time"] = "number"
    largest_first: bool = False


class Line(Form):
    """A row of a board. ``COLUMNS``: the fields that people are shown, in the order of terminal and page."""

    COLUMNS: ClassVar[Mapping[str, Column]]

    @classmethod
    def columns(cls) -> list[str]:
        """The fields that are columns of a sheet, in its order; one of several numbers is several columns."""
        return [name for name, field in cls.model_fields.items() if ASIDE not in field.metadata]


class BoardRow(Line):
    """A team's best accepted submission; a team without one has neither rank nor scores.

    What others see of a row, and when, is ruled by `digits` of the board.
    """

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        "rank": Column("rank", N_("Rank")),
        "team": Column("team", N_("Team"), sort="text"),
        "rank_sum": Column("", N_("Sum of ranks")),
        "overall": Column("overall", N_("Overall")),
        "utility": Column("utility loss", N_("Utility loss"), "U"),
        "security": Column("risk", N_("Risk"), "E"),
        "rivals": Column("", P_("rates", "Other teams")),
        "entries": Column("entries", P_("count", "Submissions")),
        "received_at": Column("received", N_("Received"), sort="time"),
    }

    rank: Annotated[
        int | None, Field(description="null: nothing accepted; equal scores share a rank"), example(1)
    ]
    rank_before: Annotated[
        int | None,
        ASIDE,
        Field(description="at the moment `compared_with`; null: it had none, or it is not known"),
    ] = None
    team: TeamName
    team_id: Annotated[UUID | None, ASIDE, Field(description="names the team's page")] = None
    own: Annotated[bool, ASIDE, example(True)]
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
    rank_sum: Annotated[float | None, Field(description="where the competition ranks by it"), example(3.0)]
    on_front: Annotated[
        bool, ASIDE, Field(description="no other row has less of U and of E, as shown"), example(True)
    ]
    received_at: Moment | None
    measures: Annotated[dict[str, float], example({"mean_mae": 18.25})]
    attackers: Annotated[
        dict[str, float], Field(description="what E takes of each, if it counts"), example({"id_rand": 0.18})
    ]


class AnyBoard(Form):
    competition: Slug
    title: Title


class BoardOfAttacks(AnyBoard):
    hidden: Annotated[bool, Field(description="scores of guesses are not shown yet")]
    counted: Annotated[
        bool, Field(description="individuals are counted; else what is found beyond chance is said")
    ] = True
    questions: Annotated[
        tuple[str, ...], Field(description="asked about each target"), example(["link"])
    ] = ()

    @property
    def several(self) -> tuple[str, ...]:
        """The questions, where one has to be told from another."""
        return self.questions if len(self.questions) > 1 else ()


class Board(AnyBoard):
    frozen_from: datetime | None
    finals: Annotated[bool, Field(description="the finals of the first phase are compared")]
    digits: Annotated[
        int | None,
        Field(
            description="decimals of others' U and E until the secrets are revealed; till then `overall` has"
            " four, and `measures`, `attackers`, `rivals`, `rank_sum` are empty; null: everything is in full"
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


class History(AnyBoard):
    """How the anonymization board came about: of each moment what its board showed to the one who asks."""

    frozen_from: datetime | None
    digits: Annotated[int | None, Field(description="as on the board"), example(2)]
    teams: tuple[HistoryTeam, ...]
    leaders: tuple[HistoryLeaders, ...]
    own_ranks: tuple[HistoryRank, ...] = ()


BY_QUESTION = "by question what was found beyond chance, from 0 to 1"


class AttackersRow(Line):
    """A team's attacks; one of which no guess is visible has neither rank nor numbers.

    ``ADDED``: the columns where individuals are not counted.
    """

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        "rank": Column("rank", N_("Rank")),
        "team": Column("team", N_("Team"), sort="text"),
        "identified": Column("identified", N_("Individuals identified"), "↑", largest_first=True),
        "tried": Column("of", N_("of individuals"), largest_first=True),
        "rate": Column("rate", N_("Rate"), "↑", largest_first=True),
        "targets": Column("targets", N_("Targets attacked"), largest_first=True),
    }

    ADDED: ClassVar[Mapping[str, Column]] = {
        "rank": COLUMNS["rank"],
        "team": COLUMNS["team"],
        "score": Column("score", N_("Score"), "↑", largest_first=True),
        "rate": Column("mean", N_("Mean"), "↑", largest_first=True),
        "targets": COLUMNS["targets"],
    }

    rank: Annotated[int | None, example(1)]
    team: TeamName
    team_id: Annotated[
        UUID | None, ASIDE, Field(description="names the team's page; null: it stands on no board yet")
    ] = None
    own: Annotated[bool, ASIDE, example(True)]
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
        float | None, Field(description="where none are counted: found in each target, added up")
    ] = unless_none()
    by_question: Annotated[
        dict[str, float] | None, Field(description=f"{BY_QUESTION}: the mean over the targets")
    ] = unless_none()


class AttackersBoard(BoardOfAttacks):
    rows: tuple[AttackersRow, ...]

    @property
    def columns(self) -> Mapping[str, Column]:
        """Those that people are shown, beside one for each of several questions."""
        return AttackersRow.COLUMNS if self.counted else AttackersRow.ADDED


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
        """Its name, followed by its team where that is shown."""
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
    by_question: Annotated[dict[str, float] | None, Field(description=BY_QUESTION)] = unless_none()


class MatrixRow(Line):
    """An attacker: a team, or one of those built in; a cell per target, null where it did not try."""

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        "attacker": Column("attacker"),
    }

    attacker: Annotated[str, example("Blue")]
    built_in: bool
    own: Annotated[bool, ASIDE, example(True)]
    cells: tuple[Cell | None, ...]


class Matrix(BoardOfAttacks):
    targets: tuple[MatrixTarget, ...]
    rows: tuple[MatrixRow, ...]


class AttackStep(Form):
    """A guess by which an attacker's best on a target became better, and what its best was from then on."""

    at: Annotated[Moment, Field(description="when the guess was received")]
    correct: Annotated[int | None, Field(description="null where none are counted"), example(9)]
    rate: Annotated[float, example(0.18)]
    by_question: Annotated[dict[str, float] | None, Field(description=BY_QUESTION)] = unless_none()


class AttackHistoryRow(Form):
    """A team; by target its steps, the earliest first, none where it did not try."""

    attacker: Annotated[str, example("Blue")]
    own: Annotated[bool, example(True)]
    cells: tuple[tuple[AttackStep, ...], ...]


class AttackHistory(BoardOfAttacks):
    targets: tuple[MatrixTarget, ...]
    rows: tuple[AttackHistoryRow, ...]
