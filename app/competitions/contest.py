"""A contest: a round of a competition with what follows from its rules."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from anoncup.tracks.model import AnyTrack
from app.core.db.models import Competition, Round


@dataclass(frozen=True, slots=True)
class Contest:
    """A competition in one of its rounds."""

    round: Round

    @property
    def competition(self) -> Competition:
        return self.round.competition

    @property
    def id(self) -> UUID:
        return self.competition.id

    @property
    def settings(self) -> RoundSettings:
        return self.round.settings

    @property
    def address(self) -> str:
        return self.round.address

    @property
    def rules(self) -> Rules:
        return self.round.rules

    @property
    def track(self) -> AnyTrack:
        return self.round.track

    @property
    def is_over(self) -> bool:
        """Whether the last phase has ended."""
        return self.over_at is not None

    @property
    def over_at(self) -> datetime | None:
        """The time at which it closed or, without a second phase, at which the finals were published."""
        has_one_phase = self.rules.phase("reidentification") is None
        return self.round.published_at if has_one_phase else self.round.closed_at
