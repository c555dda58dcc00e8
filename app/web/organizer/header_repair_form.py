"""A file of the original whose columns need names: the form that asks for them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from anoncup.errors import Conflict, DomainError, InvalidUpload
from anoncup.rules.model import Rules
from anoncup.tables.profile.model import Gaps, IdentifyingColumn
from anoncup.tracks.files import FileSpec
from app.services.originals import original_import
from app.services.originals.original_import import Repair, Rewriting
from app.web.organizer.forms import Sent
from app.web.organizer.setup_steps import Desk

FIRST = ("data", "names")
"""What the first line of a file is."""
HEADER = {"header", "no_header", "column_without_role"}
"""Codes of what is wrong with names of columns."""
UNUSABLE = {"control_character", "invisible_character", "cell_too_long"}
"""Codes of what makes a column of free text no column of a table."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a file must be, for those who are to bring it: its columns, None where they are free; how it
    begins; and how few rows it may have."""

    header: tuple[str, ...] | None
    example: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column that the file must have: the place of the one that it is made of, or what every row holds."""

    name: str
    source: int | None
    same: str = ""


@dataclass(frozen=True, slots=True)
class Repairing:
    """``held``: what the file is asked back by. ``names``, ``first``, ``left_out``, ``filled``,
    ``wanted``: as they stand in the form; the last where names are not free."""

    file: str
    held: str
    found: Repair
    names: tuple[str, ...]
    first: str
    left_out: frozenset[int] = frozenset()
    filled: frozenset[int] = frozenset()
    wanted: tuple[Wanted, ...] = ()

    @property
    def sources(self) -> dict[str, int | str]:
        return {one.name: one.same if one.source is None else one.source for one in self.wanted}

    @property
    def renames(self) -> bool:
        """Whether names are asked for, not only what to leave out."""
        found = self.found
        only_asked = not found.fixed and (found.identifying or found.gaps or found.foreign or self.left_out)
        return found.names_ask or self.names != found.naming.found or not only_asked

    @property
    def rewriting(self) -> Rewriting:
        left_out, filled = (
            tuple(self.names[place] for place in sorted(places)) for places in (self.left_out, self.filled)
        )
        return Rewriting(self.names, left_out, filled, first_is_data=self.first == "data")

    def cells(self, place: int) -> tuple[str, ...]:
        """The first values of a column: its data, be they in the first line or below."""
        rows = (self.found.naming.found, *self.found.naming.below)
        return tuple(row[place] for row in rows[not self.found.naming.is_data :] if place < len(row))

    @property
    def identifying(self) -> Mapping[int, IdentifyingColumn]:
        """The columns that name or number individuals, by their place."""
        return {self.found.naming.names.index(one.name): one for one in self.found.identifying}

    @property
    def gaps(self) -> Mapping[int, Gaps]:
        """The columns of amounts with missing cells, by their place."""
        return {self.found.naming.names.index(one.name): one for one in self.found.gaps}


def needed(spec: FileSpec, rules: Rules) -> Needed:
    return Needed(spec.header(rules), spec.example(rules))


def wanted_of(found: Repair) -> tuple[Wanted, ...]:
    """Which column is which, as far as their names or places tell it."""
    if found.required is None or found.fits:
        return ()
    places = {name: place for place, name in enumerate(found.naming.names)}
    return tuple(Wanted(name, places.get(name)) for name in found.required)


def wanted_in(form: Sent, found: Repair) -> tuple[Wanted, ...]:
    places = {str(place): place for place in range(len(found.naming.names))}
    return tuple(
        Wanted(one.name, places.get(form.text(f"source_{place}")), form.text(f"same_{place}"))
        for place, one in enumerate(wanted_of(found))
    )


def repairing(desk: Desk, name: str, content: bytes, found: Repair) -> Repairing:
    return Repairing(
        file=name,
        held=original_import.hold(desk.frame.contest, name, content),
        found=found,
        names=found.naming.names,
        first="data" if found.naming.is_data else "names",
        left_out=frozenset(found.naming.names.index(one.name) for one in found.identifying if one.leave_out),
        filled=frozenset(found.naming.names.index(one.name) for one in found.gaps),
        wanted=wanted_of(found),
    )


def can_be_named(found: Repair, problem: DomainError) -> bool:
    """Whether other names of columns may mend what is wrong with a file."""
    if not isinstance(problem, InvalidUpload) or len(found.naming.names) < 2:
        return False
    codes = {one.code for one in problem.problems}
    return found.fits or bool(codes & HEADER) or (not found.fixed and bool(codes & UNUSABLE))


def heads_only(problem: DomainError) -> bool:
    """Whether nothing is known to be wrong but the header line: that is put right by choosing, not by reading
    which name stands in which place."""
    return isinstance(problem, InvalidUpload) and {one.code for one in problem.problems} <= HEADER


def relieved(asked: Repairing, problem: DomainError) -> Repairing:
    """The form without the columns of free text that were refused: they had better be left out."""
    if asked.wanted or not isinstance(problem, InvalidUpload):
        return asked
    refused = {one.column for one in problem.problems if one.code in UNUSABLE}
    places = {place for place, name in enumerate(asked.names) if name in refused}
    return replace(asked, left_out=asked.left_out | places)


def retyped(form: Sent, name: str, found: Repair | None) -> Repairing:
    """The form as it was sent, of a file that was kept."""
    if found is None:
        raise Conflict("the file is no longer stored: upload it again", code="changed_meanwhile")
    places = range(len(found.naming.names))
    wanted = wanted_in(form, found)
    return Repairing(
        file=name,
        held=form.text("held"),
        found=found,
        names=found.naming.names if wanted else tuple(form.text(f"name_{place}") for place in places),
        first=form.text("first"),
        left_out=frozenset(place for place in places if form.flag(f"leave_{place}")),
        filled=frozenset(place for place in places if form.flag(f"fill_{place}")),
        wanted=wanted,
    )
