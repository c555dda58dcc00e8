"""Prepared originals, kept between submissions: a few, by competition file and content."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules

KEPT = 2

Digests = tuple[tuple[str, str], ...]
"""Name and SHA-256 of each file of an original."""
Prepared = tuple[Rules, Any, Any]
"""A competition, its original tables and what is prepared of them; what attackers derive stays there."""


def originals(fetch: Callable[[str], bytes]) -> Callable[[Digests, str], Prepared]:
    """From the digests of an original and a competition file to what is prepared of them."""

    @lru_cache(maxsize=KEPT)
    def prepared(digests: Digests, competition_file: str) -> Prepared:
        rules = parse_competition(competition_file)
        track = TRACKS[rules.track]
        tables, _ = track.parse_original({name: fetch(digest) for name, digest in digests}, rules)
        return rules, tables, track.prepare(tables, rules)

    return prepared
