"""``anoncup tc400``: write the data of the 2016 contest."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.generate import DATA_CREDIT, write_files


def tc400(folder: Annotated[Path, typer.Argument(help="the folder to write into")] = Path()) -> None:
    """Write the 2016 contest's data, customers.csv and transactions.csv, into a folder."""
    from anoncup.tracks.transactions.example import load_tc400
    from anoncup.tracks.transactions.tables import files_of

    write_files(files_of(load_tc400()), folder)
    print(DATA_CREDIT)
