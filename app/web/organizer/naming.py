"""A file of the original whose columns need names: the form that asks for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import Conflict, DomainError, InvalidUpload
from app.scoring.files import FileSpec
from app.scoring.looks import Telling
from app.scoring.rules import Rules
from app.services.data import first_looks
from app.services.data.first_looks import Repair
from app.web.organizer.forms import Sent
from app.web.organizer.steps import Desk

FIRST = ("data", "names")
"""What the first line of a file is."""
HEADER = {"header", "no_header", "column_without_role"}
"""Codes of what is wrong with names of columns."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a file must be, for those who are to bring it: its columns, None where they are free; how it
    begins; and how few rows it may have."""

    header: tuple[str, ...] | None
    example: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Repairing:
    """``held``: what the file is asked back by. ``names`` and ``first``: as they stand in the form."""

    file: str
    held: str
    found: Repair
    names: tuple[str, ...]
    first: str
    left_out: frozenset[int] = frozenset()

    @property
    def renames(self) -> bool:
        """Whether names are asked for, not only what to leave out."""
        return self.found.naming.is_data or self.names != self.found.naming.found or not self.found.telling

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of the columns that are left out."""
        return tuple(self.names[place] for place in sorted(self.left_out))

    def cells(self, place: int) -> tuple[str, ...]:
        """The first values of a column: its data, be they in the first line or below."""
        rows = (self.found.naming.found, *self.found.naming.below)
        return tuple(row[place] for row in rows[not self.found.naming.is_data :] if place < len(row))

    @property
    def telling(self) -> Mapping[int, Telling]:
        """By place the columns that had better be left out."""
        return {self.found.naming.names.index(one.name): one for one in self.found.telling}


def needed(spec: FileSpec, rules: Rules) -> Needed:
    return Needed(spec.header(rules), spec.example(rules))


def repairing(desk: Desk, name: str, content: bytes, found: Repair) -> Repairing:
    return Repairing(
        file=name,
        held=first_looks.hold(desk.frame.contest, name, content),
        found=found,
        names=found.naming.names,
        first="data" if found.naming.is_data else "names",
        left_out=frozenset(found.naming.names.index(one.name) for one in found.telling),
    )


def can_be_named(found: Repair, problem: DomainError) -> bool:
    """Whether other names of columns may mend what is wrong with a file."""
    if not isinstance(problem, InvalidUpload) or len(found.naming.names) < 2:
        return False
    return found.fits or any(one.code in HEADER for one in problem.problems)


def retyped(form: Sent, name: str, found: Repair | None) -> Repairing:
    """The form as it was sent, of a file that was kept."""
    if found is None:
        raise Conflict("the file is not kept any more: upload it again", code="changed_meanwhile")
    places = range(len(found.naming.names))
    return Repairing(
        file=name,
        held=form.text("held"),
        found=found,
        names=tuple(form.text(f"name_{place}") for place in places),
        first=form.text("first"),
        left_out=frozenset(place for place in places if form.flag(f"leave_{place}") and not found.fixed),
    )
