"""Hand-computed cases of the filter for comparable scoring versions."""

from uuid import UUID

from app.services.boards.verdicts import VerdictNumbers
from app.services.boards.version_filter import limit_to_eligible, select_comparable

RULE_VERSIONS = {"measures.loss": "1", "attackers.near": "1", "distances.gower": "1"}
FIRST_ID, SECOND_ID = UUID(int=1), UUID(int=2)


def make_numbers(security: float = 0.25, **versions: str) -> VerdictNumbers:
    """Build numbers of utility 0.5 where ``near`` finds a quarter of the rows and ``late`` three quarters."""
    default_versions = {
        "measures.loss": "1",
        "measures.more": "1",
        "attackers.near": "1",
        "attackers.late": "1",
    }
    return VerdictNumbers(
        utility=0.5,
        security=security,
        overall=(0.5 + security) / 2,
        violations=(),
        measures={"loss": 3.0, "more": 4.0},
        rounding={},
        attackers={"near": 0.25, "late": 0.75},
        risks={},
        correct={"near": 1, "late": 3},
        versions={
            **default_versions,
            **{name.replace("_", "."): version for name, version in versions.items()},
        },
    )


def test_numbers_of_the_current_versions_are_unchanged() -> None:
    current_numbers = make_numbers()
    assert limit_to_eligible(current_numbers, RULE_VERSIONS) is current_numbers
    assert select_comparable({FIRST_ID: current_numbers}, RULE_VERSIONS) == {FIRST_ID: current_numbers}


def test_a_later_attacker_is_taken_out_of_the_security_score() -> None:
    assert limit_to_eligible(make_numbers(0.75), RULE_VERSIONS) == make_numbers(0.25)


def test_numbers_of_other_versions_or_with_gaps_are_not_comparable() -> None:
    assert limit_to_eligible(make_numbers(measures_loss="2"), RULE_VERSIONS) is None
    assert limit_to_eligible(make_numbers(attackers_near="2"), RULE_VERSIONS) is None
    assert limit_to_eligible(make_numbers(), RULE_VERSIONS | {"attackers.gone": "1"}) is None
    assert select_comparable(
        {FIRST_ID: make_numbers(), SECOND_ID: make_numbers(measures_loss="2")}, RULE_VERSIONS
    ) == {FIRST_ID: make_numbers()}


def test_only_the_latest_version_of_reported_values_is_shown() -> None:
    old, new = make_numbers(), make_numbers(measures_more="10", attackers_late="2")
    filtered_numbers = select_comparable({FIRST_ID: old, SECOND_ID: new}, RULE_VERSIONS)
    assert filtered_numbers[SECOND_ID] == new
    assert (
        filtered_numbers[FIRST_ID].measures,
        filtered_numbers[FIRST_ID].attackers,
        filtered_numbers[FIRST_ID].correct,
    ) == (
        {"loss": 3.0},
        {"near": 0.25},
        {"near": 1},
    )
    assert (filtered_numbers[FIRST_ID].utility, filtered_numbers[FIRST_ID].overall) == (
        old.utility,
        old.overall,
    )
    other_version = make_numbers(measures_more="9")
    assert select_comparable({FIRST_ID: other_version, SECOND_ID: new}, RULE_VERSIONS)[FIRST_ID].measures == {
        "loss": 3.0
    }


def test_nothing_is_filtered_without_recorded_versions() -> None:
    numbers_by_id = {FIRST_ID: make_numbers(0.75), SECOND_ID: make_numbers(measures_loss="2")}
    assert select_comparable(numbers_by_id, {}) == numbers_by_id
