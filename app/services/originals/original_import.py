"""What organizers are told of a table before it is given out, and how its columns get names."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from anoncup.competition.drafts import PLACEHOLDERS, with_columns_of
from anoncup.errors import Conflict, InvalidUpload, Unavailable
from anoncup.lazy import deferred
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.tables.profile.model import FEWEST, Classes, CrossTable, Foreign, Gaps, IdentifyingColumn, Naming
from app.db.models import Competition
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.services.contests.contest import Contest, read_file
from app.storage import staging, store

if TYPE_CHECKING:
    from anoncup.tables.profile.counts import classes_of, cross_tables, few_alone
    from anoncup.tables.profile.header_guess import arranged as columns_in_order
    from anoncup.tables.profile.header_guess import naming, with_names, with_zeros, without
    from anoncup.tables.profile.identifiers import find_gaps, find_identifiers, read_texts
    from anoncup.tables.profile.locale_formats import in_commas
else:
    columns_in_order = deferred("anoncup.tables.profile.header_guess.arranged")
    naming = deferred("anoncup.tables.profile.header_guess.naming")
    with_names = deferred("anoncup.tables.profile.header_guess.with_names")
    without = deferred("anoncup.tables.profile.header_guess.without")
    classes_of = deferred("anoncup.tables.profile.counts.classes_of")
    cross_tables = deferred("anoncup.tables.profile.counts.cross_tables")
    few_alone = deferred("anoncup.tables.profile.counts.few_alone")
    find_gaps = deferred("anoncup.tables.profile.identifiers.find_gaps")
    find_identifiers = deferred("anoncup.tables.profile.identifiers.find_identifiers")
    read_texts = deferred("anoncup.tables.profile.identifiers.read_texts")
    with_zeros = deferred("anoncup.tables.profile.header_guess.with_zeros")
    in_commas = deferred("anoncup.tables.profile.locale_formats.in_commas")


Named = TypeVar("Named", IdentifyingColumn, Gaps)


@dataclass(frozen=True, slots=True)
class Look:
    """A table under some quasi-identifiers: its classes, and the cross-tables of the measures that weigh."""

    classes: Classes
    tables: tuple[CrossTable, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """What to decide of a file before it is taken. ``required``: its names are not free, ``fits``: unless the
    competition takes them over. ``identifying``: columns that name or number individuals. ``foreign``: what
    the service would write another way. ``gaps``: columns of amounts with cells without a number."""

    naming: Naming
    required: tuple[str, ...] | None
    identifying: tuple[IdentifyingColumn, ...]
    fits: bool = False
    foreign: Foreign | None = None
    gaps: tuple[Gaps, ...] = ()

    @property
    def fixed(self) -> bool:
        return self.required is not None

    @property
    def asks(self) -> bool:
        """Whether somebody has to decide; else its reader says what is wrong, if anything is."""
        others = self.fits and self.naming.found != self.required
        return self.names_ask or bool(self.identifying or self.gaps) or others or self.foreign is not None

    @property
    def names_ask(self) -> bool:
        return self.naming.is_data or self.naming.respelled


@lru_cache(maxsize=32)
def look(digest: str, file: str, columns: Columns, fewest: int = FEWEST) -> Look:
    """A stored table with these roles, by the competition file; InvalidCompetition if it cannot have them."""
    used = crossed(read_file(with_columns_of(file, columns)))
    return parser_process.call_reading(
        ORIGINALS, (digest,), looked_at, digest, columns.quasi_identifiers, used, fewest
    )


def crossed(rules: Rules) -> dict[str, tuple[str, ...]]:
    """By measure that weighs the columns of its cross-table."""
    track = TRACKS[rules.track]
    roles = track.roles(rules.columns, rules.settings)
    found = {}
    for one in track.measures.values():
        parameter = next((each for each in one.parameters if each.name == one.crosses), None)
        if parameter is not None and rules.weight(one.name):
            found[one.name] = rules.measure(one.name).parameters.get(parameter.name, parameter.usual(roles))
    return found


def looked_at(digest: str, quasi: Sequence[str], used: Mapping[str, Sequence[str]], fewest: int) -> Look:
    table = read_texts(store().get(digest), "original").to_pandas()
    return Look(classes_of(table, quasi, fewest), cross_tables(table, used))


def shared_columns(row: Competition, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Of the columns by which a cheat exchanges people those that leave it anybody to exchange; all of them
    while there are no data."""
    if row.original_rows is None or not columns:
        return columns
    return shared_in(next(iter(row.original.items())), columns)


@lru_cache(maxsize=32)
def shared_in(first: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    return parser_process.call_reading(ORIGINALS, (first[1],), shared_of, first, columns)


def shared_of(first: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    name, digest = first
    return few_alone(read_texts(store().get(digest), name).to_pandas(), columns)


def repair(contest: Contest, name: str, content: bytes) -> Repair | None:
    """None of a file that cannot be read at all. Needs no session."""
    try:
        return parser_process.call(ORIGINALS, repair_of, contest.row.file, name, content)
    except InvalidUpload:
        return None


def repair_of(file: str, name: str, content: bytes) -> Repair:
    rules = read_file(file)
    track = TRACKS[rules.track]
    content, foreign = in_commas(content, name)
    required = next(one for one in track.original if one.name == name).header(rules)
    known = known_columns(rules)
    found = naming(content, name, required, known)
    if required is not None:
        fits = track.fitted is not None and name == track.original_files[0]
        if fits and not (found.is_data or found.respelled):
            found = naming(content, name, None)  # its own names may become those of the contest
        named = with_names(content, found.names, name, first_is_data=found.is_data)
        identifying = find_identifiers(named, name) if fits else ()
        return Repair(found, required, others_than(required, identifying), fits=fits, foreign=foreign)
    named = with_names(content, found.names, name, first_is_data=found.is_data)
    identifying = others_than(known, find_identifiers(named, name))
    gaps = others_than([*known, *(one.name for one in identifying)], find_gaps(named, name))
    return Repair(found, None, identifying, foreign=foreign, gaps=gaps)


def others_than(names: Sequence[str], columns: Iterable[Named]) -> tuple[Named, ...]:
    """Return the columns that have none of these names."""
    return tuple(one for one in columns if one.name not in names)


def known_columns(rules: Rules) -> tuple[str, ...]:
    """Those that the competition file names, unless they only stand for those of a table still to come."""
    if rules.columns is None or rules.columns == PLACEHOLDERS:
        return ()
    return (*rules.columns.quasi_identifiers, *rules.columns.sensitive)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """How a file is rewritten: under these names, without some columns, and with zeros for missing numbers in
    others. ``first_is_data``: the first line is a row, and stays."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    filled: tuple[str, ...]
    first_is_data: bool


def rewrite(name: str, content: bytes, rewriting: Rewriting) -> bytes:
    """Return the file as it was asked for; InvalidUpload. Needs no session."""
    return parser_process.call(ORIGINALS, rewritten, name, content, rewriting)


def rewritten(name: str, content: bytes, rewriting: Rewriting) -> bytes:
    content = in_commas(content, name)[0]
    found = with_names(content, rewriting.names, name, first_is_data=rewriting.first_is_data)
    if rewriting.left_out:
        found = without(found, rewriting.left_out, name)
    return with_zeros(found, rewriting.filled, name) if rewriting.filled else found


def arranged(name: str, content: bytes, sources: Mapping[str, int | str], *, first_is_data: bool) -> bytes:
    """The file with the columns that it must have; ``sources``: where each comes from. Needs no session."""
    return parser_process.call(ORIGINALS, in_order, name, content, sources, first_is_data=first_is_data)


def in_order(name: str, content: bytes, sources: Mapping[str, int | str], *, first_is_data: bool) -> bytes:
    return columns_in_order(in_commas(content, name)[0], sources, name, first_is_data=first_is_data)


def hold(contest: Contest, name: str, content: bytes) -> str:
    """Keep a file until its columns have names; returns what it is asked back by."""
    return staging.keep(mark(contest, name) + content)


def held(contest: Contest, name: str, key: str) -> bytes:
    """A file that is kept for this competition. Its mark says so: no other file of the store is given out."""
    marked = mark(contest, name)
    content = staging.kept(key)
    if content is None or not content.startswith(marked):
        raise Conflict("the file is no longer stored: upload it again", code="changed_meanwhile")
    return content.removeprefix(marked)


def let_go(key: str) -> None:
    """Forget a file that was kept: what was left out of it may name people. Where the store cannot be reached
    it goes with those that nobody came back to."""
    with suppress(Unavailable):
        staging.remove(key)


def mark(contest: Contest, name: str) -> bytes:
    return f"held for {contest.id}: {name}\n".encode()
