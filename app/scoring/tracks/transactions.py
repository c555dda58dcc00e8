"""The transactions track: PWS Cup 2016."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from app.scoring import baskets
from app.scoring.arrays import FloatArray, IntArray
from app.scoring.attackers import TRANSACTION_ATTACKERS
from app.scoring.baskets import Kind
from app.scoring.competition import Competition
from app.scoring.customer_anonymity import CUSTOMER_ANONYMITY
from app.scoring.encoding import group_rows
from app.scoring.methods import TRANSACTION_METHODS
from app.scoring.methods.transactions import shuffle_customers
from app.scoring.registry import Distance, Method, Track
from app.scoring.transaction_release import (
    MASTER,
    PreparedTransactions,
    TransactionRelease,
    permuted,
    prepare,
    release_of,
    target_of,
)
from app.scoring.transaction_tables import (
    TransactionTables,
    canonical_files,
    check_customers,
    files_of,
    parse_original,
    parse_release,
)
from app.scoring.utility import TRANSACTION_UTILITIES

FILES = ("customers", "transactions")
DUMMIES = frozenset(
    {
        "cmae_price",
        "cmae_spend",
        "rfm",
        "row_difference",
        "goods_cosine",
        "top_goods",
        "basket_k_mean",
        "jaccard",
    }
)
SIGNATURES = {
    "dummies in clusters": DUMMIES,
    "permutation of customers": frozenset({"jaccard", "receipt_match"}),
    "group_permutation": frozenset({"jaccard", "receipt_match"}),
    "delete_records": frozenset({"cmae_price", "cmae_spend", "rfm", "row_difference", "goods_cosine"}),
}
"""What each kind of method changes, among the measures and attackers that tell."""


def null_release(original: PreparedTransactions, draw: int) -> TransactionRelease:
    """Every column of T but the customers', in file order, permuted by itself with PCG64(draw); M stays."""
    tables = permuted(original.tables, Generator(PCG64(draw)))
    return release_of(original, tables, np.arange(original.rows))


def original_records(original: PreparedTransactions) -> float:
    """The scale of ``row_difference``: the number of original transactions."""
    return float(len(original.history.owner))


def largest_price(original: PreparedTransactions) -> float:
    """The largest unit price: the only cells that are amounts of money."""
    return float(original.history.price.max(initial=0.0))


def groups(original: PreparedTransactions, names: Sequence[str]) -> IntArray:
    """The group of every customer by some of sex, birthday and country, (n,)."""
    places = [MASTER.index(name) for name in names]
    return group_rows(original.master[:, places]).group_of


def _distance(kind: Kind) -> Distance:
    def to_source(release: TransactionRelease) -> FloatArray:
        return baskets.distances_to_source(release, kind)

    def to_others(release: TransactionRelease) -> FloatArray:
        return baskets.distances_to_others(release, kind)

    def nearest_other(original: PreparedTransactions) -> FloatArray:
        return baskets.nearest_other(original, kind)

    def matrix(original: PreparedTransactions) -> FloatArray:
        return baskets.distance_matrix(original, kind)

    def pairs(original: PreparedTransactions, rows: IntArray, others: IntArray) -> FloatArray:
        return baskets.pair_distances(original, rows, others, kind)

    return Distance(kind, to_source, to_others, nearest_other, matrix, pairs)


def _anonymize(
    method: Method,
    tables: TransactionTables,
    competition: Competition,  # noqa: ARG001 - what customers and transactions hold is the same everywhere
    rng: Generator,
    parameters: Mapping[str, Any],
) -> tuple[TransactionTables, IntArray]:
    return method.apply(tables, rng=rng, **parameters)


TRANSACTIONS = Track(
    name="transactions",
    files=FILES,
    original_files=FILES,
    check_part=lambda files, _: check_customers(files),
    parse_original=lambda files, _: parse_original(files),
    parse_release=lambda files, original, _: parse_release(files, original),
    files_of=files_of,
    canonical_files=canonical_files,
    individuals=lambda tables: len(tables.customers),
    prepare=lambda tables, _: prepare(tables),
    target_of=target_of,
    release_of=release_of,
    measures={**TRANSACTION_UTILITIES, **CUSTOMER_ANONYMITY},
    attackers=TRANSACTION_ATTACKERS,
    methods=TRANSACTION_METHODS,
    distances={kind: _distance(kind) for kind in ("jaccard_quantity", "jaccard")},
    anonymize=_anonymize,
    shuffle=shuffle_customers,
    untouched=lambda original: release_of(original, original.tables, np.arange(original.rows)),
    null_release=null_release,
    own_scales={"row_difference": original_records},
    largest_cell=largest_price,
    group_columns=lambda _: (MASTER, ("sex", "country")),
    groups=groups,
    signatures=SIGNATURES,
)
