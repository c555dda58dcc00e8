"""Scale of each measure: its mean over null releases, which keep the distribution of each column only.

See ``docs/scoring.md``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anoncup.errors import InvalidCompetition
from anoncup.evaluation.ranking import rounding_threshold
from anoncup.geometry.stable_sums import finite_mean
from anoncup.plugins import INSTALLED
from anoncup.rules.settings import MeasureSettings
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMeasure, AnyScoredRelease, HasRows

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

_NULL_RELEASE_COUNT = 5


def scales(track: AnyTrack, original: HasRows, settings: Mapping[str, MeasureSettings]) -> dict[str, float]:
    """Return the scale of every measure that may have a weight, for the competition's parameters."""
    measures = [
        measure
        for name, measure in track.measures.items()
        if measure.weighs and _needs_scale(track, name, settings)
    ]
    release_count = _NULL_RELEASE_COUNT if any(measure.scale is None for measure in measures) else 0
    null_release = track.scaling.null_release
    releases = [null_release(original, seed) for seed in range(release_count)] if null_release else []
    return {measure.name: _compute_scale(measure, original, releases, settings) for measure in measures}


def _compute_scale(
    measure: AnyMeasure,
    original: HasRows,
    releases: list[AnyScoredRelease],
    settings: Mapping[str, MeasureSettings],
) -> float:
    """Return a measure's scale, 0 if there is none; ``check_scales`` then rejects a weight."""
    if measure.scale is None:
        return _average_null_releases(measure, releases, settings) if releases else 0.0
    return measure.scale(original) if callable(measure.scale) else float(measure.scale)


def _needs_scale(track: AnyTrack, name: str, settings: Mapping[str, MeasureSettings]) -> bool:
    """Return whether a measure needs a scale. A measure from a package needs one only if it has a weight.

    A file that does not use a package must be readable without it.
    """
    has_weight = settings.get(name, MeasureSettings()).weight > 0
    return has_weight or INSTALLED.find_provider(f"{track.name}.measures.{name}") is None


def _average_null_releases(
    measure: AnyMeasure, releases: list[AnyScoredRelease], settings: Mapping[str, MeasureSettings]
) -> float:
    parameters = settings.get(measure.name, MeasureSettings()).parameters
    return finite_mean(measure.compute(release, **parameters) for release in releases)


def check_scales(
    track: AnyTrack, original: HasRows, rules: "Rules", scales_by_measure: Mapping[str, float]
) -> None:
    """Raise InvalidCompetition if a measure with a weight has no scale.

    Without a scale, even the smallest loss would count as the maximum.
    """
    for name in rules.weights:
        if not scales_by_measure[name] >= rounding_threshold(
            track.measures[name], track.scaling.largest_cell(original)
        ):
            raise InvalidCompetition(
                "{key}: {name} has no scale, because even a release without information leaves it "
                "at 0; give it the weight 0, or a scale of its own",
                code="scale_zero",
                key=f"measures.{name}",
                name=name,
            )
