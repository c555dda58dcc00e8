"""Parse column roles from a form and review a table under these roles."""

from collections.abc import Mapping
from dataclasses import dataclass

from anoncup.errors import Conflict, DomainError, InvalidCompetition, NotFound
from anoncup.rules.settings import Columns
from anoncup.tables.profile.model import MIN_COMMON
from app.services.originals import original_import
from app.services.originals.original_import import DataProfile
from app.services.originals.originals import OriginalColumn, OriginalPart, OriginalSummary
from app.web.organizer.forms import ParsedForm
from app.web.organizer.setup_steps import SetupContext

QUASI_IDENTIFIER, SENSITIVE, LEFT_OUT = _ROLES = ("quasi_identifier", "sensitive", "left_out")
_MIN_COMMON_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class RoleChoice:
    """Column roles chosen in the form.

    ``roles`` maps column names to roles. The other field is the number of rows below which a value is rare.
    """

    roles: Mapping[str, str]
    min_common: int = MIN_COMMON

    def columns_in_role(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, assigned_role in self.roles.items() if assigned_role == role)

    @property
    def columns(self) -> Columns:
        return Columns(self.columns_in_role(QUASI_IDENTIFIER), self.columns_in_role(SENSITIVE))


@dataclass(frozen=True, slots=True)
class RoleReview:
    """Findings about a choice of roles.

    ``identifying``: columns of either role that name or number individuals.
    ``nearly_unique``: other quasi-identifiers with a different value in nearly every row.
    ``rare``: quasi-identifiers that have rare values but are not nearly unique.
    ``constant``: columns with a single value.
    ``non_numeric``: sensitive columns with values that are not numbers.
    ``mixed``: numeric quasi-identifiers with a few words among the numbers.
    ``profile``: None if the choice is incomplete or the table cannot be profiled.
    """

    identifying: tuple[OriginalColumn, ...]
    nearly_unique: tuple[OriginalColumn, ...]
    rare: tuple[OriginalColumn, ...]
    constant: tuple[OriginalColumn, ...]
    non_numeric: tuple[OriginalColumn, ...]
    mixed: tuple[OriginalColumn, ...]
    profile: DataProfile | None
    is_incomplete: bool

    @property
    def is_clean(self) -> bool:
        has_sparse_table = self.profile is not None and any(
            table.is_sparse for table in self.profile.cross_tables
        )
        findings = (
            self.identifying,
            self.nearly_unique,
            self.rare,
            self.constant,
            self.non_numeric,
            self.mixed,
        )
        return not (any(findings) or self.is_incomplete or has_sparse_table)


def read_stored_choice(context: SetupContext) -> RoleChoice | None:
    columns = context.frame.rules.columns
    if columns is None:
        return None
    roles = dict.fromkeys(columns.quasi_identifiers, QUASI_IDENTIFIER) | dict.fromkeys(
        columns.sensitive, SENSITIVE
    )
    return RoleChoice(roles)


def parse_choice(form: ParsedForm, context: SetupContext, summary: OriginalSummary | None) -> RoleChoice:
    """Parse the roles from the form, which refers to columns by their index in the table.

    Raise ``NotFound`` if there is no table, ``Conflict`` if the table was replaced after the form was shown,
    and ``InvalidCompetition`` for an unknown role.
    """
    if summary is None or context.frame.rules.columns is None:
        raise NotFound("there is no table whose columns could have roles", code="no_original")
    part = summary.parts[0]
    if form.text("of") != context.frame.contest.round.original[part.name]:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    roles = {column.name: form.text(f"role_{index}") for index, column in enumerate(part.columns)}
    if any(role not in _ROLES for role in roles.values()):
        raise _build_roles_missing_error()
    min_common = (
        form.parse_count("fewest", minimum=1, maximum=_MIN_COMMON_LIMIT)
        if form.text("fewest")
        else MIN_COMMON
    )
    return RoleChoice(roles, min_common if "fewest" not in form.errors else MIN_COMMON)


def require_complete(choice: RoleChoice) -> Columns:
    if not choice.columns_in_role(QUASI_IDENTIFIER) or not choice.columns_in_role(SENSITIVE):
        raise _build_roles_missing_error()
    return choice.columns


def _build_roles_missing_error() -> InvalidCompetition:
    return InvalidCompetition(
        "choose a role for every column, and at least one column for each role", code="roles_missing"
    )


def review_roles(context: SetupContext, summary: OriginalSummary, choice: RoleChoice) -> RoleReview:
    part = summary.parts[0]
    is_incomplete = not choice.columns_in_role(QUASI_IDENTIFIER) or not choice.columns_in_role(SENSITIVE)
    quasi_columns, sensitive_columns = (
        select_columns(part, choice, QUASI_IDENTIFIER),
        select_columns(part, choice, SENSITIVE),
    )
    return RoleReview(
        identifying=tuple(column for column in (*quasi_columns, *sensitive_columns) if column.identifying),
        nearly_unique=tuple(
            column for column in quasi_columns if column.values.is_nearly_unique and not column.identifying
        ),
        rare=tuple(
            column
            for column in quasi_columns
            if column.values.rare_values and not column.values.is_nearly_unique
        ),
        constant=tuple(
            column
            for column in (*quasi_columns, *sensitive_columns)
            if column.values.distinct == 1 < column.values.rows
        ),
        mixed=tuple(column for column in quasi_columns if column.words),
        non_numeric=tuple(column for column in sensitive_columns if not column.numeric),
        profile=None if is_incomplete else _profile_table(context, part, choice),
        is_incomplete=is_incomplete,
    )


def select_columns(part: OriginalPart, choice: RoleChoice, role: str) -> tuple[OriginalColumn, ...]:
    return tuple(column for column in part.columns if choice.roles.get(column.name) == role)


def _profile_table(context: SetupContext, part: OriginalPart, choice: RoleChoice) -> DataProfile | None:
    row = context.frame.contest.round
    try:
        return original_import.load_profile(
            row.original[part.name], row.file, choice.columns, choice.min_common
        )
    except (InvalidCompetition, DomainError):
        return None
