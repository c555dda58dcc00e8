"""Sample methods of the monthly track: new pseudonyms every month, and optional further changes."""

from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import column_texts
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.monthly.answer import PseudonymTable, build_pseudonym_table, extract_answer
from anoncup.tracks.monthly.original import EPOCH, MonthlyOriginal, calendar_months
from anoncup.tracks.monthly.release import MonthlyRelease, mark_deleted_rows, max_deleted_rows, parse_release

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
    deleted_count = min(round(share * rows), max_deleted_rows(rows))
    return _build_release(original, {}, rng.permutation(rows) >= deleted_count, rng)


def noisy_purchases(
    original: MonthlyOriginal, *, rng: Generator, days: int = 3, strength: float = 0.05
) -> _AnonymizedPurchases:
    """Give new pseudonyms each month and add noise to dates, prices and quantities.

    Dates move up to ``days`` within their month, prices by up to the share ``strength``, quantities by up to
    one.
    """
    records, is_kept = original.records, np.ones(original.records.rows, dtype=bool)
    factor = 1 + strength * rng.uniform(-1, 1, records.rows)
    price = np.minimum(records.price * np.minimum(factor, 2), records.price.max())
    quantity = np.clip(records.quantity + rng.integers(-1, 2, records.rows), 1, _MAX_QUANTITY)
    changed = {
        "date": _shift_dates(original, rng.integers(-days, days + 1, records.rows)),
        "price": np.array([f"{value:.2f}" for value in np.maximum(price, 0)], dtype=object),
        "quantity": quantity.astype(str).astype(object),
    }
    return _build_release(original, changed, is_kept, rng)


def _shift_dates(original: MonthlyOriginal, offsets: IntArray) -> _TextArray:
    """Shift dates by ``offsets`` days within their month; unchanged dates keep their format."""
    day = original.records.day
    months = calendar_months(day).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    last = (months + 1).astype("datetime64[D]").astype(np.int64) - 1
    shifted = np.clip(day + offsets, first, last)
    shifted_texts = np.array(
        [date.fromordinal(int(day_number) + EPOCH).isoformat() for day_number in shifted], dtype=object
    )
    return np.where(shifted == day, original.records.cells["date"].to_numpy(dtype=object), shifted_texts)


def _build_release(
    original: MonthlyOriginal, changed: dict[str, _TextArray], is_kept: BoolArray, rng: Generator
) -> _AnonymizedPurchases:
    cells = original.records.cells.assign(customer=_draw_pseudonyms(original, rng), **changed)
    release, _ = parse_release(write_csv(mark_deleted_rows(cells, is_kept)), original)
    return release, build_pseudonym_table(original, extract_answer(release))


def _draw_pseudonyms(original: MonthlyOriginal, rng: Generator) -> pd.Series:
    """Return a random pseudonym for every row of T by its customer and month."""
    prefix, ids = "p", column_texts(original.customers, "customer")
    while any(customer_id.startswith(prefix) for customer_id in ids):
        prefix += "p"
    customer_months, customer_month = np.unique(original.customer_month, return_inverse=True)
    names = np.array(
        [f"{prefix}{number:06}" for number in rng.permutation(len(customer_months))], dtype=object
    )
    return pd.Series(names[customer_month], index=original.records.cells.index)
