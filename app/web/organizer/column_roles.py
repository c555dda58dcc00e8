"""Which column is what, as a form says it, and what a table looks like under these roles."""

from collections.abc import Mapping
from dataclasses import dataclass

from anoncup.errors import Conflict, DomainError, InvalidCompetition, NotFound
from anoncup.rules.settings import Columns
from anoncup.tables.profile.model import FEWEST
from app.services.originals import original_import
from app.services.originals.original_import import Look
from app.services.originals.originals import Column, Part, Summary
from app.web.organizer.forms import Sent
from app.web.organizer.setup_steps import Desk

QUASI, SENSITIVE, LEFT_OUT = ROLES = ("quasi_identifier", "sensitive", "left_out")
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Choice:
    """``roles``: by column; ``fewest``: rows that share a value which is not rare."""

    roles: Mapping[str, str]
    fewest: int = FEWEST

    def names(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, chosen in self.roles.items() if chosen == role)

    @property
    def columns(self) -> Columns:
        return Columns(self.names(QUASI), self.names(SENSITIVE))


@dataclass(frozen=True, slots=True)
class Looked:
    """What the page says of a choice. ``identifying``: columns that name or number individuals, in any role;
    ``telling``: other quasi-identifiers by which (nearly) everybody is unique; ``rare``: others with values
    that few rows have; ``constant``: columns of one value; ``worded``: sensitive ones that hold more than
    numbers; ``mixed``: quasi-identifiers that are amounts but for a few words; ``look``: None where the
    choice is none."""

    identifying: tuple[Column, ...]
    telling: tuple[Column, ...]
    rare: tuple[Column, ...]
    constant: tuple[Column, ...]
    worded: tuple[Column, ...]
    mixed: tuple[Column, ...]
    look: Look | None
    lacking: bool

    @property
    def is_fine(self) -> bool:
        sparse = self.look is not None and any(table.is_sparse for table in self.look.tables)
        said = (self.identifying, self.telling, self.rare, self.constant, self.worded, self.mixed)
        return not (any(said) or self.lacking or sparse)


def stored_choice(desk: Desk) -> Choice | None:
    columns = desk.frame.rules.columns
    if columns is None:
        return None
    roles = dict.fromkeys(columns.quasi_identifiers, QUASI) | dict.fromkeys(columns.sensitive, SENSITIVE)
    return Choice(roles)


def choice_in(form: Sent, desk: Desk, summary: Summary | None) -> Choice:
    """What the form chooses, by the columns' place in the table that it was shown for."""
    if summary is None or desk.frame.rules.columns is None:
        raise NotFound("there is no table whose columns could have roles", code="no_original")
    part = summary.parts[0]
    if form.text("of") != desk.frame.contest.row.original[part.name]:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    chosen = {column.name: form.text(f"role_{place}") for place, column in enumerate(part.columns)}
    if any(role not in ROLES for role in chosen.values()):
        raise roles_missing()
    fewest = form.whole("fewest", least=1, most=MOST) if form.text("fewest") else FEWEST
    return Choice(chosen, fewest if "fewest" not in form.wrong else FEWEST)


def complete(choice: Choice) -> Columns:
    if not choice.names(QUASI) or not choice.names(SENSITIVE):
        raise roles_missing()
    return choice.columns


def roles_missing() -> InvalidCompetition:
    return InvalidCompetition(
        "choose a role for every column, and at least one column for each role", code="roles_missing"
    )


def look_of(desk: Desk, summary: Summary, choice: Choice) -> Looked:
    part = summary.parts[0]
    lacking = not choice.names(QUASI) or not choice.names(SENSITIVE)
    quasi, sensitive = of(part, choice, QUASI), of(part, choice, SENSITIVE)
    return Looked(
        identifying=tuple(one for one in (*quasi, *sensitive) if one.identifying),
        telling=tuple(one for one in quasi if one.values.tells_apart and not one.identifying),
        rare=tuple(one for one in quasi if one.values.rare and not one.values.tells_apart),
        constant=tuple(one for one in (*quasi, *sensitive) if one.values.different == 1 < one.values.rows),
        mixed=tuple(one for one in quasi if one.words),
        worded=tuple(one for one in sensitive if not one.numeric),
        look=None if lacking else looked(desk, part, choice),
        lacking=lacking,
    )


def of(part: Part, choice: Choice, role: str) -> tuple[Column, ...]:
    return tuple(one for one in part.columns if choice.roles.get(one.name) == role)


def looked(desk: Desk, part: Part, choice: Choice) -> Look | None:
    row = desk.frame.contest.row
    try:
        return original_import.look(row.original[part.name], row.file, choice.columns, choice.fewest)
    except (InvalidCompetition, DomainError):
        return None
