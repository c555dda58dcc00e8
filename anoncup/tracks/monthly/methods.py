"""Sample methods of the monthly track, which assign new pseudonyms every month and may change more."""

from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import get_column_texts
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.monthly.answer import PseudonymTable, extract_answer
from anoncup.tracks.monthly.original import EPOCH_ORDINAL, MonthlyOriginal, convert_days_to_months
from anoncup.tracks.monthly.release import (
    MonthlyRelease,
    count_deletable_rows,
    mark_deleted_rows,
    parse_release,
)

_AnonymizedPurchases = tuple[MonthlyRelease, PseudonymTable]
_TextArray = npt.NDArray[np.object_]
_MAX_QUANTITY = 10**12


def pseudonyms(original: MonthlyOriginal, *, rng: Generator) -> _AnonymizedPurchases:
    """Give every customer a new pseudonym each month and change nothing else."""
    return _build_release(original, {}, np.ones(original.records.rows, dtype=bool), rng)


def delete_purchases(
    original: MonthlyOriginal, *, rng: Generator, share: float = 0.1
) -> _AnonymizedPurchases:
    """Give new pseudonyms each month and delete a random ``share`` of the rows, up to the allowed number."""
    rows = original.records.rows
    deleted_count = min(round(share * rows), count_deletable_rows(rows))
    return _build_release(original, {}, rng.permutation(rows) >= deleted_count, rng)


def noisy_purchases(
    original: MonthlyOriginal, *, rng: Generator, days: int = 3, strength: float = 0.05
) -> _AnonymizedPurchases:
    """Give new pseudonyms each month and add noise to dates, prices and quantities.

    Dates move up to ``days`` within their month, prices by up to the share ``strength``, quantities by up to
    one.
    """
    records, is_kept = original.records, np.ones(original.records.rows, dtype=bool)
    price_factors = 1 + strength * rng.uniform(-1, 1, records.rows)
    prices = np.minimum(records.price * np.minimum(price_factors, 2), records.price.max())
    quantities = np.clip(records.quantity + rng.integers(-1, 2, records.rows), 1, _MAX_QUANTITY)
    changed_columns = {
        "date": _shift_dates(original, rng.integers(-days, days + 1, records.rows)),
        "price": np.array([f"{value:.2f}" for value in np.maximum(prices, 0)], dtype=object),
        "quantity": quantities.astype(str).astype(object),
    }
    return _build_release(original, changed_columns, is_kept, rng)


def _shift_dates(original: MonthlyOriginal, offsets: IntArray) -> _TextArray:
    """Shift dates by ``offsets`` days within their month; unchanged dates keep their format."""
    day = original.records.day
    months = convert_days_to_months(day).astype("datetime64[M]")
    first_day = months.astype("datetime64[D]").astype(np.int64)
    last_day = (months + 1).astype("datetime64[D]").astype(np.int64) - 1
    shifted = np.clip(day + offsets, first_day, last_day)
    shifted_texts = np.array(
        [date.fromordinal(int(day_number) + EPOCH_ORDINAL).isoformat() for day_number in shifted],
        dtype=object,
    )
    return np.where(shifted == day, original.records.cells["date"].to_numpy(dtype=object), shifted_texts)


def _build_release(
    original: MonthlyOriginal, changed_columns: dict[str, _TextArray], is_kept: BoolArray, rng: Generator
) -> _AnonymizedPurchases:
    cells = original.records.cells.assign(customer=_assign_pseudonyms(original, rng), **changed_columns)
    release, _ = parse_release(write_csv(mark_deleted_rows(cells, is_kept)), original)
    return release, extract_answer(release)


def _assign_pseudonyms(original: MonthlyOriginal, rng: Generator) -> pd.Series:
    """Return a random pseudonym for every row of T, the same for all rows of a customer and month."""
    prefix, ids = "p", get_column_texts(original.customers, "customer")
    while any(customer_id.startswith(prefix) for customer_id in ids):
        prefix += "p"
    distinct_pairs, pair_index = np.unique(original.customer_month, return_inverse=True)
    pseudonym_names = np.array(
        [f"{prefix}{number:06}" for number in rng.permutation(len(distinct_pairs))], dtype=object
    )
    return pd.Series(pseudonym_names[pair_index], index=original.records.cells.index)
