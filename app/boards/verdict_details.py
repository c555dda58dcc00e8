"""The measures and attackers of releases, read only where the rules use more than U and E."""

from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.formulas.ranks import TIE_TOLERANCE
from app.boards import verdicts
from app.boards.facts import RoundFacts


def add_details(session: Session, facts: RoundFacts, since: datetime) -> RoundFacts:
    """Return the facts with all numbers that rules may use for standings from a moment on.

    A formula that compares teams ranks the release of each team that has the lowest ``overall``.
    """
    ranking = facts.rules.ranking
    if ranking.is_by_overall and not ranking.list_functions():
        return facts
    evaluation_ids = {release.evaluation_id for release in facts.releases if release.numbers}
    if compares_teams(facts.rules) and not ranking.list_functions():
        evaluation_ids &= _list_possible_best(facts, since)
    numbers = verdicts.load_numbers(session, evaluation_ids)
    releases = [
        release._replace(numbers=numbers.get(release.evaluation_id, release.numbers))
        for release in facts.releases
    ]
    return replace(facts, releases=releases)


def _list_possible_best(facts: RoundFacts, since: datetime) -> set[UUID]:
    """Return the evaluations that may have the lowest ``overall`` of their team at a moment, or later.

    Guesses may change the order of targets. Another release keeps its ``overall``, so it can only be the best
    of its team if it beats all earlier ones when it is scored; the verdicts of the rest need not be read.
    """
    best_ids, lowest = {target.evaluation_id for target in facts.targets.values()}, dict[UUID, float]()
    losses = [
        (max(release.at, since), release.numbers.overall, release)
        for release in facts.releases
        if release.numbers
    ]
    for _, loss, release in sorted(losses, key=itemgetter(0, 1)):
        if loss - lowest.get(release.team_id, loss) <= TIE_TOLERANCE:
            best_ids.add(release.evaluation_id)
            lowest[release.team_id] = min(loss, lowest.get(release.team_id, loss))
    return best_ids
