"""Wrong functions in the description of a track, which are errors of mypy.

Only type checkers read this module. ``make check`` fails if mypy no longer finds one of these errors, because
its comment is then unused.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anoncup_places import PLACES, SURE_QUESTION, steps

    from anoncup.tracks.parts import Attacker, Measure

    replace(PLACES, parse_release=steps.parse_original)  # type: ignore[arg-type]
    replace(PLACES, attack_view=steps.PlacesOriginal)  # type: ignore[arg-type]
    replace(PLACES, shuffle_rows=steps.blur)  # type: ignore[arg-type]
    replace(SURE_QUESTION, write=steps.files_of)  # type: ignore[arg-type]
    replace(SURE_QUESTION, judge=steps.shift)  # type: ignore[arg-type]
    replace(PLACES, measures={"shift": Measure("shift", 1, steps.nearest_place)})  # type: ignore[arg-type]
    replace(PLACES, attackers={"shift": Attacker("shift", 1, steps.shift)})  # type: ignore[arg-type]
