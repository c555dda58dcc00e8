"""Example data: a year of TC400 as the files of the monthly track, or of a part of its customers."""

from numpy.random import PCG64, Generator

from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, MOST_MONTHS, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import drawn, knowledge_csv
from anoncup.tracks.monthly.original import parse_original
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import TransactionTables, files_of


def example_data(rows: int | None = None, seed: int = 0) -> dict[str, bytes]:
    """M and T: those customers of TC400 who bought in its first twelve months, and what they bought then;
    and tables of partial knowledge, drawn by ``seed``. ``rows``: only so many of the customers, the first.
    """
    files = year_of_tc400(rows)
    original, _ = parse_original(files)
    known = drawn(original, Generator(PCG64(seed)))
    return files | {name: knowledge_csv(original, kept) for name, kept in known.items()}


def year_of_tc400(customers: int | None = None) -> dict[str, bytes]:
    tables = tc400()
    month = tables.transactions["date"].str[:7]
    rows = tables.transactions[month.isin(sorted(month.unique())[:MOST_MONTHS])]
    people = tables.customers[tables.customers["customer_id"].isin(rows["customer_id"])][:customers]
    rows = rows[rows["customer_id"].isin(people["customer_id"])]
    return files_of(
        TransactionTables(
            people.set_axis(CUSTOMER_COLUMNS, axis=1), rows.set_axis(TRANSACTION_COLUMNS, axis=1)
        )
    )
