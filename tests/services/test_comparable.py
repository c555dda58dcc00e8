"""What may stand on one board: by hand."""

from uuid import UUID

from app.services.boards.verdicts import Numbers
from app.services.boards.version_filter import by_rules, comparable

FIXED = {"measures.loss": "1", "attackers.near": "1", "distances.gower": "1"}
ONE, TWO = UUID(int=1), UUID(int=2)


def numbers(security: float = 0.25, **versions: str) -> Numbers:
    """Half the utility; ``near`` finds a quarter, ``late`` three."""
    found = {"measures.loss": "1", "measures.more": "1", "attackers.near": "1", "attackers.late": "1"}
    return Numbers(
        utility=0.5,
        security=security,
        overall=(0.5 + security) / 2,
        violations=(),
        measures={"loss": 3.0, "more": 4.0},
        rounding={},
        attackers={"near": 0.25, "late": 0.75},
        risks={},
        correct={"near": 1, "late": 3},
        versions={**found, **{name.replace("_", "."): version for name, version in versions.items()}},
    )


def test_numbers_by_what_counts_are_left_as_they_are() -> None:
    found = numbers()
    assert by_rules(found, FIXED) is found
    assert comparable({ONE: found}, FIXED) == {ONE: found}


def test_what_came_later_and_counted_is_taken_out_of_e() -> None:
    assert by_rules(numbers(0.75), FIXED) == numbers(0.25)


def test_what_another_version_gave_or_what_is_missing_cannot_be_compared() -> None:
    assert by_rules(numbers(measures_loss="2"), FIXED) is None
    assert by_rules(numbers(attackers_near="2"), FIXED) is None
    assert by_rules(numbers(), FIXED | {"attackers.gone": "1"}) is None
    assert comparable({ONE: numbers(), TWO: numbers(measures_loss="2")}, FIXED) == {ONE: numbers()}


def test_of_what_is_only_reported_the_latest_version_is_shown() -> None:
    old, new = numbers(), numbers(measures_more="10", attackers_late="2")
    found = comparable({ONE: old, TWO: new}, FIXED)
    assert found[TWO] == new
    assert (found[ONE].measures, found[ONE].attackers, found[ONE].correct) == (
        {"loss": 3.0},
        {"near": 0.25},
        {"near": 1},
    )
    assert (found[ONE].utility, found[ONE].overall) == (old.utility, old.overall)
    nine = numbers(measures_more="9")
    assert comparable({ONE: nine, TWO: new}, FIXED)[ONE].measures == {"loss": 3.0}


def test_nothing_is_left_out_where_nothing_was_written_down() -> None:
    found = {ONE: numbers(0.75), TWO: numbers(measures_loss="2")}
    assert comparable(found, {}) == found
