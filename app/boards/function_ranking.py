"""The boards that ranking functions of packages read (``anoncup.tracks.ranking_board``)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from uuid import UUID

from anoncup.competition.ranking_formulas import list_counting_attackers
from anoncup.plugins import TRACKS
from anoncup.tracks.ranking_board import BoardAttack, BoardSubmission, Ranked, RankingBoard
from app.boards.entries import Entry, get_receipt
from app.boards.facts import BoardTarget, EarlierScore, JudgedGuess, RoundFacts

BoardRanker = Callable[[RankingBoard], Sequence[Ranked]]
"""Runs a ranking function of a package in the sandbox."""


def build_ranking_board(
    facts: RoundFacts,
    entries: Iterable[Entry],
    guesses: Iterable[JudgedGuess],
    adjustments: Mapping[UUID, Sequence[float]],
    earlier_scores: Iterable[EarlierScore],
    *,
    is_published: bool,
) -> RankingBoard:
    """Return a board of the accepted releases among the entries and of the attacks on them.

    ``is_published``: whether the targets were published at its moment.
    """
    entries, guesses = list(entries), list(guesses)
    team_ids = {entry.release.team_id for entry in entries} | {guess.team_id for guess in guesses}
    accepted = sorted((entry for entry in entries if entry.numbers is not None), key=get_receipt)
    return RankingBoard(
        teams=tuple(str(team.id) for team in facts.teams if team.id in team_ids),
        submissions=tuple(
            _build_submission(
                entry, place, facts.targets.get(entry.release.submission_id) if is_published else None
            )
            for place, entry in enumerate(accepted)
        ),
        attacks=(*_merge_guesses(facts, guesses), *_iter_built_in_attacks(facts, accepted)),
        penalties={str(team_id): 0.0 - fsum(values) for team_id, values in adjustments.items()},
        earlier_rounds=_group_by_round(earlier_scores),
    )


def _group_by_round(scores: Iterable[EarlierScore]) -> dict[str, dict[str, float]]:
    by_round: dict[str, dict[str, float]] = {}
    for earlier in scores:
        if earlier.score is not None:
            by_round.setdefault(earlier.round, {})[str(earlier.team_id)] = earlier.score
    return by_round


def _build_submission(entry: Entry, place: int, target: BoardTarget | None) -> BoardSubmission:
    release, numbers = entry.release, entry.numbers
    return BoardSubmission(
        id=str(release.submission_id),
        team=str(release.team_id),
        received=place,
        utility=entry.utility or 0.0,
        security=entry.security or 0.0,
        overall=entry.overall or 0.0,
        measures=dict(numbers.measures) if numbers else {},
        rows=target.individual_count if target else None,
        is_target=target is not None,
    )


def _merge_guesses(facts: RoundFacts, guesses: Iterable[JudgedGuess]) -> Iterator[BoardAttack]:
    """Yield one cell for all guesses of a team on a target with one question."""
    cells: dict[tuple[UUID, str, UUID], list[JudgedGuess]] = {}
    for guess in guesses:
        cells.setdefault((guess.submission_id, guess.question, guess.team_id), []).append(guess)
    counts_individuals = TRACKS[facts.rules.track].asks_identity(facts.rules)
    for (submission_id, question, team_id), trials in cells.items():
        yield BoardAttack(
            submission=str(submission_id),
            question=question,
            attacker=str(team_id),
            risk=max(guess.risk for guess in trials),
            correct=max(guess.correct for guess in trials) if counts_individuals else None,
            trials=len(trials),
        )


def _iter_built_in_attacks(facts: RoundFacts, entries: Iterable[Entry]) -> Iterator[BoardAttack]:
    track, counting = TRACKS[facts.rules.track], list_counting_attackers(facts.rules)
    questions = track.select_questions(facts.rules)
    for entry in entries:
        numbers = entry.numbers
        if numbers is None:
            continue
        for name, risk in numbers.attackers.items():
            risks = numbers.risks.get(name) or dict.fromkeys(track.attackers[name].questions, risk)
            for question, question_risk in risks.items():
                if question in questions:
                    yield BoardAttack(
                        submission=str(entry.release.submission_id),
                        question=question,
                        attacker=name,
                        risk=question_risk,
                        correct=numbers.correct.get(name),
                        is_built_in=True,
                        counts=name in counting,
                    )
