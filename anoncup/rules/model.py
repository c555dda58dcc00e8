"""The rules of a competition: the content of a competition file as a tree of dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.errors import NotFound
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Description,
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
    round: str = ""
    """Name of the round; empty in a competition without rounds."""
    description: Description = field(default_factory=Description)
    columns: Columns | None = None
    settings: object = None
    """Settings of the track, from the table with its name."""
    measures: Mapping[str, MeasureSettings] = field(default_factory=dict)
    attackers: Mapping[str, AttackerSettings] = field(default_factory=dict)
    questions: Mapping[str, Parameters] = field(default_factory=dict)
    """Parameters of the questions that the file names."""
    scales: Mapping[str, float] = field(default_factory=dict)
    excessive: Excessive | None = field(default_factory=Excessive)
    """None in tracks without distances, where nothing is excessive."""
    ranking: Ranking = field(default_factory=Ranking)
    publication: Publication = field(default_factory=Publication)
    limits: Limits = field(default_factory=Limits)
    phases: tuple[Phase, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    """Version specifiers (PEP 440) of required packages."""
    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Versions of all parts that count, by name; empty until they are fixed. See
    ``competition.scoring_versions``."""

    @property
    def address(self) -> str:
        """The address of the round: the competition's, and behind a dot the round's name if it has one."""
        return f"{self.slug}.{self.round}" if self.round else self.slug

    def measure_settings(self, name: str) -> MeasureSettings:
        """Return the settings of a measure, or the defaults if the file does not name it."""
        return self.measures.get(name, MeasureSettings())

    def attacker_settings(self, name: str) -> AttackerSettings:
        return self.attackers.get(name, AttackerSettings())

    def weight(self, name: str) -> float:
        """Return the weight of a measure in U; a measure with weight 0 is only reported."""
        return self.measure_settings(name).weight

    @property
    def threshold(self) -> float | None:
        """The threshold of the rule against excessive anonymization, or None."""
        return self.excessive.threshold if self.excessive else None

    @property
    def required_excessive(self) -> Excessive:
        """The rule against excessive anonymization. Raises NotFound if the track has none."""
        if self.excessive is None:
            raise NotFound(
                "the {track} track has no rule against excessive anonymization",
                code="no_distances",
                track=self.track,
            )
        return self.excessive

    @property
    def weights(self) -> dict[str, float]:
        """The positive weights of measures, in the order of the file."""
        return {name: settings.weight for name, settings in self.measures.items() if settings.weight > 0}

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)
