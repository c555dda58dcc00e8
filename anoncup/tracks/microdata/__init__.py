"""The microdata track of PWS Cup 2015: a release is one table whose rows must be re-identified.

X is the original table with n rows, Y the anonymized table with n' rows, Q the quasi-identifiers and S the
sensitive columns. P0, P1, P2 and P4 are papers that ``anoncup.tracks`` lists.
"""

from __future__ import annotations  # the numeric types are imported for type checkers only

from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING

from anoncup.lazy import lazy_in
from anoncup.messages import N_
from anoncup.tracks.capabilities import Distances, Examples, Scaling, TrackSettings
from anoncup.tracks.files import FileSpec, allow_subset, fixed_lines
from anoncup.tracks.linkage.question import LINK_QUESTION, SOURCE_ANSWER
from anoncup.tracks.microdata.columns import group_columns
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance

if TYPE_CHECKING:
    import pandas as pd

    from anoncup.geometry.arrays import IntArray
    from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, ScoredMicrodata

_EXAMPLE_LINES = "sex,age,prefecture,income", "f,30-39,Tokyo,412.5", "m,60-69,Osaka,388"
"""Example first lines of an original: three quasi-identifiers and a sensitive number."""

_lazy = lazy_in(__name__)


def _make_distance(name: str, *, bounded: bool) -> Distance[MicrodataOriginal, ScoredMicrodata]:
    return Distance(
        name,
        to_source=_lazy(f"distances.{name}_to_source"),
        to_others=_lazy(f"distances.{name}_to_others"),
        nearest_other=_lazy(f"distances.{name}_nearest_other"),
        matrix=_lazy(f"distances.{name}_matrix"),
        pairs=_lazy(f"distances.{name}_pairs"),
        bounded=bounded,
    )


MICRODATA: Track[MicrodataOriginal, pd.DataFrame, MicrodataTarget, IntArray] = Track(
    name="microdata",
    release_files=(
        FileSpec(
            "anonymized",
            title="the anonymized table",
            format_description="CSV with the original's header, 1 to n rows",
            header_like="original",
            row_limits=allow_subset,
            rows_are_individuals=True,
        ),
    ),
    original_files=(
        FileSpec(
            "original",
            rows_are_individuals=True,
            example_lines=fixed_lines(*_EXAMPLE_LINES),
            roles=("quasi_identifiers", "sensitive"),
            suggest_roles=_lazy("column_roles.suggest_roles"),
        ),
    ),
    parse_original=_lazy("release.parse_original"),
    parse_release=_lazy("release.parse_release"),
    files_of=_lazy("release.files_of"),
    count_individuals=len,
    build_frames=lambda original: (original.table,),
    answer_spec=SOURCE_ANSWER,
    questions={LINK_QUESTION.name: LINK_QUESTION},
    attack_view=_lazy("release.build_target"),
    measures={**UTILITIES, **ANONYMITY},
    attackers=ATTACKERS,
    methods=METHODS,
    allows_deletion=True,
    distances=Distances(
        {
            "gower": _make_distance("gower", bounded=True),
            "euclidean": _make_distance("euclidean", bounded=False),
        },
        group_columns=group_columns,
        group_individuals=_lazy("release.group_individuals"),
        subset=_lazy("release.subset"),
    ),
    anonymize=_lazy("release.anonymize"),
    shuffle_rows=_lazy("methods.shuffle_rows"),
    scaling=Scaling(_lazy("release.null_release"), _lazy("release.identity_release")),
    settings=TrackSettings(
        has_columns=True, list_columns_by_role=lambda columns, _: asdict(columns) if columns else {}
    ),
    title=N_("microdata"),
    individual=N_("row"),
    examples=Examples(
        templates={"2015": files(__name__) / "2015.toml"},
        method="add_noise",
        make_data=lambda _, rows, seed: _lazy("example.make_example_data")(rows, seed),
    ),
)
