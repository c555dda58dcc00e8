"""Ranks of teams with live targets: means over the time for which their targets stood."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from app.db.models import State
from app.services.boards.formula_rows import FormulaInputs
from app.services.boards.ranking import BoardEntry, RankedEntry, build_entry, rank_teams
from app.services.boards.source import FinishedEvaluation
from app.services.boards.verdicts import VerdictNumbers
from tests.support.competition_texts import MINIMAL

RULES = parse_competition(MINIMAL.replace("title", 'targets = "live"\ntitle', 1) + "[ranking]\nfinals = 1\n")
MOMENT = datetime(2027, 1, 10, tzinfo=UTC)
UNIT = st.floats(0, 1)
SECONDS = st.floats(0.000001, 1e6) | st.just(0.0)


def build_target(number: int, team: int, utility: float, security: float) -> BoardEntry:
    """Return the entry of a release; releases arrive in the order of their numbers."""
    evaluation = FinishedEvaluation(
        UUID(int=number),
        MOMENT + timedelta(seconds=number),
        UUID(int=team),
        f"team {team}",
        is_baseline=False,
        state=State.SCORED,
        evaluation_id=UUID(int=1000 + number),
        ended_at=MOMENT,
    )
    numbers = VerdictNumbers(
        overall=(utility + security) / 2,
        utility=utility,
        security=security,
        violations=(),
        measures={},
        rounding={},
        attackers={},
        risks={},
        correct={},
        versions={},
    )
    return build_entry(evaluation, numbers, None)


def rank(entries: list[BoardEntry], times: list[float]) -> list[RankedEntry]:
    standing_times = {
        entry.evaluation.submission_id: time for entry, time in zip(entries, times, strict=True)
    }
    return rank_teams(RULES, entries, FormulaInputs(), standing_times)


@given(UNIT, UNIT, st.lists(SECONDS, min_size=2, max_size=6))
def test_equal_releases_share_a_rank_however_long_they_stood(
    utility: float, security: float, times: list[float]
) -> None:
    entries = [build_target(number, number % 2, utility, security) for number in range(len(times))]
    assert [ranked.rank for ranked in rank(entries, times)] == [1, 1]


@given(st.lists(st.tuples(UNIT, UNIT, SECONDS), min_size=1, max_size=6))
def test_score_is_the_weighted_mean_of_the_targets(targets: list[tuple[float, float, float]]) -> None:
    entries = [build_target(number, 1, *losses) for number, (*losses, _) in enumerate(targets)]
    (ranked,) = rank(entries, [time for _, _, time in targets])
    exact_losses = [Fraction((utility + security) / 2) for utility, security, _ in targets]
    total = sum(Fraction(time) for _, _, time in targets)
    terms = (Fraction(time) * loss for (_, _, time), loss in zip(targets, exact_losses, strict=True))
    expected = sum(terms) / total if total else exact_losses[-1]
    assert ranked.score is not None
    assert abs(Fraction(ranked.score) - expected) <= Fraction(1, 10**15)
    assert ranked.entry.evaluation == entries[-1].evaluation


def test_missing_loss_of_a_target_that_stood_makes_the_mean_missing() -> None:
    counted, missing = build_target(1, 1, 0.1, 0.2), build_target(2, 1, 0.1, 0.2)
    missing = replace(missing, numbers=None, loss=None)
    assert rank([missing, counted], [1.0, 1.0])[0].rank is None
    assert rank([missing, counted], [0.0, 1.0])[0].rank == 1
