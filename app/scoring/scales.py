"""What a measure's value is held against: its mean over releases that kept nothing but the marginals (§4)."""

from collections.abc import Mapping
from typing import Any

from app.scoring.magnitude import finite_mean
from app.scoring.registry import Measure, Track
from app.scoring.settings import MeasureSettings

DRAWS = 5


def scales(track: Track, original: Any, settings: Mapping[str, MeasureSettings]) -> dict[str, float]:
    """The scale of every measure that may weigh in U, under the competition's parameters; full precision."""
    releases = [track.null_release(original, draw) for draw in range(DRAWS)]
    return {
        name: track.own_scales[name](original)
        if name in track.own_scales
        else _null_mean(measure, releases, settings)
        for name, measure in track.measures.items()
        if measure.weighs
    }


def _null_mean(measure: Measure, releases: list[Any], settings: Mapping[str, MeasureSettings]) -> float:
    parameters = settings.get(measure.name, MeasureSettings()).parameters
    return finite_mean(measure.compute(release, **parameters) for release in releases)
