"""What acceptance tells of a secret: never too much, by all secrets of small tables that are accepted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.messages import Message
from app.scoring.arrays import IntArray
from app.scoring.evaluate import evaluate, judge
from app.scoring.excessive.accepted import PAIRS, Accepted, accepted, fewest_right
from app.scoring.magnitude import LARGEST
from app.scoring.rates import ABSTAIN, Candidates, Noted, OwnCluster
from app.scoring.reach import Cells, known, levels, limits
from app.scoring.release import Target
from app.scoring.rules import Rules
from app.scoring.settings import Excessive, MeasureSettings
from app.scoring.tracks.microdata import MICRODATA
from app.scoring.utility.microdata import cells_of_loss, information_loss
from tests.scoring import tables_to_break
from tests.scoring.tables_to_break import Case
from tests.scoring.test_evaluate import COMPETITION
from tests.scoring.test_reach import holds
from tests.trying import tries

RULES = replace(
    COMPETITION, measures={"information_loss": MeasureSettings(1.0), "cor_mae": MeasureSettings(1.0)}
)
GOWER = MICRODATA.distances["gower"]
EVERYBODY = tuple(permutations(range(3)))


@st.composite
def settings(draw: st.DrawFn) -> Excessive:
    limit = draw(st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 2.0, 1e16]))
    distance = draw(st.sampled_from(["gower", "gower", "euclidean"]))
    rules = Excessive(distance, threshold=limit)
    return draw(st.sampled_from([rules, replace(rules, rule="strict"), replace(rules, approach="I")]))


def rules_of(case: Case, excessive: Excessive) -> Rules:
    return replace(RULES, columns=case.release.original.columns, excessive=excessive)


def secrets(case: Case, seed: int) -> Iterator[IntArray]:
    n, kept = case.release.original.rows, case.release.target.rows
    if n <= 3:
        yield from (np.array(one) for one in permutations(range(n), kept))
    else:
        rng = np.random.default_rng(seed)
        yield case.release.source
        yield from (rng.permutation(n)[:kept] for _ in range(5))


def accepts(case: Case, rules: Rules, source: IntArray) -> bool:
    with np.errstate(over="ignore"):  # Euclidean distances may be too large to be added up
        violations, _ = judge(rules, case.release.original, case.release.target.anonymized, source)
    return not {one.code for one in violations} & {"excessive_anonymization", "deleted_rows"}


@tries(200)
@given(case=tables_to_break.cases(), excessive=settings(), data=st.data(), seed=st.integers(0, 99))
def test_no_secret_that_is_accepted_lies_beyond_what_is_told(
    case: Case, excessive: Excessive, data: st.DataObject, seed: int
) -> None:
    target, n = case.release.target, case.release.original.rows
    rule = accepted(excessive, MICRODATA.distances[excessive.distance], target)
    if rule is None:
        return
    cells = cells_of_loss(target)
    about, right = known(cells, rule), levels(target.rows)
    guess = np.array(
        data.draw(st.lists(st.integers(ABSTAIN, n - 1), min_size=target.rows, max_size=target.rows))
    )
    fewest, told = fewest_right(guess, rule), limits(guess, about, right)
    for source in secrets(case, seed):
        if not accepts(case, rules_of(case, excessive), source):
            continue
        assert np.isfinite(rule.distances[np.arange(target.rows), source]).all()
        correct = int((guess == source).sum())
        assert fewest <= correct < len(told)
        if about is not None:
            low, high = told[correct]
            assert low <= information_loss(replace(case.release, source=source, kept={})) <= high


@tries(30)
@given(case=tables_to_break.cases(), excessive=settings(), seed=st.integers(0, 99))
def test_an_accepted_release_is_never_beyond_its_reach(case: Case, excessive: Excessive, seed: int) -> None:
    """By real attackers; it is the same under any secret, too."""
    original, table = case.release.original, case.release.target.anonymized
    rules = rules_of(case, excessive)
    with np.errstate(over="ignore"):
        found = [(one, evaluate(rules, original, table, one)) for one in list(secrets(case, seed))[:3]]
    assert len({verdict.reach for _, verdict in found}) == 1
    for source, verdict in found:
        if verdict.reach and accepts(case, rules, source):
            assert holds(verdict.reach, verdict.security * len(table), verdict.utility)


def target_of(x: Sequence[float], y: Sequence[float]) -> Target:
    """Of rows with one text, the same for all, and one number."""
    text: tuple[str, ...] = ("",)
    numbers = [[each] for each in x], [[each] for each in y]
    tables = [text] * len(x), numbers[0], [text] * len(y), numbers[1]
    return tables_to_break.case_of(tables, list(range(len(y)))).release.target


def three(y: Sequence[float] = (0.0, 0.5, 1.0)) -> Target:
    """Three rows a half apart in their number, and as they were released."""
    return target_of((0.0, 0.5, 1.0), y)


def possible(found: Accepted | None) -> list[tuple[int, ...]]:
    """Secrets of three rows whose distances are as they may be."""
    assert found is not None
    sums = {one: sum(found.distances[row, owner] for row, owner in enumerate(one)) for one in EVERYBODY}
    return [one for one, total in sums.items() if total <= found.most and total < inf]


@pytest.mark.parametrize(
    ("excessive", "left"),
    [
        # Gower's distance is a quarter or a half here: the text is the same.
        (Excessive(threshold=0.4), 6),
        (Excessive(threshold=0.2), 3),
        (Excessive(threshold=0.1), 1),
        (Excessive(threshold=0.25, rule="strict"), 3),
        (Excessive(threshold=0.1, rule="strict"), 1),
        (Excessive(threshold=0.1, approach="I"), 1),
    ],
)
def test_the_secrets_that_are_left_are_those_that_are_accepted(excessive: Excessive, left: int) -> None:
    assert len(possible(accepted(excessive, GOWER, three()))) == left


def test_nothing_is_told_without_a_threshold_of_too_many_pairs_or_if_nothing_is_accepted() -> None:
    assert accepted(Excessive(), GOWER, three()) is None
    assert accepted(Excessive(threshold=0.1), replace(GOWER, block=None), three()) is None
    assert accepted(Excessive(threshold=0.1), GOWER, three((0.25, 0.75, 9.0))) is None
    assert accepted(Excessive(threshold=0.3, approach="I"), GOWER, three()) is None
    many = range(1 + int(PAIRS**0.5))
    assert accepted(Excessive(threshold=0.1), GOWER, target_of(many, many)) is None


@pytest.mark.parametrize(
    ("excessive", "fewest"),
    [
        (Excessive(threshold=0.4), 0),
        (Excessive(threshold=0.25), 0),
        (Excessive(threshold=0.2), 1),
        (Excessive(threshold=0.16), 2),
        (Excessive(threshold=0.05), 3),
        (Excessive(threshold=0.1, rule="strict"), 3),
        (Excessive(threshold=0.25, rule="strict"), 0),
        (Excessive(threshold=0.1, approach="I"), 3),
    ],
)
def test_so_many_rows_have_to_be_right(excessive: Excessive, fewest: int) -> None:
    """A wrong one costs a quarter at least, of three times the threshold."""
    rule = accepted(excessive, GOWER, three())
    assert rule is not None
    guess = np.arange(3)
    assert fewest_right(guess, rule) == fewest_right(Noted(guess, Message("noted")), rule) == fewest
    assert fewest_right(np.full(3, ABSTAIN), rule) == 0
    assert fewest_right(OwnCluster(np.ones(3, np.int64)), rule) == 0
    assert fewest_right(Candidates(np.zeros(3, np.int64), np.zeros(3, np.int64), np.array([3])), rule) == 0


def test_a_deleted_individual_counts_one() -> None:
    two = three((0.0, 0.5))
    rule = accepted(Excessive(threshold=0.5), GOWER, two)
    assert rule is not None
    assert rule.most == pytest.approx(0.5)
    assert accepted(Excessive(threshold=0.3), GOWER, two) is None


def test_what_may_be_lost_shrinks_with_the_threshold() -> None:
    """Of three rows, two may change places, at a distance of a quarter each: a third of what they lost."""
    target = three()
    cells, whole = Cells(target.original.values, target.values), levels(3)
    free = limits(np.full(3, ABSTAIN), known(cells), whole)
    assert free[0] == pytest.approx([0.0, 2 / 3], abs=1e-6)
    held = limits(
        np.full(3, ABSTAIN), known(cells, accepted(Excessive(threshold=1 / 6), GOWER, target)), whole
    )
    assert held[0] == pytest.approx([0.0, 1 / 3], abs=1e-6)
    none = limits(np.full(3, ABSTAIN), known(cells, accepted(Excessive(threshold=0.0), GOWER, target)), whole)
    assert none[0] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_distances_too_large_to_be_added_up_have_a_finite_mean() -> None:
    """JSON has no other: the submission would have ended as a fault of the service."""
    far = target_of((0.0, 1.0, 2.0), (1.7e308,) * 3)
    rules = replace(RULES, columns=far.original.columns, excessive=Excessive("euclidean", threshold=1.0))
    violations, excessive = judge(rules, far.original, far.anonymized, np.arange(3))
    assert [one.code for one in violations] == ["excessive_anonymization"]
    assert excessive is not None
    assert excessive.mean == pytest.approx(LARGEST)


def test_levels_begin_at_the_fewest() -> None:
    assert levels(9, 4).tolist() == [4, 5, 6, 7, 8, 9]
    assert levels(1000, 990).tolist() == list(range(990, 1001))
