"""``anoncup board``: the three boards as tables; every column is in --csv and --json."""

from typing import Annotated, Any, Literal

import typer

from app.cli.connection import connected
from app.cli.listing import Columns, print_json, print_table, time_of, value_of
from app.cli.options import AsJson, Slug
from app.errors import InvalidInput

Which = Literal["anonymization", "reidentification", "matrix"]


def board(
    slug: Slug,
    which: Annotated[Which, typer.Option(help="which board")] = "anonymization",
    as_csv: Annotated[bool, typer.Option("--csv", help="print the board as CSV, with every column")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a board."""
    if as_csv and as_json:
        raise InvalidInput("--csv or --json, not both")
    with connected(anybody=True) as client:
        if as_csv:
            print(client.board_csv(slug, which), end="")
            return
        found = client.board(slug, which)
    if as_json:
        print_json(found)
    else:
        SHOWN[which](found)


def show_anonymization(found: dict[str, Any]) -> None:
    columns: Columns = {
        "rank": "rank",
        "team": own_marked("team"),
        "overall": "overall",
        "utility": "utility",
        "security": "security",
        "entries": "entries",
        "received": time_of("received_at"),
    }
    print_table(found["rows"], columns)


def show_reidentification(found: dict[str, Any]) -> None:
    columns: Columns = {
        "rank": "rank",
        "team": own_marked("team"),
        "identified": "identified",
        "of": "tried",
        "rate": "rate",
        "targets": "targets",
    }
    print_table(found["rows"], columns)
    say_if_hidden(found)


def show_matrix(found: dict[str, Any]) -> None:
    """The rates: a row per attacker, a column per target."""
    columns: dict[str, Any] = {"attacker": own_marked("attacker")}
    for place, target in enumerate(found["targets"]):
        columns[own_marked("target")(target)] = rate_at(place)
    print_table(found["rows"], columns)
    say_if_hidden(found)


def rate_at(place: int) -> Any:
    return lambda row: value_of(row["cells"][place], "rate")


def own_marked(field: str) -> Any:
    """The name, with a star if it is one's own."""
    return lambda entry: f"{entry[field]} *" if entry["own"] else str(entry[field])


def say_if_hidden(found: dict[str, Any]) -> None:
    if found["hidden"]:
        print("scores of guesses are not shown yet")


SHOWN = {
    "anonymization": show_anonymization,
    "reidentification": show_reidentification,
    "matrix": show_matrix,
}
