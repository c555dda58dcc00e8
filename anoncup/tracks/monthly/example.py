"""Example data: a year of TC400, or of some of its customers, as files of the monthly track."""

from numpy.random import PCG64, Generator

from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, MAX_MONTHS, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.knowledge import knowledge_csv, sample_known_rows
from anoncup.tracks.monthly.original import parse_original
from anoncup.tracks.transactions.example import tc400
from anoncup.tracks.transactions.tables import TransactionTables, files_of


def make_example_data(rows: int | None = None, seed: int = 0) -> dict[str, bytes]:
    """Return M, T and tables of partial knowledge, sampled with ``seed``, from a year of TC400.

    M has the customers who bought something in its first twelve months; with ``rows``, only the first ones.
    """
    files = load_year_of_tc400(rows)
    original, _ = parse_original(files)
    knowledge = sample_known_rows(original, Generator(PCG64(seed)))
    return files | {name: knowledge_csv(original, is_kept) for name, is_kept in knowledge.items()}


def load_year_of_tc400(customers: int | None = None) -> dict[str, bytes]:
    tables = tc400()
    month = tables.transactions["date"].str[:7]
    rows = tables.transactions[month.isin(sorted(month.unique())[:MAX_MONTHS])]
    customer_rows = tables.customers[tables.customers["customer_id"].isin(rows["customer_id"])][:customers]
    rows = rows[rows["customer_id"].isin(customer_rows["customer_id"])]
    return files_of(
        TransactionTables(
            customer_rows.set_axis(CUSTOMER_COLUMNS, axis=1), rows.set_axis(TRANSACTION_COLUMNS, axis=1)
        )
    )
