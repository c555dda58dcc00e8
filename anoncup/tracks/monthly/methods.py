"""Sample methods of the monthly track: new pseudonyms every month, and what is changed besides."""

from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import texts
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.monthly.answer import Named, answer_of, named
from anoncup.tracks.monthly.original import EPOCH, Original, calendar_months
from anoncup.tracks.monthly.release import Release, most_deleted, parse_release, with_deletions

Released = tuple[Release, Named]
Texts = npt.NDArray[np.object_]
LARGEST_QUANTITY = 10**12


def pseudonyms(original: Original, *, rng: Generator) -> Released:
    """Every customer has a new name each month, and nothing else is changed."""
    return _released(original, {}, np.ones(original.records.rows, dtype=bool), rng)


def delete_purchases(original: Original, *, rng: Generator, share: float = 0.1) -> Released:
    """Give new names each month and delete a random ``share`` of the rows, at most as many as may be."""
    rows = original.records.rows
    gone = min(round(share * rows), most_deleted(rows))
    return _released(original, {}, rng.permutation(rows) >= gone, rng)


def noisy_purchases(original: Original, *, rng: Generator, days: int = 3, strength: float = 0.05) -> Released:
    """New names each month; dates up to ``days`` away within their month, prices up to that share, and
    quantities up to one."""
    records, kept = original.records, np.ones(original.records.rows, dtype=bool)
    factor = 1 + strength * rng.uniform(-1, 1, records.rows)
    price = np.minimum(records.price * np.minimum(factor, 2), records.price.max())
    quantity = np.clip(records.quantity + rng.integers(-1, 2, records.rows), 1, LARGEST_QUANTITY)
    changed = {
        "date": _moved(original, rng.integers(-days, days + 1, records.rows)),
        "price": np.array([f"{each:.2f}" for each in np.maximum(price, 0)], dtype=object),
        "quantity": quantity.astype(str).astype(object),
    }
    return _released(original, changed, kept, rng)


def _moved(original: Original, by: IntArray) -> Texts:
    """The dates so many days away, but in their month; those that stay are written as they were."""
    day = original.records.day
    months = calendar_months(day).astype("datetime64[M]")
    first = months.astype("datetime64[D]").astype(np.int64)
    last = (months + 1).astype("datetime64[D]").astype(np.int64) - 1
    moved = np.clip(day + by, first, last)
    written = np.array([date.fromordinal(int(each) + EPOCH).isoformat() for each in moved], dtype=object)
    return np.where(moved == day, original.records.cells["date"].to_numpy(dtype=object), written)


def _released(original: Original, changed: dict[str, Texts], kept: BoolArray, rng: Generator) -> Released:
    cells = original.records.cells.assign(customer=_names(original, rng), **changed)
    made, _ = parse_release(table_csv(with_deletions(cells, kept)), original)
    return made, named(original, answer_of(made))


def _names(original: Original, rng: Generator) -> pd.Series:
    """Of every row of T the new name of its customer and month, in an order that tells nothing."""
    prefix, ids = "p", texts(original.customers, "customer")
    while any(each.startswith(prefix) for each in ids):
        prefix += "p"
    spells, spell = np.unique(original.spell, return_inverse=True)
    names = np.array([f"{prefix}{number:06}" for number in rng.permutation(len(spells))], dtype=object)
    return pd.Series(names[spell], index=original.records.cells.index)
