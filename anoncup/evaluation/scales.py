"""What a measure's value is held against: its mean over releases that kept nothing but the marginals (§4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anoncup.errors import InvalidCompetition
from anoncup.evaluation.ranking import rounding_of
from anoncup.geometry.stable_sums import finite_mean
from anoncup.plugins import INSTALLED
from anoncup.rules.settings import MeasureSettings
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Measure

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

DRAWS = 5


def scales(track: Track, original: Any, settings: Mapping[str, MeasureSettings]) -> dict[str, float]:
    """The scale of every measure that may weigh in U, under the competition's parameters; full precision."""
    wanted = [
        each for name, each in track.measures.items() if each.weighs and _is_wanted(track, name, settings)
    ]
    drawn = DRAWS if any(each.scale is None for each in wanted) else 0
    releases = [track.null_release(original, draw) for draw in range(drawn)] if track.null_release else []
    return {each.name: _scale(each, original, releases, settings) for each in wanted}


def _scale(
    measure: Measure, original: Any, releases: list[Any], settings: Mapping[str, MeasureSettings]
) -> float:
    """0 of one that says none where there are no null releases either; see ``check_scales``."""
    if measure.scale is None:
        return _null_mean(measure, releases, settings) if releases else 0.0
    return measure.scale(original) if callable(measure.scale) else float(measure.scale)


def _is_wanted(track: Track, name: str, settings: Mapping[str, MeasureSettings]) -> bool:
    """A package's measure has one where it weighs only: a file that does not need the package must be read
    without it."""
    weighs = settings.get(name, MeasureSettings()).weight > 0
    return weighs or INSTALLED.bringer(f"{track.name}.measures.{name}") is None


def _null_mean(measure: Measure, releases: list[Any], settings: Mapping[str, MeasureSettings]) -> float:
    parameters = settings.get(measure.name, MeasureSettings()).parameters
    return finite_mean(measure.compute(release, **parameters) for release in releases)


def check_scales(track: Track, original: Any, rules: "Rules", found: Mapping[str, float]) -> None:
    """InvalidCompetition if a measure weighs that has nothing to be held against: of such a one every loss,
    however small, is the whole."""
    for name in rules.weights:
        if not found[name] >= rounding_of(track.measures[name], track.largest_cell(original)):
            raise InvalidCompetition(
                "{key}: {name} has no scale, because even a release without information leaves it "
                "at 0; give it the weight 0, or a scale of its own",
                code="scale_zero",
                key=f"measures.{name}",
                name=name,
            )
