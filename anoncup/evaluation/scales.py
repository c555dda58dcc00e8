"""Scale of each measure: its mean over null releases, which keep the distribution of each column only.

See ``docs/scoring.md``.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from anoncup.errors import InvalidCompetition
from anoncup.evaluation.ranking import rounding_threshold
from anoncup.evaluation.results import ResultChecker, compute_measure
from anoncup.geometry.statistics import mean
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
    return {
        measure.name: _compute_scale(
            measure, original, releases, settings.get(measure.name, MeasureSettings()), track=track.name
        )
        for measure in measures
    }


def _compute_scale(
    measure: AnyMeasure,
    original: HasRows,
    releases: list[AnyScoredRelease],
    settings: MeasureSettings,
    *,
    track: str,
) -> float:
    """Return a measure's scale, 0 if there is none; ``check_scales`` then rejects a weight."""
    scale = measure.scale(original) if callable(measure.scale) else measure.scale
    if scale is None:
        scale = mean(compute_measure(measure, release, settings, track=track) for release in releases)
    return float(ResultChecker(track, f"measures.{measure.name}").require_number(scale))


def _needs_scale(track: AnyTrack, name: str, settings: Mapping[str, MeasureSettings]) -> bool:
    """Return whether a measure needs a scale. A measure from a package needs one only if it has a weight.

    A file that does not use a package must be readable without it.
    """
    has_weight = settings.get(name, MeasureSettings()).weight > 0
    return has_weight or INSTALLED.find_provider(f"{track.name}.measures.{name}") is None


def complete_scales(rules: "Rules", track: AnyTrack, original: HasRows) -> Mapping[str, float]:
    """Return the scales of the competition file; if any is missing, computed scales fill the gaps."""
    if rules.weights.keys() <= rules.scales.keys():
        return rules.scales
    return scales(track, original, rules.measures) | dict(rules.scales)


def require_scales(rules: "Rules", track: AnyTrack, original: HasRows) -> "Rules":
    """Return the rules with all scales; raise InvalidCompetition where the service refuses the set-up."""
    completed_scales = complete_scales(rules, track, original)
    check_scales(track, original, rules, completed_scales)
    return replace(rules, scales=completed_scales)


def compute_usable_scales(rules: "Rules", track: AnyTrack, original: HasRows) -> dict[str, float]:
    """Return the computed scales, or the scale of the competition file where the computed one is 0.

    Raises InvalidCompetition where the service refuses the set-up.
    """
    usable_scales = {
        name: rules.scales.get(name, scale) if _is_zero(scale, name, track, original, rules) else scale
        for name, scale in scales(track, original, rules.measures).items()
    }
    check_scales(track, original, rules, usable_scales)
    return usable_scales


def check_scales(
    track: AnyTrack, original: HasRows, rules: "Rules", scales_by_measure: Mapping[str, float]
) -> None:
    """Raise InvalidCompetition if a measure with a weight has no scale.

    Without a scale, even the smallest loss would count as the maximum.
    """
    for name in rules.weights:
        if _is_zero(scales_by_measure[name], name, track, original, rules):
            raise InvalidCompetition(
                "{key}: {name} has no scale, because even a release without information leaves it at 0 "
                "or too close to 0; give it the weight 0, or a scale of its own",
                code="scale_zero",
                key=f"measures.{name}",
                name=name,
            )


def _is_zero(scale: float, name: str, track: AnyTrack, original: HasRows, rules: "Rules") -> bool:
    """Return whether a scale counts as 0; one below 0 does, too."""
    parameters = rules.measure_settings(name).parameters
    return scale <= rounding_threshold(track.measures[name], original, parameters)
