"""What a competition file says of a membership contest, under the track's own name."""

from __future__ import annotations  # rules know their tracks

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.rules.parameters import Roles
from anoncup.rules.settings import rows_required
from anoncup.rules.toml_values import Table, flag, number, wrong
from anoncup.tracks.membership.schema import Schema, read_schema

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

PLACE = "candidate"
"""The column of a team's own file that says which candidate a member is."""
ATTRIBUTE = "attribute"
"""The question for a hidden column."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``schema``: all columns of a member. ``shared``: teams may have the same members.

    ``fewest_rows``, ``most_rows``: how many rows a release may have for each member.
    """

    schema: Schema
    shared: bool = False
    fewest_rows: float = 0.5
    most_rows: float = 2.0

    def rows(self, candidates: int) -> tuple[int, int]:
        """The fewest and the most rows of a release where there are so many candidates."""
        members = candidates // 2
        fewest = max(1, rows_required(self.fewest_rows, members))
        return fewest, max(fewest, int(Fraction(repr(self.most_rows)) * members))


def read_settings(table: Table) -> Settings:
    """The table ``[membership]``; InvalidCompetition names the key that is wrong."""
    columns = table.table("columns")
    schema = read_schema(columns)
    if PLACE in schema.names:
        raise wrong(
            columns.at(PLACE), Message("a column with another name, because this one says who is a member")
        )
    default = Settings(schema)
    found = Settings(
        schema,
        cast(bool, table.take("shared", flag, default.shared)),
        cast(float, table.take("fewest_rows", number, default.fewest_rows)),
        cast(float, table.take("most_rows", number, default.most_rows)),
    )
    if found.most_rows < found.fewest_rows:
        raise wrong(table.at("most_rows"), Message("no less than {least}", least=found.fewest_rows))
    table.finish()
    return found


def roles(_: Any, settings: Settings) -> Roles:
    """All columns, and those of each kind."""
    schema = settings.schema
    return {
        "columns": schema.names,
        "numeric": tuple(column.name for column in schema.numeric),
        "categorical": tuple(column.name for column in schema.categorical),
    }


def hidden_of(rules: Rules) -> str | None:
    """The column that is asked for; None where none is."""
    if ATTRIBUTE not in rules.questions:
        return None
    names: tuple[str, ...] = rules.settings.schema.names
    return str(rules.questions[ATTRIBUTE].get("hidden", names[0]))


def hidden_schema(rules: Rules) -> Schema:
    """The hidden column alone, where one is asked for."""
    schema: Schema = rules.settings.schema
    return schema.only(str(hidden_of(rules)))


def public_schema(rules: Rules) -> Schema:
    """The columns of a candidate that everybody knows."""
    schema: Schema = rules.settings.schema
    hidden = hidden_of(rules)
    return schema.only(*(name for name in schema.names if name != hidden))


def check_rules(rules: Rules) -> None:
    """InvalidCompetition if nothing is left of a candidate without the hidden column."""
    if not public_schema(rules).columns:
        raise InvalidCompetition(
            "{key}: candidates need a column beside {column}, which is hidden",
            code="wrong_value",
            key=f"questions.{ATTRIBUTE}.hidden",
            column=hidden_of(rules),
        )
