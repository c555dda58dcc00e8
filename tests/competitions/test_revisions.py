"""Detection of rule changes that disclose more; such changes require the password again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Phase, Publication, Ranking
from app.competitions.revisions import discloses_more

EARLY, LATE = (datetime(2027, 1, day, tzinfo=UTC) for day in (1, 2))
DISCLOSING_CHANGES = (
    ("board", "organizers", "teams"),
    ("board", "teams", "public"),
    ("board", "organizers", "public"),
    ("frozen_from", EARLY, LATE),
    ("frozen_from", EARLY, None),
    ("feedback", "hidden", "daily"),
    ("feedback", "daily", "immediate"),
    ("feedback", "hidden", "immediate"),
    ("shuffle_targets", True, False),
    ("digits", 1, 2),
    ("owners", "hidden", "shown"),
)
RULES = Rules("cup", {}, "microdata", "UTC")


def build_rules(publication: Publication = RULES.publication, **changes: Any) -> Rules:
    return replace(RULES, publication=publication, **changes)


@pytest.mark.parametrize(("name", "stricter", "looser"), DISCLOSING_CHANGES)
def test_looser_setting_discloses_more_and_a_stricter_one_does_not(
    name: str, stricter: object, looser: object
) -> None:
    restrictive, open_rules = (
        build_rules(replace(Publication(), **{name: value}))  # type: ignore[arg-type]
        for value in (stricter, looser)
    )
    assert discloses_more(restrictive, open_rules)
    assert not discloses_more(open_rules, restrictive)
    assert not discloses_more(restrictive, restrictive)


def test_stricter_setting_does_not_offset_a_looser_one() -> None:
    assert discloses_more(
        build_rules(Publication(digits=4, owners="hidden")), build_rules(Publication(digits=0))
    )


def test_every_publication_setting_except_the_notice_is_compared() -> None:
    """The reveal notice discloses nothing."""
    compared_names = {name for name, _, _ in DISCLOSING_CHANGES}
    assert compared_names == set(Publication.__dataclass_fields__) - {"reveal_notice_hours"}


def test_every_part_of_the_rules_is_covered() -> None:
    """Once there are submissions, some parts are fixed; others change by re-evaluation with the password."""
    compared_parts = {"publication", "ranking", "limits", "timezone", "phases"}
    immutable_parts = {"slug", "track", "columns", "settings", "questions"}
    rescored_parts = {"measures", "attackers", "scales", "excessive"}
    harmless_parts = {"title", "round", "requires", "scored_by"}
    assert compared_parts | immutable_parts | rescored_parts | harmless_parts == set(
        Rules.__dataclass_fields__
    )


def test_of_the_limits_only_more_guesses_per_target_disclose_more() -> None:
    for name in Limits.__dataclass_fields__:
        limits = Limits(**{name: getattr(Limits(), name) * 2})
        assert discloses_more(build_rules(), build_rules(limits=limits)) is (name == "guesses_per_target")


def build_reidentification_phase(start: datetime) -> tuple[Phase, ...]:
    return (Phase("reidentification", start, LATE + timedelta(days=1)),)


@pytest.mark.parametrize(
    ("strict_changes", "loose_changes"),
    [
        ({"limits": Limits(guesses_per_target=3)}, {"limits": Limits(guesses_per_target=4)}),
        ({"phases": build_reidentification_phase(LATE)}, {"phases": build_reidentification_phase(EARLY)}),
        ({}, {"phases": build_reidentification_phase(LATE)}),
    ],
    ids=["guesses", "targets sooner", "targets at all"],
)
def test_earlier_targets_and_more_guesses_disclose_more(
    strict_changes: dict[str, Any], loose_changes: dict[str, Any]
) -> None:
    assert discloses_more(build_rules(**strict_changes), build_rules(**loose_changes))
    assert not discloses_more(build_rules(**loose_changes), build_rules(**strict_changes))
    assert not discloses_more(build_rules(**loose_changes), build_rules(**loose_changes))


@pytest.mark.parametrize("ranking", [Ranking("rank_sum"), Ranking(finals=3)])
def test_another_ranking_always_discloses_more(ranking: Ranking) -> None:
    """A ranking reorders the same rows or changes which releases become targets."""
    assert discloses_more(build_rules(), build_rules(ranking=ranking))
    assert discloses_more(build_rules(ranking=ranking), build_rules())


@pytest.mark.parametrize("feedback", ["hidden", "daily", "immediate"])
def test_another_time_zone_discloses_more_only_with_daily_feedback(
    feedback: Literal["hidden", "daily", "immediate"],
) -> None:
    publication = Publication(feedback=feedback)
    assert discloses_more(build_rules(publication), build_rules(publication, timezone="Asia/Tokyo")) is (
        feedback == "daily"
    )
    hidden_scores = build_rules(Publication(), timezone="Asia/Tokyo")
    assert not discloses_more(build_rules(publication), hidden_scores)
