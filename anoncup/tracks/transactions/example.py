"""The data the project ships: TC400, the transactions of PWS Cup 2016. See the README beside it."""

from importlib.resources import as_file, files

import numpy as np
import pandas as pd

from anoncup.tracks.transactions.files import TRANSACTION_COLUMNS
from anoncup.tracks.transactions.tables import TransactionTables

CUSTOMERS = 400
SEED = 2016
FEMALE = 0.8
BORN = ("1930-01-01", "1990-01-01")
TEXTS = ("customer_id", "receipt_id", "date", "time", "goods", "country")
TYPES = {**dict.fromkeys(TEXTS, "str"), "unit_price": "float64", "quantity": "int64"}


def tc400() -> TransactionTables:
    """400 customers and their 38,087 purchases: UCI Online Retail (CC BY 4.0), sex and birthday invented."""
    with as_file(files(__package__) / "tc400.parquet") as path:
        rows = pd.read_parquet(path).astype(TYPES)
    return tables_of(rows)


def tables_of(rows: pd.DataFrame) -> TransactionTables:
    """What :func:`derive` makes, as the two tables."""
    return TransactionTables(_customers(rows), rows[list(TRANSACTION_COLUMNS)])


def derive(online_retail: pd.DataFrame, *, customers: int | None = CUSTOMERS) -> pd.DataFrame:
    """What is shipped, from the complete Online Retail table: a row per purchase, with its country.

    Customers known, quantity and price above 0, country specified; of these the lowest customer ids (None:
    all), in the table's own order.
    """
    known = online_retail[
        online_retail["CustomerID"].notna()
        & (online_retail["Quantity"] > 0)
        & (online_retail["UnitPrice"] > 0)
        & (online_retail["Country"] != "Unspecified")
    ]
    lowest = np.sort(known["CustomerID"].unique())[:customers]
    rows = known[known["CustomerID"].isin(lowest)]
    return pd.DataFrame(
        {
            "customer_id": rows["CustomerID"].astype(np.int64).astype(str),
            "receipt_id": rows["InvoiceNo"].astype(str),
            "date": rows["InvoiceDate"].dt.strftime("%Y-%m-%d"),
            "time": rows["InvoiceDate"].dt.strftime("%H:%M"),
            "goods": rows["StockCode"].astype(str),
            "unit_price": rows["UnitPrice"].astype(np.float64),
            "quantity": rows["Quantity"].astype(np.int64),
            "country": rows["Country"].astype(str),
        }
    ).reset_index(drop=True)


def _customers(rows: pd.DataFrame) -> pd.DataFrame:
    """Every customer's commonest country (ties: the first by alphabet), with an invented sex and birthday."""
    counts = rows.groupby(["customer_id", "country"]).size().reset_index(name="rows")
    counts = counts.sort_values(["customer_id", "rows", "country"], ascending=[True, False, True])
    customers = counts.drop_duplicates("customer_id").reset_index(drop=True)
    rng = np.random.Generator(np.random.PCG64(SEED))
    sex = np.where(rng.random(len(customers)) < FEMALE, "f", "m")
    first, last = (np.datetime64(day).astype(np.int64) for day in BORN)
    born = rng.integers(first, last, len(customers)).astype("datetime64[D]")
    return pd.DataFrame(
        {
            "customer_id": customers["customer_id"],
            "sex": sex,
            "birthday": born.astype(str),
            "country": customers["country"],
        }
    ).astype("str")
