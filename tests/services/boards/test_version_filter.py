"""Hand-computed cases of the filter for comparable scoring versions."""

from uuid import UUID

from app.services.boards.verdicts import VerdictNumbers
from app.services.boards.version_filter import compute_eligible_numbers, select_comparable

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


def test_scores_of_the_current_versions_are_unchanged() -> None:
    current_numbers = make_numbers()
    assert compute_eligible_numbers(current_numbers, RULE_VERSIONS) is current_numbers
    assert select_comparable({FIRST_ID: current_numbers}, RULE_VERSIONS) == {FIRST_ID: current_numbers}


def test_attacker_added_later_does_not_affect_the_security_score() -> None:
    assert compute_eligible_numbers(make_numbers(0.75), RULE_VERSIONS) == make_numbers(0.25)


def test_scores_of_other_or_missing_versions_are_not_comparable() -> None:
    assert compute_eligible_numbers(make_numbers(measures_loss="2"), RULE_VERSIONS) is None
    assert compute_eligible_numbers(make_numbers(attackers_near="2"), RULE_VERSIONS) is None
    assert compute_eligible_numbers(make_numbers(), RULE_VERSIONS | {"attackers.gone": "1"}) is None
    assert select_comparable(
        {FIRST_ID: make_numbers(), SECOND_ID: make_numbers(measures_loss="2")}, RULE_VERSIONS
    ) == {FIRST_ID: make_numbers()}


def test_uncounted_values_of_older_versions_are_removed() -> None:
    older_numbers, newer_numbers = make_numbers(), make_numbers(measures_more="10", attackers_late="2")
    filtered_numbers = select_comparable({FIRST_ID: older_numbers, SECOND_ID: newer_numbers}, RULE_VERSIONS)
    assert filtered_numbers[SECOND_ID] == newer_numbers
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
        older_numbers.utility,
        older_numbers.overall,
    )
    other_version = make_numbers(measures_more="9")
    assert select_comparable({FIRST_ID: other_version, SECOND_ID: newer_numbers}, RULE_VERSIONS)[
        FIRST_ID
    ].measures == {"loss": 3.0}


def test_scores_are_not_filtered_without_recorded_versions() -> None:
    numbers_by_id = {FIRST_ID: make_numbers(0.75), SECOND_ID: make_numbers(measures_loss="2")}
    assert select_comparable(numbers_by_id, {}) == numbers_by_id
