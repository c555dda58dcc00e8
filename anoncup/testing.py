"""The laws that parts keep, for whoever writes one: a plug-in's whole test is one call with data of his own.

A case is a release with its answer; ``methods_tried`` makes some of an original. A law that is broken raises
``BrokenLaw``, an AssertionError that says what of which part::

    cases = list(methods_tried(TRACKS["microdata"], rules, table))
    check_measure(MY_MEASURE, TRACKS["microdata"], cases)
"""

from app.glossary import check_words
from app.scoring.laws import (
    BrokenLaw,
    Case,
    check_attacker,
    check_measure,
    check_method,
    methods_tried,
)
from app.scoring.laws_of_draws import check_draw
from app.scoring.laws_of_tracks import check_track

__all__ = [
    "BrokenLaw",
    "Case",
    "check_attacker",
    "check_draw",
    "check_measure",
    "check_method",
    "check_track",
    "check_words",
    "methods_tried",
]
