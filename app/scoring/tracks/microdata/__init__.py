"""The microdata track: PWS Cup 2015."""

from __future__ import annotations  # rules know their tracks

from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from anoncup.errors import InvalidCompetition
from anoncup.lazy import deferred, deferred_in
from anoncup.messages import N_
from anoncup.rules.settings import Columns
from anoncup.tracks.files import FileSpec, as_lines, some_originals
from anoncup.tracks.linkage.question import LINK, SOURCES
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance
from app.scoring.anonymity import ANONYMITY
from app.scoring.attackers import ATTACKERS
from app.scoring.methods import METHODS
from app.scoring.utility import UTILITIES

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

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


def columns_of(rules: Rules) -> Columns:
    """The roles of the columns, which a microdata competition always names."""
    if rules.columns is None:
        raise InvalidCompetition("the competition names no columns", code="missing_key")
    return rules.columns


def group_columns(rules: Rules) -> tuple[Sequence[str], Sequence[str]]:
    """All quasi-identifiers; and those of the cross-tables that weigh, which a cheat keeps for its utility's
    sake. Where no cross-table weighs, those of any that names its columns."""
    every = columns_of(rules).quasi_identifiers
    tables = [rules.measure(name) for name in ("cross_mean", "cross_count")]
    weighing = [one for one in tables if one.weight] or [one for one in tables if "columns" in one.parameters]
    named = [cast(Sequence[str], one.parameters.get("columns", every)) for one in weighing] or [every]
    return every, [column for column in every if any(column in columns for columns in named)]


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
    parse_original=_by("steps.parse_original"),
    parse_release=_by("steps.parse_release"),
    files_of=_by("steps.files_of"),
    individuals=len,
    answers=SOURCES,
    questions={LINK.name: LINK},
    prepare=_by("steps.prepare"),
    target_of=deferred("app.scoring.release.target_of"),
    release_of=deferred("app.scoring.release.release_of"),
    measures={**UTILITIES, **ANONYMITY},
    attackers=ATTACKERS,
    methods=METHODS,
    deletes=True,
    distances={
        "gower": Distance(
            "gower",
            deferred("app.scoring.distances.gower_rows"),
            deferred("app.scoring.all_pairs.gower_to_others"),
            deferred("app.scoring.distances.gower_nearest_other"),
            deferred("app.scoring.all_pairs.gower_matrix"),
            deferred("app.scoring.all_pairs.gower_pairs"),
            others=deferred("app.scoring.others.gower_others"),
        ),
        "euclidean": Distance(
            "euclidean",
            deferred("app.scoring.all_pairs.euclidean_rows"),
            deferred("app.scoring.all_pairs.euclidean_to_others"),
            deferred("app.scoring.all_pairs.euclidean_nearest_other"),
            deferred("app.scoring.all_pairs.euclidean_matrix"),
            deferred("app.scoring.all_pairs.euclidean_pairs"),
            bounded=False,
            others=deferred("app.scoring.others.euclidean_others"),
        ),
    },
    anonymize=_by("steps.anonymize"),
    shuffle=deferred("app.scoring.methods.permutations.shuffle_rows"),
    untouched=_by("steps.untouched"),
    null_release=_by("steps.null_release"),
    largest_cell=_by("steps.largest_cell"),
    group_columns=group_columns,
    groups=_by("steps.groups"),
    part=_by("steps.part"),
    signatures=SIGNATURES,
    title=N_("microdata"),
    individual=N_("row"),
    example="add_noise",
    has_columns=True,
    templates={"2015": files(__name__) / "2015.toml"},
    example_data=_by("steps.example_data"),
)
