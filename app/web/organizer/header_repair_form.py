"""Form for naming the columns of an uploaded file whose header needs repair."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from anoncup.errors import Conflict, DomainError, InvalidUpload
from anoncup.rules.model import Rules
from anoncup.tables.profile.model import IdentifyingColumn, MissingAmounts
from anoncup.tracks.files import FileSpec
from app.services.originals import original_import
from app.services.originals.original_import import FileRewrite, HeaderRepair
from app.web.organizer.forms import ParsedForm
from app.web.organizer.setup_steps import SetupContext

FIRST_LINE_KINDS = ("data", "names")
"""Possible contents of the first line of a file."""
_HEADER_PROBLEMS = {"header", "no_header", "column_without_role"}
"""Problem codes that concern the names of columns."""
_UNUSABLE_COLUMN_PROBLEMS = {"control_character", "invisible_character", "cell_too_long"}
"""Problem codes of columns with free text that a table must not contain."""


@dataclass(frozen=True, slots=True)
class FileRequirements:
    """Required column names of a file, or None if they are free, with example rows."""

    header: tuple[str, ...] | None
    example: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RequiredColumn:
    """A required column: it is filled from a column of the file, or with a constant value."""

    name: str
    source_index: int | None
    constant_value: str = ""


@dataclass(frozen=True, slots=True)
class HeaderRepairForm:
    """State of the repair form.

    ``staging_key`` retrieves the staged file. ``names`` are the column names and ``first_line`` the kind of
    the first line, as chosen in the form. ``left_out`` and ``filled`` hold indices of columns that are left
    out or whose missing cells are filled. ``required_columns`` is empty if the column names are free or the
    competition can adopt the columns of the file.
    """

    file: str
    staging_key: str
    repair: HeaderRepair
    names: tuple[str, ...]
    first_line: str
    left_out: frozenset[int] = frozenset()
    filled: frozenset[int] = frozenset()
    required_columns: tuple[RequiredColumn, ...] = ()

    @property
    def column_sources(self) -> dict[str, int | str]:
        return {
            column.name: column.constant_value if column.source_index is None else column.source_index
            for column in self.required_columns
        }

    @property
    def asks_names(self) -> bool:
        """Whether the form asks for column names, not only for columns to leave out."""
        repair = self.repair
        has_other_questions = not repair.has_fixed_names and (
            repair.identifying or repair.gaps or repair.locale_format or self.left_out
        )
        return (
            repair.names_need_decision
            or self.names != repair.header_guess.first_line
            or not has_other_questions
        )

    @property
    def file_rewrite(self) -> FileRewrite:
        left_out, filled = (
            tuple(self.names[index] for index in sorted(indices)) for indices in (self.left_out, self.filled)
        )
        return FileRewrite(self.names, left_out, filled, first_is_data=self.first_line == "data")

    def get_first_cells(self, index: int) -> tuple[str, ...]:
        """Return the first values of a column, including the first line if it contains data."""
        rows = (self.repair.header_guess.first_line, *self.repair.header_guess.first_rows)
        return tuple(row[index] for row in rows[not self.repair.header_guess.is_data :] if index < len(row))

    @property
    def identifying_by_index(self) -> Mapping[int, IdentifyingColumn]:
        """The columns that name or number individuals, by index."""
        return {self.repair.get_index(column.name): column for column in self.repair.identifying}

    @property
    def gaps_by_index(self) -> Mapping[int, MissingAmounts]:
        """The numeric columns with missing cells, by index."""
        return {self.repair.get_index(gap.name): gap for gap in self.repair.gaps}


def build_requirements(spec: FileSpec, rules: Rules) -> FileRequirements:
    return FileRequirements(spec.header(rules), spec.example_lines(rules))


def _match_required_columns(repair: HeaderRepair) -> tuple[RequiredColumn, ...]:
    """Match required columns to the columns of the file by name."""
    if repair.required_names is None or repair.can_replace_columns:
        return ()
    index_by_name = {name: index for index, name in enumerate(repair.header_guess.names)}
    return tuple(RequiredColumn(name, index_by_name.get(name)) for name in repair.required_names)


def _parse_required_columns(form: ParsedForm, repair: HeaderRepair) -> tuple[RequiredColumn, ...]:
    index_by_text = {str(index): index for index in range(len(repair.header_guess.names))}
    return tuple(
        RequiredColumn(
            column.name, index_by_text.get(form.text(f"source_{index}")), form.text(f"same_{index}")
        )
        for index, column in enumerate(_match_required_columns(repair))
    )


def build_repair_form(
    context: SetupContext, name: str, content: bytes, repair: HeaderRepair
) -> HeaderRepairForm:
    return HeaderRepairForm(
        file=name,
        staging_key=original_import.stage(context.frame.contest, name, content),
        repair=repair,
        names=repair.header_guess.names,
        first_line="data" if repair.header_guess.is_data else "names",
        left_out=frozenset(
            repair.get_index(column.name) for column in repair.identifying if column.should_drop
        ),
        filled=frozenset(repair.get_index(gap.name) for gap in repair.gaps),
        required_columns=_match_required_columns(repair),
    )


def can_repair_header(repair: HeaderRepair, problem: DomainError) -> bool:
    """Return whether renaming, leaving out or replacing columns may fix the problems of a file."""
    if not isinstance(problem, InvalidUpload) or len(repair.header_guess.names) < 2:
        return False
    codes = {file_problem.code for file_problem in problem.problems}
    return (
        repair.can_replace_columns
        or bool(codes & _HEADER_PROBLEMS)
        or (not repair.has_fixed_names and bool(codes & _UNUSABLE_COLUMN_PROBLEMS))
    )


def has_only_header_problems(problem: DomainError) -> bool:
    """Return whether all known problems concern the header line.

    In that case it is enough to choose the columns in the form, and the problems are not listed.
    """
    return (
        isinstance(problem, InvalidUpload)
        and {file_problem.code for file_problem in problem.problems} <= _HEADER_PROBLEMS
    )


def leave_out_unusable(repair_form: HeaderRepairForm, problem: DomainError) -> HeaderRepairForm:
    """Return the form with the rejected free-text columns marked as left out."""
    if repair_form.required_columns or not isinstance(problem, InvalidUpload):
        return repair_form
    rejected_columns = {
        file_problem.column
        for file_problem in problem.problems
        if file_problem.code in _UNUSABLE_COLUMN_PROBLEMS
    }
    indices = {index for index, name in enumerate(repair_form.names) if name in rejected_columns}
    return replace(repair_form, left_out=repair_form.left_out | indices)


def parse_repair_form(form: ParsedForm, name: str, repair: HeaderRepair | None) -> HeaderRepairForm:
    """Parse the form for a staged file; raise ``Conflict`` if the file is no longer staged."""
    if repair is None:
        raise Conflict("the file is no longer stored: upload it again", code="changed_meanwhile")
    indices = range(len(repair.header_guess.names))
    required_columns = _parse_required_columns(form, repair)
    return HeaderRepairForm(
        file=name,
        staging_key=form.text("held"),
        repair=repair,
        names=repair.header_guess.names
        if required_columns
        else tuple(form.text(f"name_{index}") for index in indices),
        first_line=form.text("first"),
        left_out=frozenset(index for index in indices if form.is_checked(f"leave_{index}")),
        filled=frozenset(index for index in indices if form.is_checked(f"fill_{index}")),
        required_columns=required_columns,
    )
