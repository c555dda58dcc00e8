"""The columns of the anonymization board, grouped by what they count for."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from anoncup.competition.scoring_versions import attacker_counts
from anoncup.rules.model import Rules
from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from anoncup.tracks.model import Track
from app.locale.language import Words
from app.services.accounts import names
from app.web.site import notation

R = TypeVar("R", BoardRow, AttackersRow)


@dataclass(frozen=True, slots=True)
class Column:
    """A measure or an attacker. ``weight``: in U; None where it has none."""

    kind: Literal["measure", "attacker"]
    name: str
    higher_is_better: bool = False
    weight: float | None = None

    def value(self, row: BoardRow) -> float | None:
        return (row.measures if self.kind == "measure" else row.attackers).get(self.name)

    def written(self, row: BoardRow, t: Words) -> str:
        """What the board shows of a row: rates and scores are written as such, measures by their size."""
        value = self.value(row)
        return t.written(notation.numeral(value) if self.kind == "measure" else notation.score(value))


@dataclass(frozen=True, slots=True)
class Group:
    """Columns under one heading: the word ``columns_<name>``; ``sets_risk``: the largest of them may be E."""

    name: str
    columns: tuple[Column, ...]
    sets_risk: bool = False

    @property
    def size(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, slots=True)
class Change:
    """By how many ranks a team moved."""

    way: Literal["up", "down", "new"]
    ranks: int

    def brief(self, t: Words) -> str:
        return t("new") if self.way == "new" else f"{'▲' if self.way == 'up' else '▼'}{self.ranks}"

    def said(self, t: Words) -> str:
        if self.way == "new":
            return t("New in the ranking within a day")
        if self.way == "up":
            return t.ngettext("{n} rank up within a day", "{n} ranks up within a day", self.ranks)
        return t.ngettext("{n} rank down within a day", "{n} ranks down within a day", self.ranks)


def groups(rules: Rules, track: Track) -> tuple[Group, ...]:
    """What makes U and E first, then what is only reported; no group is empty."""
    measures, attackers = list(measure_columns(rules, track)), list(track.attackers)
    count = {name for name in attackers if attacker_counts(rules, name)}
    found = (
        Group("in_utility", tuple(one for one in measures if one.weight)),
        Group("in_security", tuple(Column("attacker", one) for one in attackers if one in count), True),
        Group("measures_only", tuple(one for one in measures if not one.weight)),
        Group("attackers_only", tuple(Column("attacker", one) for one in attackers if one not in count)),
    )
    return tuple(group for group in found if group.columns)


def measure_columns(rules: Rules, track: Track) -> Iterator[Column]:
    for name, measure in track.measures.items():
        weight = rules.weight(name)
        yield Column("measure", name, measure.higher_is_better, weight or None)


def own_row(rows: Iterable[R]) -> R | None:
    return next((row for row in rows if row.own), None)


def ranked_teams(board: Board | AttackersBoard) -> int:
    return sum(row.rank is not None for row in board.rows)


def has_rivals(board: Board) -> bool:
    """Whether a guess of a rival is visible on any row."""
    return any(row.rivals is not None for row in board.rows)


def tied(board: Board | AttackersBoard) -> frozenset[int]:
    """The ranks that several teams share."""
    held = Counter(row.rank for row in board.rows if row.rank is not None)
    return frozenset(rank for rank, teams in held.items() if teams > 1)


def change(row: BoardRow, board: Board) -> Change | None:
    """How the rank of a team changed since the board that this one is compared with."""
    if board.compared_with is None or row.rank is None or row.rank == row.rank_before:
        return None
    if row.rank_before is None:
        return Change("new", 0)
    return Change("up" if row.rank < row.rank_before else "down", abs(row.rank - row.rank_before))


def matching(board: Board, text: str, t: Words) -> frozenset[str]:
    """The names in which a reader finds ``text``, however either is written; a sample method has two."""
    wanted = found_by(text)
    said = {row.team: f"{named(row, t)} {row.team}" if row.baseline else row.team for row in board.rows}
    return frozenset(name for name, each in said.items() if wanted in found_by(each))


def named(row: BoardRow, t: Words) -> str:
    """A team by its name; a sample method that has none of its own by its title."""
    return t.label(f"method_{row.team}", row.team) if row.baseline else row.team


def found_by(text: str) -> str:
    """A text without case, width, and what is not seen (``fold.js`` does the same)."""
    return names.spaced(names.folded(names.shown(text)))
