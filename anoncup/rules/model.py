"""The competition file, parsed: one dataclass tree for what an organizer writes, and what it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anoncup.errors import NotFound
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Excessive,
    Limits,
    MeasureSettings,
    Parameters,
    Phase,
    Publication,
    Ranking,
)


@dataclass(frozen=True, slots=True)
class Rules:
    slug: str
    title: Mapping[str, str]
    track: str
    timezone: str
    columns: Columns | None = None
    settings: Any = None
    """What the track reads from the table of its own name."""
    measures: Mapping[str, MeasureSettings] = field(default_factory=dict)
    attackers: Mapping[str, AttackerSettings] = field(default_factory=dict)
    questions: Mapping[str, Parameters] = field(default_factory=dict)
    """What the file says of each question that it names."""
    scales: Mapping[str, float] = field(default_factory=dict)
    excessive: Excessive | None = field(default_factory=Excessive)
    """None: the track knows no distances, and nothing is excessive."""
    ranking: Ranking = field(default_factory=Ranking)
    publication: Publication = field(default_factory=Publication)
    limits: Limits = field(default_factory=Limits)
    phases: tuple[Phase, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    """Versions, as PEP 440 says them, of the packages that must be installed."""
    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Names and versions of all that counts, once that is fixed; see ``counted``."""

    def measure(self, name: str) -> MeasureSettings:
        """Its settings; of one that the file does not name, the defaults."""
        return self.measures.get(name, MeasureSettings())

    def attacker(self, name: str) -> AttackerSettings:
        return self.attackers.get(name, AttackerSettings())

    def weight(self, name: str) -> float:
        """Of a measure in U, 0 or more; 0: it is reported only."""
        return self.measure(name).weight

    @property
    def threshold(self) -> float | None:
        """Of the rule against excessive anonymization, if there is one."""
        return self.excessive.threshold if self.excessive else None

    @property
    def against_excess(self) -> Excessive:
        """That rule; NotFound if the track knows no distances."""
        if self.excessive is None:
            raise NotFound(
                "the {track} track has no rule against excessive anonymization",
                code="no_distances",
                track=self.track,
            )
        return self.excessive

    @property
    def weights(self) -> dict[str, float]:
        """Of the measures that U is made of, in the file's order; all above 0."""
        return {name: one.weight for name, one in self.measures.items() if one.weight > 0}

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)
