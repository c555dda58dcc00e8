"""The data that every page of a competition shows: its state, and the reader's role in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import scores_alone
from anoncup.evaluation.verdict_numbers import compute_lone_score
from anoncup.messages import JsonObject
from anoncup.rules.model import Rules
from anoncup.rules.rounds import RoundSettings
from app.accounts import memberships
from app.competitions import competitions, phases, reveal_notice
from app.competitions.phases import ContestState, PhaseBoundary, PhaseStatus
from app.core.db.models import Round, Team
from app.core.identity.principal import Principal


@dataclass(frozen=True, slots=True)
class Wait:
    """The cause for which a competition waits in the state ``settling``.

    ``releases``: uploads that began in time, and their scores. ``targets``: the files of the targets.
    ``notice``: the time of the reveal, ``reveal_at``. ``guesses``: as ``releases``, in the second phase.
    """

    reason: Literal["releases", "targets", "notice", "guesses"]
    reveal_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A round of a competition with several rounds. ``is_shown``: it is the round of the present page."""

    round: Round
    state: ContestState
    is_shown: bool

    @property
    def settings(self) -> RoundSettings:
        return self.round.settings

    @property
    def rules(self) -> Rules:
        return self.round.rules

    @property
    def title(self) -> Mapping[str, str]:
        """The round's own title, without that of the competition."""
        return self.settings.title or {"en": self.settings.name}

    @property
    def path(self) -> str:
        return f"/competitions/{self.round.address}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A competition as one reader sees it: what the heading, menu and side of its pages need.

    ``rules`` are the rules at the time of the request. ``team`` is the reader's own team. ``rounds`` is
    empty if there is only one. ``wait`` tells why it is not over after a deadline.
    """

    round: Round
    rules: Rules
    status: PhaseStatus
    team: Team | None
    is_organizer: bool
    rounds: tuple[RoundEntry, ...] = ()
    wait: Wait | None = None

    @property
    def path(self) -> str:
        return f"/competitions/{self.rules.address}"

    @property
    def is_disqualified(self) -> bool:
        return self.team is not None and self.team.disqualified_at is not None

    @property
    def next_start(self) -> datetime | None:
        """The start of the next phase, before the first phase and between the phases; else None."""
        boundary = self.next_boundary
        is_waiting = (
            self.status.state in ("upcoming", "between") and boundary is not None and boundary.kind == "start"
        )
        return boundary.time if boundary is not None and is_waiting else None

    @property
    def next_boundary(self) -> PhaseBoundary | None:
        """The phase boundary that the countdown shows, or None in a pause and after the last phase."""
        return phases.find_next_boundary(self.rules, self.status)

    @property
    def scores_alone(self) -> bool:
        """Whether each release has a score that needs no others."""
        return scores_alone(self.rules)

    def compute_score(self, verdict: JsonObject) -> float | None:
        """Return that score, without guesses of other teams and penalties; None if it is missing."""
        return compute_lone_score(self.rules, verdict)


def load_frame(session: Session, principal: Principal | None, slug: str) -> Frame:
    round_ = competitions.find(session, principal, slug)
    status = phases.get_status(session, round_)
    return Frame(
        round=round_,
        rules=round_.rules,
        status=status,
        rounds=_list_rounds(round_, status.now),
        wait=_find_wait(round_, status) if status.state == "settling" else None,
        team=memberships.find_team(session, round_.competition_id, principal) if principal else None,
        is_organizer=principal is not None
        and competitions.is_organizer(session, round_.competition_id, principal),
    )


def _list_rounds(round_: Round, now: datetime) -> tuple[RoundEntry, ...]:
    """Return the rounds of the competition in the order of its file; none if it has only one."""
    rounds = round_.competition.rounds
    if len(rounds) < 2:
        return ()
    return tuple(
        RoundEntry(sibling, phases.get_status_at(sibling, now).state, sibling is round_) for sibling in rounds
    )


def _find_wait(round_: Round, status: PhaseStatus) -> Wait:
    if round_.frozen_at is None:
        return Wait("releases")
    if round_.published_at is None:
        return Wait("targets")
    reveal_at = reveal_notice.find_reveal_time(round_)
    if reveal_at is not None and reveal_at > status.now:
        return Wait("notice", reveal_at)
    return Wait("guesses")
