"""Rules and originals of jobs, kept for the next jobs of the same process."""

from functools import lru_cache
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.errors import CompetitionUnavailable, InvalidCompetition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.jobs import AnyJob

_CACHE_SIZE = 2


@lru_cache(maxsize=8)
def load_rules(competition_file: str) -> Rules:
    """Parse a stored competition file.

    Raises CompetitionUnavailable if it cannot be read any more, as when a package has been removed meanwhile.
    """
    try:
        return parse_competition(competition_file)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


def load_original(job: AnyJob) -> Any:
    """Return the original of a job, which also caches derived values."""
    return _parse_original(job.competition_file, tuple(sorted(job.original.items())))


@lru_cache(maxsize=_CACHE_SIZE)
def _parse_original(competition_file: str, files: tuple[tuple[str, bytes], ...]) -> Any:
    rules = load_rules(competition_file)
    return TRACKS[rules.track].parse_original(dict(files), rules)[0]
