"""Contract tests for ranking functions, on boards with invented teams, releases, guesses and penalties."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from anoncup.errors import InvalidResult
from anoncup.testing.parts import ROUNDING_TOLERANCE, BrokenLaw, require
from anoncup.tracks.ranking_board import (
    BoardAttack,
    BoardSubmission,
    Ranked,
    RankingBoard,
    RankingFunction,
    check_ranked,
)

_TEAM_COUNTS = (0, 1, 2, 3, 7, 12)
_LEVELS = 8
"""Invented losses and risks are multiples of 1 / 8, so that many of them are equal."""
_BASELINE = "baseline"
_Scores = Mapping[str, float | None]


def check_ranking(
    function: RankingFunction,
    boards: Iterable[RankingBoard] | None = None,
    *,
    measures: Sequence[str] = (),
    questions: Sequence[str] = ("link",),
) -> None:
    """Check the laws of a ranking function; raise BrokenLaw if one does not hold.

    - Each team is ranked once. A score is a finite number or None, the text is one short line, and a release
      is one of the team's own.
    - The board stays as it is, and the same board has the same ranking.
    - Scores depend neither on the order of the rows nor on the identifiers of teams and releases.

    Without ``boards``, invented ones with these ``measures`` and ``questions`` are used.
    """
    for board in iter_boards(measures, questions) if boards is None else boards:
        _check_board(function, board)


def _check_board(function: RankingFunction, board: RankingBoard) -> None:
    snapshot = deepcopy(board)
    ranking = _rank(function, board)
    require(board == snapshot, function.name, "the board stays as it is")
    require(_rank(function, board) == ranking, function.name, "the same board has the same ranking")
    scores = _collect_scores(ranking)
    reversed_scores = _collect_scores(_rank(function, _transform(board, {})))
    _require_same_scores(function.name, scores, reversed_scores, "the order of rows does not matter")
    identifiers = [*board.teams, *(submission.id for submission in board.submissions)]
    names = {name: f"x{len(identifiers) - index}" for index, name in enumerate(identifiers)}
    renamed_scores = _collect_scores(_rank(function, _transform(board, names)))
    scores_by_old_name = {team: renamed_scores[names[team]] for team in scores}
    _require_same_scores(function.name, scores, scores_by_old_name, "identifiers do not matter")


def _rank(function: RankingFunction, board: RankingBoard) -> tuple[Ranked, ...]:
    ranking = function.rank(board)
    try:
        checked_ranking = check_ranked(board, ranking, package=function.name)
    except InvalidResult as error:
        raise BrokenLaw(f"{function.name}: {error}") from None
    for entry in ranking:
        is_valid = entry.score is None or math.isfinite(entry.score)
        require(is_valid, function.name, f"a score is a finite number or None, not {entry.score}")
    return checked_ranking


def _collect_scores(ranking: Iterable[Ranked]) -> _Scores:
    return {entry.team: entry.score for entry in ranking}


def _require_same_scores(name: str, scores: _Scores, new_scores: _Scores, law: str) -> None:
    for team, score in scores.items():
        new_score = new_scores[team]
        if score is None or new_score is None:
            is_same = score is new_score
        else:
            is_same = math.isclose(score, new_score, rel_tol=ROUNDING_TOLERANCE, abs_tol=ROUNDING_TOLERANCE)
        require(is_same, name, f"{law}: the score {score} becomes {new_score}")


def _transform(value: Any, names: Mapping[str, str]) -> Any:
    """Return a board, or a part of it, with other identifiers and all rows and entries in opposite order."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(_transform(item, names) for item in reversed(value))
    if isinstance(value, Mapping):
        return {names.get(key, key): _transform(item, names) for key, item in reversed(list(value.items()))}
    if is_dataclass(value):
        changes = {part.name: _transform(getattr(value, part.name), names) for part in fields(value)}
        return replace(value, **changes)  # type: ignore[type-var]
    return value


def iter_boards(measures: Sequence[str] = (), questions: Sequence[str] = ("link",)) -> Iterator[RankingBoard]:
    """Yield invented boards of several sizes, each without and with guesses; the same in each call."""
    for count in _TEAM_COUNTS:
        for has_guesses in (False, True):
            rng = Random(count)  # noqa: S311  # no secret
            yield _invent_board(rng, count, measures, questions, has_guesses=has_guesses)


def _invent_board(
    rng: Random, count: int, measures: Sequence[str], questions: Sequence[str], *, has_guesses: bool
) -> RankingBoard:
    """Return a board with teams without a release, with two, without guesses, and a baseline."""
    teams = tuple(f"team {index}" for index in range(count))
    owners = [_BASELINE, *(team for team in teams for _ in range(rng.randrange(3)))]
    rng.shuffle(owners)
    submissions = tuple(_invent_submission(rng, owner, index, measures) for index, owner in enumerate(owners))
    attacks = tuple(
        BoardAttack(submission.id, question, attacker, _invent_share(rng), rng.randrange(50), trials=2)
        for submission in submissions
        for attacker in teams
        for question in questions
        if has_guesses and submission.is_target and attacker != submission.team and rng.random() < 0.7
    )
    built_in_attacks = tuple(
        BoardAttack(submission.id, question, "built_in", _invent_share(rng), 2.5, is_built_in=True)
        for submission in submissions
        for question in questions
    )
    return RankingBoard(
        teams=teams,
        submissions=submissions,
        attacks=built_in_attacks + attacks,
        penalties={team: rng.uniform(-5, 5) for team in teams if rng.random() < 0.3},
        earlier_rounds={"preliminary": {team: rng.random() for team in teams if rng.random() < 0.7}},
    )


def _invent_submission(rng: Random, team: str, index: int, measures: Sequence[str]) -> BoardSubmission:
    utility, security = _invent_share(rng), _invent_share(rng)
    return BoardSubmission(
        id=f"submission {index}",
        team=team,
        received=index,
        utility=utility,
        security=security,
        overall=(utility + security) / 2,
        measures={name: _invent_share(rng) for name in measures},
        rows=50,
        is_target=rng.random() < 0.8,
    )


def _invent_share(rng: Random) -> float:
    return rng.randrange(_LEVELS + 1) / _LEVELS
