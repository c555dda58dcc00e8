"""The microdata track: PWS Cup 2015."""

from __future__ import annotations  # rules know their tracks

from dataclasses import asdict
from importlib.resources import files

from anoncup.lazy import deferred, deferred_in
from anoncup.messages import N_
from anoncup.tracks.files import FileSpec, as_lines, some_originals
from anoncup.tracks.linkage.question import LINK, SOURCES
from anoncup.tracks.microdata.columns import group_columns
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance

LINES = "sex,age,prefecture,income", "f,30-39,Tokyo,412.5", "m,60-69,Osaka,388"
"""How a table begins: words that others may know of a person, and a number that is worth protecting."""
AVERAGES = frozenset({"cor_mae", "information_loss", "sort"})
SIGNATURES = {
    "k_anonymize": frozenset({"cross_mean", "cross_count", "k_min", "k_mean", "id_rand"}),
    "add_noise": frozenset({"mean_mae", "cross_mean", "cor_mae", "information_loss", "sort"}),
    "cheating_permutation": frozenset({"information_loss", "id_rand", "sort"}),
    "unify_columns (in the cross-tables)": frozenset({"cross_mean", "cross_count", "k_mean", "id_rand"}),
    "unify_columns (others)": frozenset({"k_mean", "id_rand"}),
    "microaggregate": AVERAGES,
    "swap_within_classes": AVERAGES,
    "delete_rows": frozenset({"mean_mae", "cross_mean", "cross_count", "cor_mae", "row_difference", "sort"}),
}
"""What each method of P0 changes in its Tables 12 and 13, among the measures and attackers that tell."""


_by = deferred_in(__name__)

MICRODATA = Track(
    name="microdata",
    roles=lambda columns, _: asdict(columns) if columns else {},
    release=(
        FileSpec(
            "anonymized",
            title="the anonymized table",
            said="CSV with the original's header, 1 to n rows",
            like="original",
            rows=some_originals,
            individuals=True,
        ),
    ),
    original=(FileSpec("original", individuals=True, example=as_lines(*LINES)),),
    parse_original=_by("adapter.parse_original"),
    parse_release=_by("adapter.parse_release"),
    files_of=_by("adapter.files_of"),
    individuals=len,
    answers=SOURCES,
    questions={LINK.name: LINK},
    prepare=_by("adapter.prepare"),
    target_of=deferred("anoncup.tracks.microdata.release.target_of"),
    release_of=deferred("anoncup.tracks.microdata.release.release_of"),
    measures={**UTILITIES, **ANONYMITY},
    attackers=ATTACKERS,
    methods=METHODS,
    deletes=True,
    distances={
        "gower": Distance(
            "gower",
            deferred("anoncup.tracks.microdata.distances.gower_rows"),
            deferred("anoncup.tracks.microdata.pairwise_distances.gower_to_others"),
            deferred("anoncup.tracks.microdata.distances.gower_nearest_other"),
            deferred("anoncup.tracks.microdata.pairwise_distances.gower_matrix"),
            deferred("anoncup.tracks.microdata.pairwise_distances.gower_pairs"),
            others=deferred("anoncup.tracks.microdata.nearest_neighbours.gower_others"),
        ),
        "euclidean": Distance(
            "euclidean",
            deferred("anoncup.tracks.microdata.pairwise_distances.euclidean_rows"),
            deferred("anoncup.tracks.microdata.pairwise_distances.euclidean_to_others"),
            deferred("anoncup.tracks.microdata.pairwise_distances.euclidean_nearest_other"),
            deferred("anoncup.tracks.microdata.pairwise_distances.euclidean_matrix"),
            deferred("anoncup.tracks.microdata.pairwise_distances.euclidean_pairs"),
            bounded=False,
            others=deferred("anoncup.tracks.microdata.nearest_neighbours.euclidean_others"),
        ),
    },
    anonymize=_by("adapter.anonymize"),
    shuffle=deferred("anoncup.tracks.microdata.permutations.shuffle_rows"),
    untouched=_by("adapter.untouched"),
    null_release=_by("adapter.null_release"),
    largest_cell=_by("adapter.largest_cell"),
    group_columns=group_columns,
    groups=_by("adapter.groups"),
    part=_by("adapter.part"),
    signatures=SIGNATURES,
    title=N_("microdata"),
    individual=N_("row"),
    example="add_noise",
    has_columns=True,
    templates={"2015": files(__name__) / "2015.toml"},
    example_data=_by("adapter.example_data"),
)
