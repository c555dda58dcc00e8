"""Prepared originals, kept between submissions: a few, by competition file and content."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from app import storage
from app.scoring.competition import Competition
from app.scoring.competition_file import parse_competition
from app.scoring.tracks import TRACKS


@lru_cache(maxsize=2)
def prepared_original(
    data: Path, digests: tuple[tuple[str, str], ...], competition_file: str
) -> tuple[Competition, Any, Any]:
    """A competition, its original tables and what is prepared of them; what attackers derive stays there.

    ``digests``: name and SHA-256 of each file of the original.
    """
    competition = parse_competition(competition_file)
    track = TRACKS[competition.track]
    contents = {name: storage.get(data, digest) for name, digest in digests}
    tables, _ = track.parse_original(contents, competition)
    return competition, tables, track.prepare(tables, competition)
