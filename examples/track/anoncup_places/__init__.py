"""Contests on places: everybody has one, a release moves them a little, and others say whose is whose."""

from importlib import resources

from anoncup.lazy import deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.files import FileSpec, headed, some_originals
from anoncup.tracks.linkage.question import LINK, SOURCES
from anoncup.tracks.model import Question, Track
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

_by = deferred_in(__name__)

SURE = Question(
    name="sure",
    file=FileSpec(
        "guess",
        title="the pairs",
        said="CSV headed row and person: pairs that you are sure of, both counted from 1",
        header=headed("row", "person"),
        samples=(("row,person", "3,17", "8,2"),),
        excerpts=(("row,person", "3,17", "…"),),
    ),
    read=_by("steps.read_pairs"),
    write=_by("steps.write_pairs"),
    answered=len,
    judge=_by("steps.judge_pairs"),
    perfect=_by("steps.all_pairs"),
    parameters=(Parameter("cost", "amount", default=1.0),),
    optional=True,
)

SHIFT = """<math display="block"><mfrac><mn>1</mn><mi>n</mi></mfrac><mo>∑</mo>
<mfrac><mrow><mo>|</mo><msub><mi>x</mi><mi>i</mi></msub><mo>−</mo><msub><mi>y</mi><mi>i</mi></msub><mo>|</mo></mrow>
<mi>D</mi></mfrac></math>"""

PLACES = Track(
    name="places",
    title="places",
    individual="person",
    roles=lambda *_: {},
    original=(FileSpec("places", title="the places", header=headed("x", "y"), individuals=True),),
    release=(
        FileSpec(
            "moved",
            title="the moved places",
            said="CSV headed x and y, in kilometres: some or all of the places, moved, in any order",
            header=headed("x", "y"),
            rows=some_originals,
            individuals=True,
        ),
    ),
    parse_original=_by("steps.parse_original"),
    parse_release=_by("steps.parse_release"),
    files_of=_by("steps.files_of"),
    individuals=len,
    answers=SOURCES,
    questions={LINK.name: LINK, SURE.name: SURE},
    prepare=_by("steps.prepare"),
    target_of=_by("steps.target_of"),
    release_of=_by("steps.release_of"),
    measures={
        "shift": Measure("shift", 1, _by("steps.shift"), weighs=True, scale=1.0),
        "left_out": Measure("left_out", 1, _by("steps.left_out"), weighs=True, reads_secret=False, scale=1.0),
    },
    attackers={
        "nearest_place": Attacker("nearest_place", 1, _by("steps.nearest_place")),
        "nearest_pairs": Attacker("nearest_pairs", 1, _by("steps.nearest_pairs"), question="sure"),
    },
    methods={
        "blur": Method("blur", _by("steps.blur"), (Parameter("km", "amount", default=5.0),)),
    },
    anonymize=_by("steps.anonymize"),
    shuffle=_by("steps.shuffle"),
    example="blur",
    deletes=True,
    frames=_by("steps.frames"),
    templates={"places": resources.files(__name__) / "places.toml"},
    example_data=_by("steps.example_data"),
)

PLUGIN = Plugin(api=0, tracks={"places": PLACES}, formulas={"places": {"shift": SHIFT}})
