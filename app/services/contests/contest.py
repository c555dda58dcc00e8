"""A contest: a round of a competition together with its parsed rules and its track."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from anoncup.competition.parser import parse_competition
from anoncup.competition.required_packages import check_current_packages
from anoncup.errors import CompetitionUnavailable, InvalidCompetition, PackageChangeError
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings, list_settings
from anoncup.rules.timetable import Timetable, parse_timetable
from anoncup.tracks.model import AnyTrack
from app.db.models import Competition, Round


@lru_cache(maxsize=1024)
def parse_rules(text: str) -> Rules:
    """Parse an uploaded competition file; raises InvalidCompetition.

    The result is cached because a file is read far more often than it changes.
    """
    return parse_competition(text)


def parse_stored_rules(text: str) -> Rules:
    """Parse a stored competition file.

    Raises CompetitionUnavailable if this version cannot read a file that an earlier version accepted.
    """
    try:
        return parse_rules(text)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


def require_current_packages(rules: Rules) -> None:
    """Raise PackageChangeError if packages of the competition were upgraded or removed meanwhile."""
    try:
        check_current_packages(rules)
    except InvalidCompetition as problem:
        raise PackageChangeError(problem.message) from None


@lru_cache(maxsize=1024)
def _read_timetable(text: str) -> Timetable:
    """Parse the timetable of a file; cached because it is read far more often than it changes."""
    return parse_timetable(text)


def get_timetable(round_: Round) -> Timetable:
    """Return the timetable; raises CompetitionUnavailable if this version cannot read the file."""
    try:
        return _read_timetable(round_.file)
    except InvalidCompetition as problem:
        raise CompetitionUnavailable(problem.message) from None


@dataclass(frozen=True, slots=True)
class Contest:
    """A competition in one of its rounds, with the round's rules and its track.

    The file is parsed on access, so that a competition with an unreadable file can still be loaded.
    """

    round: Round

    @property
    def competition(self) -> Competition:
        return self.round.competition

    @property
    def id(self) -> UUID:
        return self.competition.id

    @property
    def settings(self) -> RoundSettings:
        """What the file says about the round besides its rules."""
        if not self.round.name:
            return RoundSettings()
        settings = list_settings(self.competition.file)
        return next(entry for entry in settings if entry.name == self.round.name)

    @property
    def address(self) -> str:
        return self.round.address

    @property
    def rules(self) -> Rules:
        """The rules in force, with the scales and scoring versions that are stored outside of the file.

        The scoring versions may not be installed. Raises CompetitionUnavailable if the file cannot be read.
        """
        return replace(
            parse_stored_rules(self.round.file),
            scales=self.round.scales,
            scored_by=self.round.scored_by,
        )

    @property
    def track(self) -> AnyTrack:
        return TRACKS[parse_stored_rules(self.round.file).track]

    @property
    def is_over(self) -> bool:
        """Whether the last phase has ended."""
        return self.over_at is not None

    @property
    def over_at(self) -> datetime | None:
        """The time at which it closed or, without a second phase, at which the finals were published."""
        has_one_phase = self.rules.phase("reidentification") is None
        return self.round.published_at if has_one_phase else self.round.closed_at
