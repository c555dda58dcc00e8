"""What is done with the tables of the transactions track."""

from __future__ import annotations  # rules know their tracks

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.tracks.parts import Method
from anoncup.tracks.transactions.files import MASTER
from anoncup.tracks.transactions.methods import chosen_customers
from anoncup.tracks.transactions.release import PreparedTransactions, TransactionRelease, permuted, release_of
from anoncup.tracks.transactions.tables import TransactionTables

if TYPE_CHECKING:
    from anoncup.rules.model import Rules


def null_release(original: PreparedTransactions, draw: int) -> TransactionRelease:
    """Every column of T but the customers', in file order, permuted by itself with PCG64(draw); M stays."""
    tables = permuted(original.tables, Generator(PCG64(draw)))
    return release_of(original, tables, np.arange(original.rows))


def largest_price(original: PreparedTransactions) -> float:
    """The largest unit price: the only cells that are amounts of money."""
    return float(original.history.price.max(initial=0.0))


def groups(original: PreparedTransactions, names: Sequence[str]) -> IntArray:
    """The group of every customer by some of sex, birthday and country, (n,)."""
    places = [MASTER.index(name) for name in names]
    return group_rows(original.master[:, places]).group_of


def part(original: PreparedTransactions, rows: IntArray) -> TransactionTables:
    return chosen_customers(original.tables, rows)


def untouched(original: PreparedTransactions) -> TransactionRelease:
    return release_of(original, original.tables, np.arange(original.rows))


def anonymize(
    method: Method,
    tables: TransactionTables,
    rules: Rules,  # noqa: ARG001 - what customers and transactions hold is the same everywhere
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[TransactionTables, IntArray]:
    return method.apply(tables, rng=rng, **parameters)
