"""What a measure's value is held against: its mean over releases that kept nothing but the marginals (§4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.errors import InvalidCompetition
from app.scoring.magnitude import finite_mean
from app.scoring.ranking import rounding_of
from app.scoring.registry import Measure, Track
from app.scoring.settings import MeasureSettings
from app.scoring.tracks import INSTALLED

if TYPE_CHECKING:
    from app.scoring.rules import Rules

DRAWS = 5


def scales(track: Track, original: Any, settings: Mapping[str, MeasureSettings]) -> dict[str, float]:
    """The scale of every measure that may weigh in U, under the competition's parameters; full precision."""
    releases = [track.null_release(original, draw) for draw in range(DRAWS)]
    return {
        name: track.own_scales[name](original)
        if name in track.own_scales
        else _null_mean(measure, releases, settings)
        for name, measure in track.measures.items()
        if measure.weighs and _is_wanted(track, name, settings)
    }


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
                "{key}: {name} has no scale, for even a release without information leaves it at 0; "
                "give it the weight 0, or a scale of its own",
                code="scale_zero",
                key=f"measures.{name}",
                name=name,
            )
