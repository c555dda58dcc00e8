"""The options that several commands take; nothing here is slow to import."""

from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

from app.errors import InvalidInput

PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read your password, if it is needed, from standard input")
]
CompetitionFile = Annotated[
    Path, typer.Option("--competition", exists=True, dir_okay=False, help="competition.toml")
]
OriginalFiles = Annotated[
    list[Path],
    typer.Option(
        "--original",
        exists=True,
        dir_okay=False,
        help="transactions: twice, customers and transactions",
    ),
]
AnonymizedFile = Annotated[
    Path | None, typer.Option("--anonymized", exists=True, dir_okay=False, help="microdata: the release")
]
CustomersFile = Annotated[
    Path | None, typer.Option("--customers", exists=True, dir_okay=False, help="transactions: M'")
]
TransactionsFile = Annotated[
    Path | None, typer.Option("--transactions", exists=True, dir_okay=False, help="transactions: T'")
]
SecretFile = Annotated[Path, typer.Option("--secret", exists=True, dir_okay=False, help="the secret")]
MaybeSecretFile = Annotated[
    Path | None, typer.Option("--secret", exists=True, dir_okay=False, help="the secret, if it is known")
]
json_wanted = ContextVar("json_wanted", default=False)
"""Whether this command was asked for JSON: what goes wrong is said so too."""


def want_json(wanted: bool) -> bool:
    json_wanted.set(wanted)
    return wanted


AsJson = Annotated[
    bool,
    typer.Option(
        "--json", callback=want_json, is_eager=True, help="print the result, or what is wrong, as JSON"
    ),
]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="the competition's short name")]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="the submission's id")]
GroupColumns = Annotated[
    str | None,
    typer.Option(
        "--groups",
        "--group",
        help="columns a cheat may keep, such as sex,country; '': none, so that everybody is in one group; "
        "default: the cross-tables'",
    ),
]
TomlFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE.toml")]


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("{name} is not UTF-8 text", name=path.name) from None


def names_in(groups: str | None) -> tuple[str, ...] | None:
    """The columns that ``--groups`` names; None where it is not given."""
    names = tuple(groups.split(",")) if groups else () if groups == "" else None
    if names and "" in names:
        raise InvalidInput("--groups {groups}: a name is empty", code="unknown_column", groups=groups)
    return names
