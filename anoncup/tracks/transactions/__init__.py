"""The transactions track: PWS Cup 2016."""

from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from anoncup.lazy import deferred, deferred_in
from anoncup.messages import N_
from anoncup.tracks.files import FileSpec, as_lines, headed, some_originals
from anoncup.tracks.linkage.question import LINK, SOURCES
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance
from anoncup.tracks.transactions.files import (
    CUSTOMER_COLUMNS,
    CUSTOMER_LINES,
    MASTER,
    TRANSACTION_COLUMNS,
    TRANSACTION_LINES,
)
from anoncup.tracks.transactions.registry import (
    CUSTOMER_ANONYMITY,
    TRANSACTION_ATTACKERS,
    TRANSACTION_METHODS,
    TRANSACTION_UTILITIES,
)

if TYPE_CHECKING:
    from anoncup.tracks.transactions.baskets import Kind

CUSTOMERS = FileSpec(
    "customers",
    title="the anonymized customers",
    said="CSV of M', 1 to n customers",
    header=headed(*CUSTOMER_COLUMNS),
    like="customers",
    rows=some_originals,
    individuals=True,
    example=as_lines(*CUSTOMER_LINES),
)
PURCHASES = FileSpec(
    "transactions",
    title="the anonymized purchases",
    said="CSV of T'",
    header=headed(*TRANSACTION_COLUMNS),
    like="transactions",
    example=as_lines(*TRANSACTION_LINES),
)
TC400 = {
    CUSTOMERS.name: "4b5be0f331284eee50e9c41cb71fe4a075ead8dac3ab4e6b1fc37fcde82a9713",
    PURCHASES.name: "60fd2ae77cf3a112bb6b78a49365f4335a8299abdbeec2076585c7c50d28293a",
}
"""SHA-256 of the files that the project ships, as ``anoncup tc400`` writes them."""
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


_by = deferred_in(__name__)
_tables = deferred_in("anoncup.tracks.transactions.tables")
_release = deferred_in("anoncup.tracks.transactions.release")
_baskets = deferred_in("anoncup.tracks.transactions.baskets")


def _distance(kind: "Kind") -> Distance:
    return Distance(
        kind,
        partial(_baskets("distances_to_source"), kind=kind),
        partial(_baskets("distances_to_others"), kind=kind),
        partial(_baskets("nearest_other"), kind=kind),
        partial(_baskets("distance_matrix"), kind=kind),
        partial(_baskets("pair_distances"), kind=kind),
        others=partial(deferred("anoncup.tracks.transactions.nearest_neighbours.basket_others"), kind=kind),
    )


TRANSACTIONS = Track(
    name="transactions",
    roles=lambda *_: {"master": MASTER},
    release=(CUSTOMERS, PURCHASES),
    original=(CUSTOMERS, PURCHASES),
    check_part=lambda files, _: _tables("check_customers")(files),
    parse_original=lambda files, _: _tables("parse_original")(files),
    parse_release=lambda files, original, _: _tables("parse_release")(files, original),
    files_of=_tables("files_of"),
    canonical_files=_tables("canonical_files"),
    individuals=lambda tables: len(tables.customers),
    answers=SOURCES,
    questions={LINK.name: LINK},
    prepare=lambda tables, _: _release("prepare")(tables),
    target_of=_release("target_of"),
    release_of=_release("release_of"),
    measures={**TRANSACTION_UTILITIES, **CUSTOMER_ANONYMITY},
    attackers=TRANSACTION_ATTACKERS,
    methods=TRANSACTION_METHODS,
    deletes=True,
    distances={kind: _distance(kind) for kind in ("jaccard_quantity", "jaccard")},
    anonymize=_by("adapter.anonymize"),
    shuffle=deferred("anoncup.tracks.transactions.methods.shuffle_customers"),
    untouched=_by("adapter.untouched"),
    null_release=_by("adapter.null_release"),
    largest_cell=_by("adapter.largest_price"),
    group_columns=lambda _: (MASTER, ("sex", "country")),
    groups=_by("adapter.groups"),
    part=_by("adapter.part"),
    signatures=SIGNATURES,
    title=N_("transactions"),
    individual=N_("customer"),
    example="delete_records",
    frames=lambda tables: (tables.customers, tables.transactions),
    shipped={"tc400": TC400},
    templates={"2016": resources.files(__name__) / "2016.toml"},
)
