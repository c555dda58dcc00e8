"""Originals of the linkage tracks, made of tables without files."""

import pandas as pd

from anoncup.rules.model import Rules
from anoncup.tracks.microdata.columns import require_columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.transactions.release import TransactionOriginal
from anoncup.tracks.transactions.tables import TransactionTables


def make_original(
    tables: pd.DataFrame | TransactionTables, rules: Rules
) -> MicrodataOriginal | TransactionOriginal:
    if isinstance(tables, TransactionTables):
        return TransactionOriginal(tables)
    return MicrodataOriginal(tables, require_columns(rules))
