"""The example data TC400, the transactions of PWS Cup 2016. See the README in this folder."""

from importlib.resources import as_file, files

import numpy as np
import pandas as pd

from anoncup.tracks.transactions.files import TRANSACTION_COLUMNS
from anoncup.tracks.transactions.tables import TransactionTables

_CUSTOMER_COUNT = 400
SEED = 2016
_FEMALE_SHARE = 0.8
_BIRTHDAY_RANGE = ("1930-01-01", "1990-01-01")
_TEXT_COLUMNS = ("customer_id", "receipt_id", "date", "time", "goods", "country")
_COLUMN_TYPES = {**dict.fromkeys(_TEXT_COLUMNS, "str"), "unit_price": "float64", "quantity": "int64"}


def load_tc400() -> TransactionTables:
    """Return 400 customers and their 38,087 purchases from UCI Online Retail (CC BY 4.0).

    Sex and birthday are invented.
    """
    with as_file(files(__package__) / "tc400.parquet") as path:
        rows = pd.read_parquet(path).astype(_COLUMN_TYPES)
    return split_tables(rows)


def split_tables(rows: pd.DataFrame) -> TransactionTables:
    """Split the rows of ``derive_tc400`` into the two tables."""
    return TransactionTables(_build_customers(rows), rows[list(TRANSACTION_COLUMNS)])


def derive_tc400(online_retail: pd.DataFrame, *, customers: int | None = _CUSTOMER_COUNT) -> pd.DataFrame:
    """Derive the example data, one row for each purchase, from the complete Online Retail table.

    Rows without a customer id, with a quantity or price of 0 or less, or with an unspecified country are left
    out. The customers with the lowest ids are kept, as many as ``customers`` (None: all). Rows keep their
    order.
    """
    valid_rows = online_retail[
        online_retail["CustomerID"].notna()
        & (online_retail["Quantity"] > 0)
        & (online_retail["UnitPrice"] > 0)
        & (online_retail["Country"] != "Unspecified")
    ]
    lowest_ids = np.sort(valid_rows["CustomerID"].unique())[:customers]
    rows = valid_rows[valid_rows["CustomerID"].isin(lowest_ids)]
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


def _build_customers(rows: pd.DataFrame) -> pd.DataFrame:
    """Build the customers with their most frequent country (ties: the first by alphabet).

    Sex and birthday are invented.
    """
    counts = rows.groupby(["customer_id", "country"]).size().reset_index(name="rows")
    counts = counts.sort_values(["customer_id", "rows", "country"], ascending=[True, False, True])
    customers = counts.drop_duplicates("customer_id").reset_index(drop=True)
    rng = np.random.Generator(np.random.PCG64(SEED))
    sex = np.where(rng.random(len(customers)) < _FEMALE_SHARE, "f", "m")
    first, last = (np.datetime64(day).astype(np.int64) for day in _BIRTHDAY_RANGE)
    birthdays = rng.integers(first, last, len(customers)).astype("datetime64[D]")
    return pd.DataFrame(
        {
            "customer_id": customers["customer_id"],
            "sex": sex,
            "birthday": birthdays.astype(str),
            "country": customers["country"],
        }
    ).astype("str")
