"""The membership track: who was in the table that a release was made of, as asked since 2020."""

from __future__ import annotations  # its types are those of numbers

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from anoncup.lazy import deferred_in
from anoncup.messages import N_
from anoncup.rules.parameters import Parameter
from anoncup.tracks.files import GUESS, Columns, FileSpec, Rows
from anoncup.tracks.membership.settings import (
    ATTRIBUTE,
    PLACE,
    check_rules,
    hidden_of,
    hidden_schema,
    public_schema,
    read_settings,
    roles,
)
from anoncup.tracks.model import Answers, Draw, Question, Track
from anoncup.tracks.parts import Attacker, Measure, Method

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

_by = deferred_in(__name__)

CUT_AT_QUANTILES = {"marginals", "pairs", "tails"}
"""Measures that compare numbers with quantiles, exactly since version 2."""


def all_columns(rules: Rules) -> Columns:
    names: Columns = rules.settings.schema.names
    return names


def public_columns(rules: Rules) -> Columns:
    return public_schema(rules).names


def hidden_column(rules: Rules) -> Columns:
    hidden = hidden_of(rules)
    return (hidden,) if hidden else ()


def against_members(
    name: str, details: Callable[[Any], dict[str, float]] | None = None, within: str = "measures"
) -> Measure:
    """A measure in [0, 1], 0 best, of a release beside its members: its value is its utility score."""
    compute = _by(f"{within}.{name}")
    return Measure(
        name,
        2 if name in CUT_AT_QUANTILES else 1,
        lambda release: compute(release.members, release.released),
        weighs=True,
        scale=1.0,
        details=details,
    )


def seen(name: str) -> Attacker:
    """An attacker that scores how surely each candidate is a member."""
    attack = _by(f"attackers.{name}")
    return Attacker(name, 1, lambda target: attack(target.seen), question="membership")


def method(name: str, *parameters: Parameter) -> Method:
    return Method(name, _by(f"methods.{name}"), parameters)


def each_candidate(sizes: Any, _: object) -> tuple[int, int]:
    """A line for each."""
    return sizes["originals"], sizes["originals"]


def each_member(sizes: Any, _: object) -> tuple[int, int]:
    return sizes["originals"] // 2, sizes["originals"] // 2


ONE_EACH: Rows = each_candidate
MEMBERS = FileSpec(
    "members",
    title="the members",
    said=N_("CSV with the header candidate and all columns: one row for each of the team's members"),
    header=lambda rules: (PLACE, *all_columns(rules)),
    rows=each_member,
    kind="members",
    excerpts=((PLACE, "2", "3", "7", "…"),),
)
HIDDEN = FileSpec(
    "hidden",
    title="the hidden column of the candidates",
    said="CSV headed by the hidden column, a line for each candidate",
    header=hidden_column,
    rows=ONE_EACH,
    example=lambda rules: hidden_schema(rules).lines if hidden_of(rules) else (),
)
MEMBERSHIP_QUESTION = Question(
    name="membership",
    file=FileSpec(
        GUESS,
        title="the guess",
        said="CSV headed score, a line for each candidate: a number from 0 to 1, higher the surer a member",
        header=lambda _: ("score",),
        rows=ONE_EACH,
        kind="scores",
        samples=(("score", "0.93", "0.5", "0", "…"),),
        excerpts=(("score", "0.93", "0.5", "…"),),
    ),
    read=_by("questions.read_scores"),
    write=_by("tables.scores_csv"),
    answered=_by("questions.answered"),
    judge=_by("questions.judge_membership"),
    perfect=_by("questions.surest"),
    parameters=(Parameter("value", "choice", ("tpr", "advantage")),),
    blind=_by("questions.blind_scores"),
)
ATTRIBUTE_QUESTION = Question(
    name=ATTRIBUTE,
    file=FileSpec(
        GUESS,
        title="the guess",
        said="CSV headed by the hidden column, a line for each candidate",
        header=hidden_column,
        rows=ONE_EACH,
    ),
    read=_by("questions.read_column"),
    write=_by("tables.written"),
    answered=_by("questions.rows_of"),
    judge=_by("questions.judge_attribute"),
    perfect=_by("questions.known_column"),
    parameters=(
        Parameter("hidden", "column", "columns"),
        Parameter("tolerance", "amount", default=0.0),
    ),
    optional=True,
    blind=_by("questions.blind_column"),
)

MEMBERSHIP = Track(
    name="membership",
    roles=roles,
    settings=read_settings,
    fitted=_by("schema_inference.fitted"),
    check_rules=check_rules,
    release=(
        FileSpec(
            "released",
            title="the table made of the members",
            said="CSV of the members' columns, made of the team's own members",
            header=all_columns,
            rows=lambda sizes, rules: rules.settings.rows(sizes["originals"]),
            individuals=True,
        ),
    ),
    original=(
        FileSpec(
            "candidates",
            title="who may be a member",
            said="CSV of the public columns; an even number of rows",
            header=public_columns,
            individuals=True,
            example=lambda rules: public_schema(rules).lines,
        ),
        FileSpec(
            "background",
            title="other rows that everybody knows",
            said="CSV of all columns, the hidden one too",
            header=all_columns,
            required=False,
            example=lambda rules: rules.settings.schema.lines,
        ),
    ),
    parse_original=_by("adapter.parse_original"),
    parse_release=_by("adapter.parse_release"),
    files_of=_by("adapter.files_of"),
    canonical_files=_by("adapter.canonical_files"),
    individuals=lambda tables: int(tables.rows),
    answers=Answers(
        file=MEMBERS,
        read=_by("answer.read"),
        write=_by("answer.write"),
        check=_by("answer.check"),
    ),
    questions={one.name: one for one in (MEMBERSHIP_QUESTION, ATTRIBUTE_QUESTION)},
    draw=Draw(
        files=(MEMBERS,),
        each_team=True,
        make=_by("answer.make"),
        truth=(HIDDEN,),
        shared=lambda rules: bool(rules.settings.shared),
        check_truth=_by("answer.check_truth"),
        holds=lambda rules: ("hidden",) if hidden_of(rules) else (),
    ),
    prepare=_by("adapter.prepare"),
    target_of=_by("adapter.target_of"),
    release_of=_by("adapter.release_of"),
    measures={
        one.name: one
        for one in (
            against_members("marginals", _by("adapter.by_column")),
            against_members("pairs"),
            against_members("correlations"),
            against_members("tails"),
            against_members("copies"),
            against_members("propensity", within="propensity"),
        )
    },
    attackers={name: seen(name) for name in ("exact_copy", "closest", "closest_ratio", "density")},
    methods={
        one.name: one
        for one in (
            method("copy"),
            method("independent"),
            method("noise", Parameter("strength", "share", default=0.1)),
            method("copula"),
        )
    },
    anonymize=_by("answer.anonymize"),
    title=N_("membership"),
    individual=N_("candidate"),
    example="noise",
    frames=_by("adapter.frames"),
    templates={"membership": files(__name__) / "membership.toml"},
    example_data=_by("adapter.example_data"),
)
