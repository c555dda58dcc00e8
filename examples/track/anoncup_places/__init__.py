"""A track about places: a release moves every person's place, and attackers guess who is who."""

from __future__ import annotations  # the numeric types are imported for type checkers only

from importlib import resources
from typing import TYPE_CHECKING

from anoncup.lazy import lazy_module
from anoncup.rules.parameters import Parameter
from anoncup.tracks.capabilities import Examples
from anoncup.tracks.files import FileSpec, allow_subset, fixed_header
from anoncup.tracks.linkage.question import LINK_QUESTION, SOURCE_ANSWER
from anoncup.tracks.model import Question, Track
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.geometry.arrays import FloatArray, IntArray
    from anoncup_places import steps as _steps
else:
    _steps = lazy_module("anoncup_places.steps")

SURE_QUESTION = Question(
    name="sure",
    file=FileSpec(
        "guess",
        title="the pairs",
        format_description="CSV headed row and person: pairs that you are sure of, both counted from 1",
        header=fixed_header("row", "person"),
        samples=(("row,person", "3,17", "8,2"),),
        excerpts=(("row,person", "3,17", "…"),),
    ),
    read=_steps.read_pairs,
    write=_steps.write_pairs,
    count_answered=len,
    judge=_steps.judge_pairs,
    make_perfect_guess=_steps.make_all_pairs,
    parameters=(Parameter("cost", "amount", default=1.0),),
    optional=True,
)

SHIFT_FORMULA = r"\frac{1}{n} \sum\limits_i \frac{\left|x_i - y_i\right|}{D}"

PLACES: Track[_steps.PlacesOriginal, FloatArray, _steps.PlacesTarget, IntArray] = Track(
    name="places",
    title="places",
    individual="person",
    original_files=(
        FileSpec("places", title="the places", header=fixed_header("x", "y"), rows_are_individuals=True),
    ),
    release_files=(
        FileSpec(
            "moved",
            title="the moved places",
            format_description="CSV headed x and y, in kilometres: some or all of the places, moved, "
            "in any order",
            header=fixed_header("x", "y"),
            row_limits=allow_subset,
            rows_are_individuals=True,
        ),
    ),
    parse_original=_steps.parse_original,
    parse_release=_steps.parse_release,
    files_of=_steps.files_of,
    count_individuals=len,
    answer_spec=SOURCE_ANSWER,
    questions={LINK_QUESTION.name: LINK_QUESTION, SURE_QUESTION.name: SURE_QUESTION},
    attack_view=_steps.PlacesTarget,
    measures={
        "shift": Measure("shift", 1, _steps.shift, weighs=True, scale=1.0),
        "left_out": Measure("left_out", 1, _steps.left_out, weighs=True, reads_secret=False, scale=1.0),
    },
    attackers={
        "nearest_place": Attacker("nearest_place", 1, _steps.nearest_place),
        "nearest_pairs": Attacker("nearest_pairs", 1, _steps.nearest_pairs, question="sure"),
    },
    methods={
        "blur": Method("blur", _steps.blur, (Parameter("km", "amount", default=5.0),)),
    },
    anonymize=_steps.anonymize,
    shuffle_rows=_steps.shuffle,
    allows_deletion=True,
    build_frames=_steps.build_frames,
    examples=Examples(
        {"places": resources.files(__name__) / "places.toml"}, "blur", _steps.make_example_data
    ),
)

PLUGIN = Plugin(api=0, tracks={"places": PLACES}, formulas={"places": {"shift": SHIFT_FORMULA}})
