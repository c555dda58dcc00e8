"""Example data of the monthly track: a year of the purchases of TC400 or of some of its customers."""

from numpy.random import PCG64, Generator

from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, MAX_MONTHS, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import sample_known_rows, write_knowledge
from anoncup.tracks.monthly.original import parse_original
from anoncup.tracks.transactions.example import load_tc400
from anoncup.tracks.transactions.tables import TransactionTables, files_of


def make_example_data(rows: int | None = None, seed: int = 0) -> dict[str, bytes]:
    """Return the files of the first twelve months of TC400, with tables of partial knowledge.

    There are the first ``rows`` customers (None: all) who bought something in these months. ``seed`` selects
    the known rows.
    """
    files = load_year_of_tc400(rows)
    original, _ = parse_original(files)
    knowledge = sample_known_rows(original, Generator(PCG64(seed)))
    return files | {name: write_knowledge(original, is_kept) for name, is_kept in knowledge.items()}


def load_year_of_tc400(max_customers: int | None = None) -> dict[str, bytes]:
    tables = load_tc400()
    months = tables.transactions["date"].str[:7]
    rows = tables.transactions[months.isin(sorted(months.unique())[:MAX_MONTHS])]
    customer_rows = tables.customers[tables.customers["customer_id"].isin(rows["customer_id"])][
        :max_customers
    ]
    rows = rows[rows["customer_id"].isin(customer_rows["customer_id"])]
    return files_of(
        TransactionTables(
            customer_rows.set_axis(CUSTOMER_COLUMNS, axis=1), rows.set_axis(TRANSACTION_COLUMNS, axis=1)
        )
    )
