"""The scripts of docs/leaderboards.md print its tables, and their claims hold in other computations."""

import bisect
import contextlib
import io
import math
import runpy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.markdown_blocks import ROOT, list_code_blocks

pytestmark = pytest.mark.full

PAGE = ROOT / "docs/leaderboards.md"
SCRIPTS = sorted((ROOT / "examples/leaderboards").glob("*.py"))
MAX_LINES = 60


@cache
def run_script(name: str) -> tuple[str, dict[str, Any]]:
    """Return the output of a script and its global variables."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        variables = runpy.run_path(str(ROOT / f"examples/leaderboards/{name}.py"))
    return output.getvalue(), variables


def read_table(name: str, columns: int) -> dict[str, list[float]]:
    """Return the last numbers of each line of a script's table by the text before them."""
    lines = [line.rsplit(maxsplit=columns) for line in run_script(name)[0].splitlines()[1:]]
    return {label.strip(): [float(number) for number in numbers] for label, *numbers in lines}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_page_quotes_the_output_of_each_short_script(script: Path) -> None:
    text = script.read_text()
    assert len(text.splitlines()) < MAX_LINES
    imports = {line.split()[1].partition(".")[0] for line in text.splitlines() if "import " in line}
    assert imports <= {"anoncup", "io", "numpy", "pandas"}
    assert f"`examples/leaderboards/{script.name}`" in PAGE.read_text()
    assert run_script(script.stem)[0] in [block.text for block in list_code_blocks(PAGE)]


def test_page_quotes_nothing_else() -> None:
    assert len(list_code_blocks(PAGE)) == len(SCRIPTS)


def test_exact_score_has_one_secret_in_exact_arithmetic() -> None:
    """The losses are computed as fractions from the tables and searched as whole numbers."""
    output, variables = run_script("subset_sum")
    losses = [compute_pair_losses(variables, pair) for pair in range(variables["PAIRS"])]
    unit = math.lcm(*(loss.denominator for pair in losses for loss in pair))
    steps = [int((crossed - straight) * unit) for straight, crossed in losses]
    straight_sum = sum(straight for straight, _ in losses)
    target = int(
        sum(pair[crossed] for pair, crossed in zip(losses, variables["secret"].tolist(), strict=True)) * unit
    )
    assert variables["board"] == pytest.approx(target / unit, rel=1e-12)
    left, right = (list_sums(half) for half in (steps[:18], steps[18:]))
    right.sort()
    rest = target - int(straight_sum * unit)
    assert count_sums(left, right, rest, rest) == 1
    for digits in (12, 8, 4):
        score = Fraction(round(variables["board"], digits)).limit_denominator(10**digits)
        low, high = (
            math.floor((score + Fraction(side, 2 * 10**digits) - straight_sum) * unit) for side in (-1, 1)
        )
        assert f"{digits:>8}  {count_sums(left, right, low + 1, high):16,}  " in output


def compute_pair_losses(variables: dict[str, Any], pair: int) -> tuple[Fraction, Fraction]:
    """Return what a pair adds to the information loss, straight and crossed."""
    names = list(variables["cells"])
    original, released = (
        [[Fraction(str(cell)) for cell in row] for row in table[names].to_numpy(float).tolist()]
        for table in (variables["original"].table, variables["released"])
    )
    spans = [max(column) - min(column) for column in zip(*original, strict=True)]
    cells = len(original) * len(names)

    def compute_loss(row: int, source: int) -> Fraction:
        differences = zip(original[source], released[row], spans, strict=True)
        return sum((abs(x - y) / span for x, y, span in differences), Fraction(0)) / cells

    first, second = 2 * pair, 2 * pair + 1
    straight = compute_loss(first, first) + compute_loss(second, second)
    return straight, compute_loss(first, second) + compute_loss(second, first)


def list_sums(steps: list[int]) -> list[int]:
    sums = [0]
    for step in steps:
        sums += [total + step for total in sums]
    return sums


def count_sums(left: list[int], ascending_right: list[int], low: int, high: int) -> int:
    """Return how many pairs of numbers have a sum from ``low`` to ``high``."""
    return sum(
        bisect.bisect_right(ascending_right, high - number)
        - bisect.bisect_left(ascending_right, low - number)
        for number in left
    )


def test_owners_are_the_closest_rows_of_the_board() -> None:
    output, variables = run_script("owners")
    board, measured = (variables[name].tolist() for name in ("board", "measured"))
    assert sum(abs(a - b) < 1e-12 for a, b in zip(board, measured, strict=True)) >= variables["TEAMS"] - 1
    for digits in (6, 2, 1):
        right = 0.0
        for owner, value in enumerate(measured):
            distances = [abs(round(score, digits) - value) for score in board]
            closest = [team for team, distance in enumerate(distances) if distance == min(distances)]
            right += (owner in closest) / len(closest)
        assert f"{digits:>13}  {right:>9.1f} of {variables['TEAMS']}" in output


def test_corrected_score_rewards_only_the_release_that_helps() -> None:
    _, variables = run_script("base_rate")
    truth = variables["survey"]["disease"].tolist()[::2]
    table = read_table("base_rate", 2)
    most_common = max(truth.count(disease) for disease in truth) / len(truth)
    for name, guess in variables["guesses"].items():
        share = sum(map(str.__eq__, guess.tolist()[::2], truth)) / len(truth)
        assert table[name][0] == pytest.approx(share, abs=5e-4)
    shares, corrected = ({name: row[index] for name, row in table.items()} for index in (0, 1))
    assert shares["none, for everybody"] == pytest.approx(most_common, abs=5e-4)
    assert shares["one of five, at random"] < shares["closest row, much noise"] < most_common
    assert [name for name, value in corrected.items() if value > 0] == ["closest row, little noise"]
    baseline = 1 - (1 - shares["closest row, little noise"]) / (1 - corrected["closest row, little noise"])
    assert baseline > max(most_common, shares["hypertension above 135 mmHg"])


def test_bounds_hold_and_decide_the_claims() -> None:
    output, variables = run_script("bounds")
    matrix, customers = variables["matrix"], variables["customers"]
    nearest = sorted(min(row[:i].tolist() + row[i + 1 :].tolist()) for i, row in enumerate(matrix))
    for permutation in variables["claims"].values():
        assert sorted(permutation.tolist()) == list(range(customers))
        in_place = sum(row == claimed for row, claimed in enumerate(permutation.tolist()))
        distance = sum(matrix[row, claimed] for row, claimed in enumerate(permutation.tolist())) / customers
        bound = sum(nearest[: customers - in_place]) / customers
        assert variables["threshold"] < bound <= distance
        assert f"{in_place:8}  {bound:8.4f}  {distance:.4f} rejected  0.0000" in output
    in_place = variables["rejected"]
    assert sum(nearest[: customers - in_place]) > variables["threshold"] * customers
    assert sum(nearest[: customers - in_place - 1]) <= variables["threshold"] * customers
