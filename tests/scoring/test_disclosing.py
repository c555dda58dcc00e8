"""What of a file shows or lets guess more than before: the rule that asks for the password then."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from anoncup.rules.model import Rules
from anoncup.rules.settings import Limits, Phase, Publication, Ranking
from app.services.contests.disclosure import discloses_more

EARLY, LATE = (datetime(2027, 1, day, tzinfo=UTC) for day in (1, 2))
SHOWS_MORE = (
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


def contest(publication: Publication = RULES.publication, **more: Any) -> Rules:
    return replace(RULES, publication=publication, **more)


@pytest.mark.parametrize(("name", "less", "more"), SHOWS_MORE)
def test_a_setting_that_shows_more_discloses_and_its_reverse_does_not(
    name: str, less: object, more: object
) -> None:
    modest, open_ = (contest(replace(Publication(), **{name: value})) for value in (less, more))  # type: ignore[arg-type]
    assert discloses_more(modest, open_)
    assert not discloses_more(open_, modest)
    assert not discloses_more(modest, modest)


def test_what_shows_less_makes_up_for_nothing_that_shows_more() -> None:
    assert discloses_more(contest(Publication(digits=4, owners="hidden")), contest(Publication(digits=0)))


def test_every_setting_of_publication_but_the_notice_is_compared() -> None:
    """The notice discloses nothing."""
    compared = {name for name, _, _ in SHOWS_MORE}
    assert compared == set(Publication.__dataclass_fields__) - {"reveal_notice_hours"}


def test_every_part_of_a_file_is_compared_or_cannot_change_by_itself() -> None:
    """Once there are submissions, some are fixed and some change by a re-score set, with the password."""
    compared = {"publication", "ranking", "limits", "timezone", "phases"}
    fixed = {"slug", "track", "columns", "settings", "questions"}
    by_a_set = {"measures", "attackers", "scales", "excessive"}
    tells_nothing = {"title", "requires", "scored_by"}
    assert compared | fixed | by_a_set | tells_nothing == set(Rules.__dataclass_fields__)


def test_of_the_limits_only_more_guesses_disclose() -> None:
    for name in Limits.__dataclass_fields__:
        more = Limits(**{name: getattr(Limits(), name) * 2})
        assert discloses_more(contest(), contest(limits=more)) is (name == "guesses_per_target")


def second(start: datetime) -> tuple[Phase, ...]:
    return (Phase("reidentification", start, LATE + timedelta(days=1)),)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"limits": Limits(guesses_per_target=3)}, {"limits": Limits(guesses_per_target=4)}),
        ({"phases": second(LATE)}, {"phases": second(EARLY)}),
        ({}, {"phases": second(LATE)}),
    ],
    ids=["guesses", "targets sooner", "targets at all"],
)
def test_so_does_what_hands_out_targets_sooner_or_lets_guess_more(
    less: dict[str, Any], more: dict[str, Any]
) -> None:
    assert discloses_more(contest(**less), contest(**more))
    assert not discloses_more(contest(**more), contest(**less))
    assert not discloses_more(contest(**more), contest(**more))


@pytest.mark.parametrize("other", [Ranking("rank_sum"), Ranking(finals=3)])
def test_another_ranking_discloses_either_way(other: Ranking) -> None:
    """It orders the same rows anew, or hands out other tables."""
    assert discloses_more(contest(), contest(ranking=other))
    assert discloses_more(contest(ranking=other), contest())


@pytest.mark.parametrize("feedback", ["hidden", "daily", "immediate"])
def test_another_zone_discloses_where_midnight_shows_scores(
    feedback: Literal["hidden", "daily", "immediate"],
) -> None:
    shown = Publication(feedback=feedback)
    assert discloses_more(contest(shown), contest(shown, timezone="Asia/Tokyo")) is (feedback == "daily")
    closed = contest(Publication(), timezone="Asia/Tokyo")
    assert not discloses_more(contest(shown), closed)
