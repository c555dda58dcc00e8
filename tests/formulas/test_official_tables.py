"""Published results of PWS Cups follow from formulas. Teams have their IDs; all numbers are as printed.

- 2018, preliminary round: "pwscup2018result", the companion page of the cup. It has utility, the guesses of
  all teams, the penalty and the rank. The final round is not in it.
- 2019, preliminary round, re-identification only: the report of "pwscup2019-evalsystem", the evaluation
  system. It has the defence and the number of hits, both in order of rank.
- 2024, preliminary round, and iPWS Cup 2024: the tables of the anonymization phase on "PWS Cup 2024" and
  "iPWS Cup 2024". They have utility, anonymity against the sample attack and the total, but no ranks.

Not covered is what was not found as text: 2018 final; 2019 trace inference, final and overall; 2024 attacks,
final and overall; all of 2025. Their numbers are in spreadsheets, except for 2018. "PWS Cup 2019",
"PWS Cup 2024" and "PWS Cup 2025" name the first teams only. Hence no total over two rounds is here.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from uuid import UUID

import numpy as np
import pytest

from anoncup.competition.ranking_formulas import build_strongest
from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.ranks import compute_ranks
from anoncup.formulas.syntax import parse_formula
from anoncup.geometry.arrays import FloatArray
from app.boards.attack_board import TeamAttacks

# Team, utility, utility with penalty, rank, whether another team broke it. 4 and 12 have no utility.
RESULTS_2018 = """
1   0.356  0.356  3  0
2   0.319  0.319  2  0
3  11.07   9999   5  1
4   nan    9999   5  0
5   0.332  9999   5  1
6   0.774  9999   5  1
7   0.269  9999   5  1
8   0.265  9999   5  1
9   0.25   9999   5  1
10  2.11   9999   5  1
11  0.311  0.311  1  0
12  nan    9999   5  0
13  0.365  9999   5  1
14  0.617  0.617  4  0
"""
# Correct guesses of all guesses, where there were any. Row: whose release; column: who guessed; both by ID.
GUESSES_2018 = """
  -  325/1000  113/1000  -  331/1000  1/7    20/96  341/1000    0/12  -      1/9    -     -    5/7
3/7         -  113/1000  -  500/1000  2/7   88/189  518/1000     1/6  -      6/8    -     -  10/13
7/7 1000/1000         -  -     13/13  7/7 998/1000       7/7     6/6  -  955/955  7/7 29/29    7/7
  -         -         -  -         -    -        -         -       -  -        -    -     -      -
7/7  492/1000  144/1000  -         -  3/7  199/404  512/1000    1/13  -      2/8    -     -   9/13
7/7   115/986    10/985  -    42/986    -     9/43       5/7   5/100  -     7/14  5/7  5/15    5/7
7/7 1000/1000  469/1000  -     13/13  7/7        -       7/7     6/6  -  943/943  7/7 26/26    7/7
5/7  464/1000  109/1000  -  500/1000  7/7  218/423         -  94/236  -      6/8  5/7     -    3/7
7/7 1000/1000  982/1000  -     13/13  7/7 870/1000       7/7       -  -  992/992  7/7 26/26    7/7
7/7   953/997   487/993  -   189/997  2/7  327/363       7/7    2/77  -    60/60    - 12/12    7/7
0/7  538/1000  122/1000  -  500/1000  2/7  179/403  494/1000  78/232  -        -    -  7/24    1/7
  -         -         -  -         -    -        -         -       -  -        -    -     -      -
7/7   992/993   620/983  -   986/993  7/7  677/712       7/7       -  -  953/953    -     -    7/7
1/7  166/1000   21/1000  -  160/1000  2/7     1/16  184/1000       -  -     1/12    -  2/12      -
"""
# Release -> the teams that broke it.
BREAKERS_2018 = {
    3: [1, 2, 5, 6, 7, 8, 11, 12, 13, 14],
    5: [1],
    6: [1],
    7: [1, 2, 5, 6, 8, 11, 12, 13, 14],
    8: [6],
    9: [1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 14],
    10: [1, 2, 7, 8, 11, 13, 14],
    13: [1, 2, 3, 5, 6, 7, 8, 11, 14],
}

# Team (0 is the committee's sample), highest rate of re-identification by any team, defence; best team first.
# The report counts some guesses twice: 0.00875 of the 2,000 individuals of team 11 is no whole number.
DEFENCE_2019 = """
11 0.00875 0.991
8  0.011   0.989
7  0.0165  0.984
6  0.0173  0.983
2  0.02    0.98
5  0.0265  0.974
16 0.0275  0.972
12 0.0302  0.970
3  0.0305  0.970
4  0.031   0.969
9  0.0345  0.966
1  0.0825  0.918
10 0.104   0.896
0  0.182   0.818
"""
# Team, hits; best team first.
ATTACK_2019 = """
6 1248
2 1038
4 984
11 825
16 823
12 769
9 632
1 604
8 598
5 491
18 365
19 355
3 217
17 25
0 8
7 6
10 2
"""

# Team, total, utility, anonymity against the sample attack.
PRELIMINARY_2024 = """
1  164.5  77.5  87
2  165.61 80.61 85
3  142.38 56.38 86
4  149.38 57.38 92
5  159.79 77.79 82
6  156.45 69.45 87
7  159.31 79.31 80
8  nan    nan   nan
9  13.46  86.46 9
10 141.31 57.31 84
11 149.61 61.61 88
12 158.47 68.47 90
13 nan    nan   nan
14 0      57.7  11
15 145.14 58.14 87
16 147.47 58.47 89
17 136.51 61.51 75
18 164.71 89.71 75
19 nan    nan   nan
20 182.99 97.99 85
21 147.98 61.98 86
22 142.09 58.09 84
"""
INTERNATIONAL_2024 = """
1  161.14 71.14 90
2  155.35 67.35 88
3  162.55 80.55 82
4  165.25 76.25 89
5  149.19 70.19 79
6  0      65.73 6
7  138.56 60.56 78
8  163.16 77.16 86
9  1.68   4.56  88
10 156.42 65.42 91
"""


def read_columns(table: str) -> FloatArray:
    return np.array([[float(cell) for cell in line.split()] for line in table.strip().splitlines()]).T


Column = Sequence[float] | FloatArray
"""A number for each team."""


def evaluate(formula: str, risks: Mapping[str, Column], **names: Column) -> FloatArray:
    """Return the value for each team; ``risks`` are the largest ones with each question in its release."""
    (team_count,) = {len(column) for column in risks.values()}
    teams = []
    for index in range(team_count):
        team_risks = {question: [float(column[index])] for question, column in risks.items()}
        numbers = {name: float(column[index]) for name, column in names.items()}
        strongest = build_strongest(tuple(team_risks), team_risks.__getitem__)
        teams.append(TeamNumbers(numbers, {"strongest": strongest}))
    return np.array(evaluate_formula(parse_formula(formula), teams))


def rank_values(values: FloatArray, *, descending: bool = False) -> list[float]:
    """Return the rank on a board; NaN where there is no value."""
    losses = -values if descending else values
    ranks = compute_ranks([None if np.isnan(loss) else float(loss) for loss in losses])
    return [float("nan") if rank is None else rank for rank in ranks]


def rank_totals(totals: FloatArray) -> list[float]:
    """Return the rank of each printed total, largest first; NaN where there is none."""
    return [float("nan") if np.isnan(total) else 1.0 + np.sum(totals > total) for total in totals]


def require_correct(guesses: int) -> int:
    """Return how many guesses had to be correct in 2018, by the programs that participants received.

    It is the smallest number that this many guesses, each correct with probability 1 / 3, reach with a
    probability below 0.0005 by the union bound.
    """
    bounds = accumulate(
        math.comb(guesses, number) * 3 ** (guesses - number) for number in range(guesses, -1, -1)
    )
    return guesses + 1 - len([bound for bound in bounds if 2000 * bound < 3**guesses])


def is_break(cell: str) -> bool:
    hits, _, guesses = cell.partition("/")
    return cell != "-" and int(hits) >= require_correct(int(guesses))


def test_2018_a_release_that_another_team_broke_gets_9999() -> None:
    _, utility, utility_with_penalty, ranks, is_broken = read_columns(RESULTS_2018)
    breaks = np.array([list(map(is_break, line.split())) for line in GUESSES_2018.strip().splitlines()])
    assert {team: (np.flatnonzero(row) + 1).tolist() for team, row in enumerate(breaks, 1) if any(row)} == (
        BREAKERS_2018
    )
    risks = breaks.max(axis=1).astype(np.float64)
    assert risks.tolist() == is_broken.tolist()
    values = evaluate(
        "where(strongest() == 1, 9999, if_missing(utility, 9999))", {"identity": risks}, utility=utility
    )
    assert values.tolist() == utility_with_penalty.tolist()
    assert rank_values(values) == ranks.tolist()


def test_2019_the_strongest_team_counts_in_the_defence() -> None:
    teams, highest_rates, defence = read_columns(DEFENCE_2019)
    values = evaluate("1 - strongest('identity')", {"identity": highest_rates})
    assert values == pytest.approx(defence, abs=0.000501)
    ranks = rank_values(values, descending=True)
    assert ranks == list(range(1, 15))
    # The best anonymizer against re-identification, by the page of the cup.
    assert teams[ranks.index(1)] == 11


def test_2019_hits_rank_the_attackers() -> None:
    teams, hits = read_columns(ATTACK_2019)
    values = evaluate("rank('identified', 'descending')", {"identity": np.zeros(17)}, identified=hits)
    assert values.tolist() == list(range(1, 18))
    # The best attacker with re-identification, by the page of the cup.
    assert teams[values == 1] == 6


@pytest.mark.parametrize("table", [PRELIMINARY_2024, INTERNATIONAL_2024])
def test_2024_an_imbalance_of_utility_and_anonymity_costs_twice_what_lacks(table: str) -> None:
    _, totals, utility, anonymity = read_columns(table)
    protection = "100 * (1 - strongest('identity'))"
    formula = f"max(0, {protection} + U - 2 * max(0, 50 - {protection}) - 2 * max(0, 50 - U))"
    values = evaluate(formula, {"identity": 1 - anonymity / 100}, U=utility)
    assert values == pytest.approx(totals, abs=0.005, nan_ok=True)
    np.testing.assert_array_equal(rank_values(values, descending=True), rank_totals(totals))


# Other rules, with numbers computed by hand.

RISKS = {"membership": [0.3, 0.6, 0.9], "attribute": [0.1, 0.7, 0.0]}


def test_2025_penalties_are_subtracted_down_to_zero() -> None:
    values = evaluate(
        "max(0, 100 * (1 - strongest('membership')) - penalty)", RISKS, penalty=[20.0, 50.0, -5.0]
    )
    assert values == pytest.approx([50.0, 0.0, 15.0])


def test_2026_the_weaker_of_utility_and_anonymity_counts() -> None:
    formula = "min(utility, 1 - strongest('membership', 'attribute'))"
    assert evaluate(formula, RISKS, utility=[0.6, 0.9, 1.0]) == pytest.approx([0.6, 0.3, 0.1])


def test_2026_the_largest_risk_with_any_question_counts_for_each_target() -> None:
    red, _, *targets = [UUID(int=number) for number in range(4)]
    attacks = TeamAttacks(
        datetime.now(UTC),
        risks={"membership": {targets[0]: 0.2, targets[1]: 0.3}, "attribute": {targets[0]: 0.4}},
    )
    assert [attacks.find_largest_risk(target) for target in (*targets, red)] == [0.4, 0.3, 0.0]


@pytest.mark.parametrize(
    ("formula", "value"),
    [("strongest('membership')", 0.5), ("strongest()", math.nan), ("if_missing(strongest(), 2)", 2.0)],
)
def test_a_missing_risk_of_another_question_makes_nothing_missing(formula: str, value: float) -> None:
    values = evaluate(formula, {"membership": [0.5], "attribute": [math.nan]})
    assert values == pytest.approx([value], nan_ok=True)
