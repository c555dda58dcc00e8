"""The membership track (cups since 2020): attackers guess who was in the table behind a synthetic release."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from collections.abc import Callable
from functools import wraps
from importlib.resources import files
from typing import TYPE_CHECKING

from anoncup.lazy import lazy_in
from anoncup.messages import N_
from anoncup.rules.parameters import Parameter
from anoncup.tracks.capabilities import Allocation, Examples, TrackSettings
from anoncup.tracks.files import GUESS_FILE, ColumnNames, FileSpec, RowLimits
from anoncup.tracks.membership.settings import (
    ATTRIBUTE_QUESTION,
    CANDIDATE_COLUMN,
    check_rules,
    get_hidden_column_name,
    get_hidden_schema,
    get_public_schema,
    get_settings,
    list_columns_by_role,
    read_settings,
)
from anoncup.tracks.model import AnswerSpec, Question, TargetFiles, Track
from anoncup.tracks.parts import Attacker, Measure, Method

if TYPE_CHECKING:
    from anoncup.geometry.arrays import FloatArray
    from anoncup.rules.model import Rules
    from anoncup.tracks.membership.adapter import ScoredMembership
    from anoncup.tracks.membership.answer import Members
    from anoncup.tracks.membership.attackers import MembershipTarget
    from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable

_lazy = lazy_in(__name__)

_MEASURE_VERSIONS = {"marginals": 2, "pairs": 2, "tails": 3}
"""Versions above 1. Version 2 compares quantiles as exact decimals instead of floats; version 3 of ``tails``
compares with the share of the members themselves instead of .02."""

_EXACT_MEASURES = {"marginals", "pairs", "tails", "copies"}
"""Measures that are made of counts of rows."""


def _all_columns(rules: Rules) -> ColumnNames:
    return get_settings(rules).schema.names


def _public_columns(rules: Rules) -> ColumnNames:
    return get_public_schema(rules).names


def _hidden_columns(rules: Rules) -> ColumnNames:
    name = get_hidden_column_name(rules)
    return (name,) if name else ()


def _make_measure(
    name: str, details: Callable[[ScoredMembership], dict[str, float]] | None = None, module: str = "measures"
) -> Measure[MembershipOriginal, ScoredMembership]:
    """Return a measure of a release against its members, in [0, 1], 0 best; the scale is 1."""
    compute = _lazy(f"{module}.{name}")
    return Measure(
        name,
        version=_MEASURE_VERSIONS.get(name, 1),
        compute=wraps(compute)(lambda scored: compute(scored.answer.table, scored.release)),
        is_exact=name in _EXACT_MEASURES,
        weighs=True,
        scale=1.0,
        details=details,
    )


def _make_attacker(name: str) -> Attacker[MembershipTarget, FloatArray]:
    """Return an attacker that scores the membership of each candidate."""
    return Attacker(name, version=1, attack=_lazy(f"attackers.{name}"), question="membership")


def _make_method(name: str, *parameters: Parameter) -> Method[TypedTable]:
    return Method(name, _lazy(f"methods.{name}"), parameters)


_ONE_ROW_PER_CANDIDATE: RowLimits = lambda sizes, _: (sizes["originals"], sizes["originals"])  # noqa: E731
_MEMBERS_SPEC = FileSpec(
    "members",
    title="the members",
    format_description=N_(
        "CSV with the header candidate and all columns: one row for each of the team's members"
    ),
    header=lambda rules: (CANDIDATE_COLUMN, *_all_columns(rules)),
    row_limits=lambda sizes, _: (sizes["originals"] // 2, sizes["originals"] // 2),
    kind="members",
    excerpts=((CANDIDATE_COLUMN, "2", "3", "7", "…"),),
)
_HIDDEN_SPEC = FileSpec(
    "hidden",
    title="the hidden column of the candidates",
    format_description="CSV headed by the hidden column, a line for each candidate",
    header=_hidden_columns,
    row_limits=_ONE_ROW_PER_CANDIDATE,
    example_lines=lambda rules: (
        get_hidden_schema(rules).example_lines if get_hidden_column_name(rules) else ()
    ),
)
_MEMBERSHIP_QUESTION = Question(
    name="membership",
    file=FileSpec(
        GUESS_FILE,
        title="the guess",
        format_description="CSV headed score, a line for each candidate: a number from 0 to 1, "
        "higher the surer a member",
        header=lambda _: ("score",),
        row_limits=_ONE_ROW_PER_CANDIDATE,
        kind="scores",
        samples=(("score", "0.93", "0.5", "0", "…"),),
        excerpts=(("score", "0.93", "0.5", "…"),),
    ),
    read=_lazy("questions.read_scores"),
    write=_lazy("tables.write_scores"),
    count_answered=len,
    judge=_lazy("questions.judge_membership"),
    make_perfect_guess=_lazy("questions.make_perfect_scores"),
    parameters=(Parameter("value", "choice", ("tpr", "advantage")),),
    make_blind_guess=_lazy("questions.make_blind_scores"),
)
_ATTRIBUTE_QUESTION = Question(
    name=ATTRIBUTE_QUESTION,
    file=FileSpec(
        GUESS_FILE,
        title="the guess",
        format_description="CSV headed by the hidden column, a line for each candidate",
        header=_hidden_columns,
        row_limits=_ONE_ROW_PER_CANDIDATE,
    ),
    read=_lazy("questions.read_column"),
    write=_lazy("tables.write_table"),
    count_answered=lambda column: column.rows,
    judge=_lazy("questions.judge_attribute"),
    make_perfect_guess=_lazy("questions.require_hidden_column"),
    parameters=(
        Parameter("hidden", "column", "columns"),
        Parameter("tolerance", "amount", default=0.0),
    ),
    optional=True,
    make_blind_guess=_lazy("questions.make_blind_column"),
)

MEMBERSHIP: Track[MembershipOriginal, TypedTable, MembershipTarget, Members] = Track(
    name="membership",
    settings=TrackSettings(
        list_columns_by_role=list_columns_by_role,
        read=read_settings,
        infer=_lazy("schema_inference.infer_settings"),
        check=check_rules,
    ),
    release_files=(
        FileSpec(
            "released",
            title="the table made of the members",
            format_description="CSV of the members' columns, made of the team's own members",
            header=_all_columns,
            row_limits=lambda sizes, rules: get_settings(rules).compute_row_limits(sizes["originals"]),
            rows_are_individuals=True,
        ),
    ),
    original_files=(
        FileSpec(
            "candidates",
            title="who may be a member",
            format_description="CSV of the public columns; an even number of rows",
            header=_public_columns,
            rows_are_individuals=True,
            example_lines=lambda rules: get_public_schema(rules).example_lines,
            roles=("numeric", "categorical"),
            suggest_roles=_lazy("schema_inference.suggest_roles"),
        ),
        FileSpec(
            "background",
            title="other rows that everybody knows",
            format_description="CSV of all columns, the hidden one too",
            header=_all_columns,
            required=False,
            example_lines=lambda rules: get_settings(rules).schema.example_lines,
        ),
    ),
    parse_original=_lazy("adapter.parse_original"),
    parse_release=_lazy("adapter.parse_release"),
    files_of=_lazy("adapter.files_of"),
    target_files=TargetFiles(write_canonically=_lazy("adapter.write_canonical_files")),
    count_individuals=lambda table: int(table.rows),
    build_frames=_lazy("adapter.build_frames"),
    answer_spec=AnswerSpec(
        file=_MEMBERS_SPEC,
        read=_lazy("answer.read_answer"),
        write=_lazy("answer.write_answer"),
        check=_lazy("answer.check_answer"),
    ),
    questions={entry.name: entry for entry in (_MEMBERSHIP_QUESTION, _ATTRIBUTE_QUESTION)},
    allocation=Allocation(
        files=(_MEMBERS_SPEC,),
        per_team=True,
        make_files=_lazy("answer.make_members_file"),
        organizer_files=(_HIDDEN_SPEC,),
        allows_shared=lambda rules: get_settings(rules).shared,
        check_organizer_file=_lazy("answer.check_organizer_file"),
    ),
    attack_view=_lazy("attackers.MembershipTarget"),
    measures={
        entry.name: entry
        for entry in (
            _make_measure("marginals", _lazy("adapter.compute_marginals_by_column")),
            _make_measure("pairs"),
            _make_measure("correlations"),
            _make_measure("tails"),
            _make_measure("copies"),
            _make_measure("propensity", module="propensity"),
        )
    },
    attackers={name: _make_attacker(name) for name in ("exact_copy", "closest", "closest_ratio", "density")},
    methods={
        entry.name: entry
        for entry in (
            _make_method("copy"),
            _make_method("independent"),
            _make_method("noise", Parameter("strength", "share", default=0.1)),
            _make_method("copula"),
        )
    },
    anonymize=_lazy("answer.anonymize"),
    title=N_("membership"),
    individual=N_("candidate"),
    examples=Examples(
        templates={"membership": files(__name__) / "membership.toml"},
        method="noise",
        make_data=lambda _, rows, seed: _lazy("adapter.make_example_data")(rows, seed),
    ),
)
