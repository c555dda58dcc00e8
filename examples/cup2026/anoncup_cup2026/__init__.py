"""A track of cohorts: a team anonymizes its cohort, and others say who is in it and what its members hide.

It is the track ``membership`` with other files of teams and organizers, and with other guesses.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

from anoncup.lazy import lazy_module
from anoncup.tracks.capabilities import Allocation, Examples
from anoncup.tracks.files import FileSpec, allow_any_row_count, allow_subset
from anoncup.tracks.membership import MEMBERSHIP
from anoncup.tracks.membership.settings import CANDIDATE_COLUMN, get_hidden_schema
from anoncup.tracks.parts import Attacker
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup_cup2026 import steps as _steps
else:
    _steps = lazy_module("anoncup_cup2026.steps")

COHORT_FILE = replace(MEMBERSHIP.answer_spec.file, name="cohort", row_limits=allow_any_row_count)
REGISTER_FILE = FileSpec(
    "register",
    header=lambda rules: ("cohort", *get_hidden_schema(rules).names),
    example_lines=lambda rules: (
        ("cohort", *get_hidden_schema(rules).names),
        *((str(number), *line) for number, line in enumerate(get_hidden_schema(rules).example_lines[1:], 1)),
    ),
)
ATTRIBUTE_QUESTION = replace(
    MEMBERSHIP.questions["attribute"],
    file=FileSpec(
        "guess",
        format_description="CSV headed candidate and the hidden column: its value for members of the cohort",
        header=lambda rules: (CANDIDATE_COLUMN, *get_hidden_schema(rules).names),
    ),
    read=_steps.read_values,
    write=_steps.write_guess,
    judge=_steps.judge_attribute,
    make_perfect_guess=_steps.make_perfect_values,
    parameters=MEMBERSHIP.questions["attribute"].parameters[:1],
    optional=False,
    make_blind_guess=None,
)
MEMBERSHIP_QUESTION = replace(
    ATTRIBUTE_QUESTION,
    name="membership",
    file=FileSpec(
        "guess",
        format_description="CSV headed candidate and score: a number from 0 to 1; candidates left out have 0",
        header=lambda _: (CANDIDATE_COLUMN, "score"),
        samples=((f"{CANDIDATE_COLUMN},score", "17,0.93", "3,0.5"),),
    ),
    read=_steps.read_scores,
    judge=_steps.judge_membership,
    make_perfect_guess=_steps.make_perfect_scores,
    parameters=(),
    make_blind_guess=_steps.make_blind_scores,
)

CUP2026 = replace(
    MEMBERSHIP,
    name="cup2026",
    title="cohorts",
    settings=replace(MEMBERSHIP.settings, infer=None),
    release_files=(replace(MEMBERSHIP.release_files[0], row_limits=allow_subset),),
    parse_release=_steps.parse_release,
    answer_spec=replace(
        MEMBERSHIP.answer_spec, file=COHORT_FILE, read=_steps.read_cohort, check=_steps.check_cohort
    ),
    questions={question.name: question for question in (MEMBERSHIP_QUESTION, ATTRIBUTE_QUESTION)},
    allocation=Allocation(
        files=(COHORT_FILE,),
        per_team=True,
        make_files=_steps.assign_cohort,
        organizer_files=(REGISTER_FILE,),
        check_organizer_file=_steps.check_register,
    ),
    measures={name: MEMBERSHIP.measures[name] for name in ("marginals", "pairs", "correlations")},
    attackers={
        "closest_ratio": Attacker("closest_ratio", 1, _steps.closest_ratio, question="membership"),
        "nearest_value": Attacker("nearest_value", 1, _steps.nearest_value, question="attribute"),
    },
    anonymize=_steps.anonymize,
    examples=Examples(
        {"cup2026": resources.files(__name__) / "cup2026.toml"}, "copula", _steps.make_example_data
    ),
)
PLUGIN = Plugin(api=0, tracks={"cup2026": CUP2026})
