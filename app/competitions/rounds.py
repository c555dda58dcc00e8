"""The rounds of a competition as its pages list them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from app.competitions import phases
from app.competitions.contest import Contest
from app.competitions.phases import ContestState

_BOARDS = ("anonymization", "reidentification", "matrix", "history", "total")
_ORGANIZER_PAGES = (
    "phases",
    "submissions",
    "rescores",
    "teams",
    "baselines",
    "announcements",
    "clarifications",
    "audit",
    "health",
    "exports",
    "data",
    "threshold",
    "publication",
    "file",
)
_PAGES = frozenset(
    (
        "rules",
        "submissions",
        "targets",
        "team",
        "clarifications",
        "organize",
        *(f"boards/{name}" for name in _BOARDS),
        *(f"organize/{name}" for name in _ORGANIZER_PAGES),
    )
)
"""The pages that every round has, as paths after the address of the round."""


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A round of a competition with several rounds. ``is_shown``: it is the round of the present page."""

    contest: Contest
    state: ContestState
    is_shown: bool

    @property
    def settings(self) -> RoundSettings:
        return self.contest.settings

    @property
    def rules(self) -> Rules:
        return self.contest.rules

    @property
    def title(self) -> Mapping[str, str]:
        """The round's own title, without that of the competition."""
        return self.settings.title or {"en": self.settings.name}

    def find_page(self, path: str) -> str:
        """Return the path of this round's page that is like the page at ``path``, which may be of any round.

        A page that only one round has, such as that of a submission, leads to the page that lists such pages,
        or else to the overview.
        """
        own_path = f"/competitions/{quote(self.contest.address)}"
        parts = path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "competitions" else parts
        names = ("/".join(parts[:length]) for length in (2, 1))
        name = next((name for name in names if name in _PAGES and self._has_page(name)), "")
        return f"{own_path}/{name}".rstrip("/")

    def _has_page(self, name: str) -> bool:
        if name == "targets":
            return self.contest.round.published_at is not None
        return name != "organize/threshold" or self.rules.excessive is not None


def list_rounds(contest: Contest, now: datetime) -> tuple[RoundEntry, ...]:
    """Return the rounds of the competition in the order of its file; none if it has only one."""
    rounds = contest.competition.rounds if contest.round.name else []
    if len(rounds) < 2:
        return ()
    return tuple(
        RoundEntry(Contest(round_), phases.get_status_at(round_, now).state, round_ is contest.round)
        for round_ in rounds
    )
