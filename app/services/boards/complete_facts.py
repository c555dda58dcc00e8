"""Facts with the verdicts' numbers that the rules of a round use."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.formulas.ranks import TIE_TOLERANCE
from app.db.models import Rescore
from app.services.boards import verdicts
from app.services.boards.facts import FinishedRelease, RoundFacts
from app.services.boards.load_facts import load_facts
from app.services.contests.contest import Contest


def load_complete_facts(
    session: Session,
    contest: Contest,
    since: datetime,
    team_ids: Collection[UUID] | None = None,
    *,
    proposed_by: Rescore | None = None,
) -> RoundFacts:
    """Load the facts of a round for standings from ``since`` on, see ``load_facts``."""
    facts = load_facts(session, contest, team_ids, proposed_by=proposed_by)
    return replace(facts, releases=_complete_numbers(session, facts, since))


def _complete_numbers(session: Session, facts: RoundFacts, since: datetime) -> list[FinishedRelease]:
    """Return the releases with all numbers of their verdicts, as far as the formula may use them.

    A formula that compares teams ranks the release of each team that has the lowest ``overall``.
    """
    ranking = facts.rules.ranking
    if ranking.is_by_overall and not ranking.list_functions():
        return list(facts.releases)
    releases = facts.releases
    if compares_teams(facts.rules) and not ranking.list_functions():
        best_ids = _list_possible_best(facts, since)
        releases = [release for release in releases if release.submission_id in best_ids]
    numbers = verdicts.load_numbers(
        session, [release.evaluation_id for release in releases if release.numbers]
    )
    return [
        release._replace(numbers=release.numbers and numbers.get(release.evaluation_id, release.numbers))
        for release in facts.releases
    ]


def _list_possible_best(facts: RoundFacts, since: datetime) -> set[UUID]:
    """Return the releases that may have the lowest ``overall`` of their team at a moment, or later.

    Guesses may change the order of targets. Another release keeps its ``overall``, so it can only be the best
    of its team if it beats all earlier ones when it is scored; the verdicts of the rest need not be read.
    """
    best_ids, lowest = set(facts.targets), dict[UUID, float]()
    losses = [
        (max(release.at, since), release.numbers.overall, release)
        for release in facts.releases
        if release.numbers
    ]
    for _, loss, release in sorted(losses, key=itemgetter(0, 1)):
        if loss - lowest.get(release.team_id, loss) <= TIE_TOLERANCE:
            best_ids.add(release.submission_id)
            lowest[release.team_id] = min(loss, lowest.get(release.team_id, loss))
    return best_ids
