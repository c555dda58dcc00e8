"""A track about places: a release moves every person's place, and attackers guess who is who."""

from importlib import resources

from anoncup.lazy import lazy_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.files import FileSpec, allow_subset, fixed_header
from anoncup.tracks.linkage.question import LINK_QUESTION, SOURCE_ANSWER
from anoncup.tracks.model import Question, Track
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

_lazy = lazy_in(__name__)

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
    read=_lazy("steps.read_pairs"),
    write=_lazy("steps.write_pairs"),
    count_answered=len,
    judge=_lazy("steps.judge_pairs"),
    make_perfect_guess=_lazy("steps.make_all_pairs"),
    parameters=(Parameter("cost", "amount", default=1.0),),
    optional=True,
)

SHIFT_FORMULA = r"\frac{1}{n} \sum\limits_i \frac{\left|x_i - y_i\right|}{D}"

PLACES = Track(
    name="places",
    title="places",
    individual="person",
    list_columns_by_role=lambda *_: {},
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
    parse_original=_lazy("steps.parse_original"),
    parse_release=_lazy("steps.parse_release"),
    files_of=_lazy("steps.files_of"),
    count_individuals=len,
    answer_spec=SOURCE_ANSWER,
    questions={LINK_QUESTION.name: LINK_QUESTION, SURE_QUESTION.name: SURE_QUESTION},
    prepare=_lazy("steps.prepare"),
    attack_view=_lazy("steps.build_target"),
    measure_view=_lazy("steps.build_release"),
    measures={
        "shift": Measure("shift", 1, _lazy("steps.shift"), weighs=True, scale=1.0),
        "left_out": Measure(
            "left_out", 1, _lazy("steps.left_out"), weighs=True, reads_secret=False, scale=1.0
        ),
    },
    attackers={
        "nearest_place": Attacker("nearest_place", 1, _lazy("steps.nearest_place")),
        "nearest_pairs": Attacker("nearest_pairs", 1, _lazy("steps.nearest_pairs"), question="sure"),
    },
    methods={
        "blur": Method("blur", _lazy("steps.blur"), (Parameter("km", "amount", default=5.0),)),
    },
    anonymize=_lazy("steps.anonymize"),
    shuffle=_lazy("steps.shuffle"),
    example_method="blur",
    allows_deletion=True,
    build_frames=_lazy("steps.build_frames"),
    templates={"places": resources.files(__name__) / "places.toml"},
    make_example_data=_lazy("steps.make_example_data"),
)

PLUGIN = Plugin(api=0, tracks={"places": PLACES}, formulas={"places": {"shift": SHIFT_FORMULA}})
