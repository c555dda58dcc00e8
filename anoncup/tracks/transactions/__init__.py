"""The transactions track of PWS Cup 2016: customers must be re-identified by their purchases.

M is the table of customers and T that of their transactions; M' and T' are the anonymized tables.
"""

from __future__ import annotations  # the numeric types are imported for type checkers only

from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from anoncup.lazy import lazy_in
from anoncup.messages import N_
from anoncup.tracks.capabilities import Distances, Examples, Scaling, TrackSettings
from anoncup.tracks.linkage.question import LINK_QUESTION, SOURCE_ANSWER
from anoncup.tracks.model import TargetFiles, Track
from anoncup.tracks.parts import Distance
from anoncup.tracks.transactions.files import CUSTOMERS_SPEC, MASTER_COLUMNS, TRANSACTIONS_SPEC
from anoncup.tracks.transactions.registry import (
    CUSTOMER_ANONYMITY,
    TRANSACTION_ATTACKERS,
    TRANSACTION_METHODS,
    TRANSACTION_UTILITIES,
)

if TYPE_CHECKING:
    from anoncup.geometry.arrays import IntArray
    from anoncup.tracks.transactions.baskets import JaccardKind
    from anoncup.tracks.transactions.release import (
        ScoredTransactions,
        TransactionOriginal,
        TransactionTarget,
    )
    from anoncup.tracks.transactions.tables import TransactionTables

_TC400_DIGESTS = {
    CUSTOMERS_SPEC.name: "4b5be0f331284eee50e9c41cb71fe4a075ead8dac3ab4e6b1fc37fcde82a9713",
    TRANSACTIONS_SPEC.name: "60fd2ae77cf3a112bb6b78a49365f4335a8299abdbeec2076585c7c50d28293a",
}
"""SHA-256 of the example files that ``anoncup tc400`` writes."""

_lazy = lazy_in(__name__)


def _make_distance(kind: JaccardKind) -> Distance[TransactionOriginal, ScoredTransactions]:
    return Distance(
        kind,
        to_source=partial(_lazy("baskets.distances_to_source"), kind=kind),
        to_others=partial(_lazy("baskets.distances_to_others"), kind=kind),
        nearest_other=partial(_lazy("baskets.nearest_other"), kind=kind),
        matrix=partial(_lazy("baskets.distance_matrix"), kind=kind),
        pairs=partial(_lazy("baskets.pair_distances"), kind=kind),
    )


TRANSACTIONS: Track[TransactionOriginal, TransactionTables, TransactionTarget, IntArray] = Track(
    name="transactions",
    release_files=(CUSTOMERS_SPEC, TRANSACTIONS_SPEC),
    original_files=(CUSTOMERS_SPEC, TRANSACTIONS_SPEC),
    check_first_file=lambda files, _: _lazy("tables.check_customers")(files),
    parse_original=_lazy("release.parse_original"),
    parse_release=_lazy("release.parse_release"),
    files_of=_lazy("tables.files_of"),
    target_files=TargetFiles(write_canonically=_lazy("tables.write_canonical_files")),
    count_individuals=lambda tables: len(tables.customers),
    build_frames=lambda original: (original.tables.customers, original.tables.transactions),
    answer_spec=SOURCE_ANSWER,
    questions={LINK_QUESTION.name: LINK_QUESTION},
    attack_view=_lazy("release.build_target"),
    measures={**TRANSACTION_UTILITIES, **CUSTOMER_ANONYMITY},
    attackers=TRANSACTION_ATTACKERS,
    methods=TRANSACTION_METHODS,
    allows_deletion=True,
    distances=Distances(
        {kind: _make_distance(kind) for kind in ("jaccard_quantity", "jaccard")},
        group_columns=lambda _: (MASTER_COLUMNS, ("sex", "country")),
        group_individuals=_lazy("release.group_individuals"),
        subset=_lazy("release.subset"),
    ),
    anonymize=_lazy("release.anonymize"),
    shuffle_rows=_lazy("methods.shuffle_customers"),
    scaling=Scaling(_lazy("release.null_release"), _lazy("release.identity_release")),
    settings=TrackSettings(list_columns_by_role=lambda *_: {"master": MASTER_COLUMNS}),
    title=N_("transactions"),
    individual=N_("customer"),
    examples=Examples(
        templates={"2016": resources.files(__name__) / "2016.toml"},
        method="delete_records",
        known_datasets={"tc400": _TC400_DIGESTS},
    ),
)
