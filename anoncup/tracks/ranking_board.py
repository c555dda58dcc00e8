"""Ranking functions of packages: the board that they read, and what they return for each team.

All types are plain data, so ``pydantic.TypeAdapter(RankingBoard)`` and ``TypeAdapter(list[Ranked])`` write
and read them as JSON. Teams and submissions have opaque identifiers: a score must not depend on them, nor on
the order of rows. A number that is missing is None, and is never a good one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from anoncup.errors import InvalidResult
from anoncup.messages import N_, Message

MAX_TEXT = 500
"""Maximum number of characters of the text of a score's parts."""

_RANKED = N_("a sequence of Ranked")
_TEAMS = N_("each team of the board once")
_SCORE = N_("a number or None as the score")
_TEXT = N_("a text of at most {most} characters without line breaks")
_SUBMISSION = N_("a submission of the ranked team")


@dataclass(frozen=True, slots=True)
class BoardSubmission:
    """An accepted release.

    - ``team``: its team. Baselines of the organizers have teams that are not in ``RankingBoard.teams``.
    - ``received``: 0 for the release that was received first on this board, then 1, 2, ….
    - ``utility``: U, a loss in [0, 1]; 0 is best.
    - ``security``: E in [0, 1], the largest risk of the built-in attackers that count and of the other teams'
      guesses that this board counts; 0 is best.
    - ``overall``: (U + E) / 2; 0 is best.
    - ``measures``: the value of each measure, in its own unit.
    - ``rows``: the number of released individuals; None if it is not known.
    - ``is_target``: it is published, and other teams may attack it.
    """

    id: str
    team: str
    received: int
    utility: float
    security: float
    overall: float
    measures: Mapping[str, float] = field(default_factory=dict)
    rows: int | None = None
    is_target: bool = True


@dataclass(frozen=True, slots=True)
class BoardAttack:
    """A cell of the attack matrix: what an attacker found in a submission with one question.

    - ``attacker``: a team, or the name of a built-in attacker if ``is_built_in``.
    - ``counts``: it counts towards E. Guesses of teams always do.
    - ``risk``: the largest of all guesses, in [0, 1]. 0 is what blind guessing finds, 1 is everything.
    - ``correct``: the largest number of individuals that a guess re-identified, for a built-in attacker that
      guesses at random the expected number; None in tracks that do not count individuals.
    - ``trials``: the number of guesses; 1 for a built-in attacker.
    """

    submission: str
    question: str
    attacker: str
    risk: float
    correct: float | None = None
    trials: int = 1
    is_built_in: bool = False
    counts: bool = True


@dataclass(frozen=True, slots=True)
class RankingBoard:
    """A board before it is ranked.

    - ``teams``: the teams that have a release or a guess on this board.
    - ``attacks``: cells that nobody tried are left out, and so are guesses that this board does not count.
    - ``penalties``: the penalties that organizers gave a team less its bonuses; 0 for teams without an entry.
    - ``earlier_rounds``: by name of the round, the score of each team that had one on the same board there.
    """

    teams: tuple[str, ...]
    submissions: tuple[BoardSubmission, ...] = ()
    attacks: tuple[BoardAttack, ...] = ()
    penalties: Mapping[str, float] = field(default_factory=dict)
    earlier_rounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The score of a team.

    - ``score``: None for a team without a rank. NaN and infinite numbers become None.
    - ``text``: the parts of the score, such as ``"12 + 7.5 - 2"``, in one line that suits any language.
    - ``submission``: the release that the score is of. None stands for the one with the lowest ``overall``,
      and is right in a ranking of attacks.
    """

    team: str
    score: float | None
    text: str = ""
    submission: str | None = None


@dataclass(frozen=True, slots=True)
class RankingFunction:
    """A function that ranks the releases or the attacks of a competition.

    ``rank(board)`` returns the score of each team. The competition file names it as ``PACKAGE:NAME`` in
    ``function`` for releases, whose ``order`` says which scores are the best, or in ``attack_function`` for
    attacks, where the highest are.
    """

    name: str
    version: int
    rank: Callable[[RankingBoard], Sequence[Ranked]]


def check_ranked(board: RankingBoard, ranked: object, *, package: str) -> tuple[Ranked, ...]:
    """Return what a ranking function returned for a board, in the order of its teams.

    Scores become floats, and those that are not finite become None. Raises InvalidResult, which names the
    package, unless each team of the board is there once, with a score, a short text and none or one of its
    own submissions.
    """
    if not isinstance(ranked, Sequence) or not all(isinstance(entry, Ranked) for entry in ranked):
        raise _build_error(package, type(ranked).__name__, _RANKED)
    if sorted((entry.team for entry in ranked), key=str) != sorted(board.teams):
        raise _build_error(package, str(len(ranked)), _TEAMS)
    owners = {submission.id: submission.team for submission in board.submissions}
    for entry in ranked:
        if entry.submission is not None and owners.get(entry.submission) != entry.team:
            raise _build_error(package, type(entry.submission).__name__, _SUBMISSION)
    by_team = {entry.team: _check_values(entry, package) for entry in ranked}
    return tuple(by_team[team] for team in board.teams)


def _check_values(entry: Ranked, package: str) -> Ranked:
    score: object = entry.score
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise _build_error(package, type(score).__name__, _SCORE)
    if not isinstance(entry.text, str) or len(entry.text) > MAX_TEXT or not entry.text.isprintable():
        raise _build_error(package, type(entry.text).__name__, _TEXT)
    return replace(entry, score=_convert_score(entry.score))


def _convert_score(score: float | None) -> float | None:
    try:
        number = math.nan if score is None else float(score)
    except OverflowError:  # a whole number that exceeds the largest float
        return None
    return number if math.isfinite(number) else None


def _build_error(package: str, returned: str, expected: str) -> InvalidResult:
    """Return the error for a result. ``returned`` is a number or the name of a type, never a text."""
    return InvalidResult(
        "the ranking function of the package {package} returned {returned} instead of {expected}",
        package=package,
        returned=returned,
        expected=Message(expected, **({"most": MAX_TEXT} if expected == _TEXT else {})),
    )
