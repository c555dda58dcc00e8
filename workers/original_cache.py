"""Cache of prepared originals by competition file and content, kept between jobs."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules

_CACHE_SIZE = 2

Digests = tuple[tuple[str, str], ...]
"""Name and SHA-256 of each file of an original."""
LoadedOriginal = tuple[Rules, Any, Any]
"""The rules, the original tables, and the tables prepared for scoring, which also cache derived values."""


def make_original_loader(fetch: Callable[[str], bytes]) -> Callable[[Digests, str], LoadedOriginal]:
    """Return a cached function that loads and prepares an original, fetching its files with ``fetch``."""

    @lru_cache(maxsize=_CACHE_SIZE)
    def load_original(digests: Digests, competition_file: str) -> LoadedOriginal:
        rules = parse_competition(competition_file)
        track = TRACKS[rules.track]
        tables, _ = track.parse_original({name: fetch(digest) for name, digest in digests}, rules)
        return rules, tables, track.prepare(tables, rules)

    return load_original
