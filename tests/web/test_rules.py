"""The rules of a competition as a page: everything in them comes from the registry, and has words."""

from collections.abc import Mapping
from typing import Any

import pytest

from app.scoring.registry import Track
from app.scoring.tracks import TRACKS
from app.web.words import LANGUAGES, measures


def named(part: str) -> set[str]:
    """The names of all tracks' measures, attackers or distances."""

    def of(track: Track) -> Mapping[str, Any]:
        registry: Mapping[str, Any] = getattr(track, part)
        return registry

    return {name for track in TRACKS.values() for name in of(track)}


@pytest.mark.parametrize(
    ("part", "prefix", "words"),
    [
        ("measures", "measure_", measures.MEASURES),
        ("attackers", "attacker_", measures.ATTACKERS),
        ("distances", "distance_", measures.DISTANCES),
    ],
)
def test_every_registered_name_has_a_title_and_a_sentence_and_no_other_name_has(
    part: str, prefix: str, words: dict[str, dict[str, str]]
) -> None:
    titles = {prefix + name for name in named(part)}
    assert set(words) == titles | {f"{title}_said" for title in titles}
    assert all(set(texts) == set(LANGUAGES) for texts in words.values())


def test_a_name_is_a_measures_or_an_attackers_so_that_it_can_be_an_anchor() -> None:
    assert named("measures") & named("attackers") == set()
