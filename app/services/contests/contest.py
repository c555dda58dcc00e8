"""A contest: a competition's row, what its file says, and its track."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from anoncup.competition.parser import parse_competition
from anoncup.errors import CompetitionUnavailable, InvalidCompetition
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.model import Track
from app.db.models import Competition


@lru_cache(maxsize=1024)
def parsed(text: str) -> Rules:
    """What somebody sends; InvalidCompetition. Once per text: it is read far more often than it changes."""
    return parse_competition(text)


def read_file(text: str) -> Rules:
    """What is stored. CompetitionUnavailable: this version cannot read it, though an earlier one could."""
    try:
        return parsed(text)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


@dataclass(frozen=True, slots=True)
class Contest:
    """Its file is read when it is asked for: one that this version cannot read still has a row."""

    row: Competition

    @property
    def id(self) -> UUID:
        return self.row.id

    @property
    def slug(self) -> str:
        return self.row.slug

    @property
    def rules(self) -> Rules:
        """Those in force, with what is kept beside the file, though what counts may not be installed.

        CompetitionUnavailable if the file itself cannot be read.
        """
        return replace(read_file(self.row.file), scales=self.row.scales, scored_by=self.row.scored_by)

    @property
    def track(self) -> Track:
        return TRACKS[read_file(self.row.file).track]

    @property
    def is_over(self) -> bool:
        """Whether no phase is left."""
        return self.over_at is not None

    @property
    def over_at(self) -> datetime | None:
        """When it closed, or, without a second phase, when the finals were frozen and published."""
        one_phase = self.rules.phase("reidentification") is None
        return self.row.published_at if one_phase else self.row.closed_at
