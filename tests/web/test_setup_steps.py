"""The list of the set-up's steps, and the way from each to the next."""

import re

import pytest

from app.language import LANGUAGES
from tests.arena import Arena
from tests.web.reader import page, send
from tests.web.spoken import said
from tests.web.test_setup import BASICS, beginner

__all__ = ["beginner"]

ORGANIZE = "/competitions/small/organize"


@pytest.mark.parametrize("language", LANGUAGES)
def test_next_leads_through_every_step_of_the_list_whatever_its_state(arena: Arena, language: str) -> None:
    shown = page(arena, f"{ORGANIZE}/basics", organizer=True, language=language).text
    listed = re.findall(rf'<li class="\w+"><a href="({ORGANIZE}/\w+)"', shown)
    assert [path.rsplit("/", 1)[1] for path in listed] == [
        "basics",
        "data",
        "measures",
        "threshold",
        "publication",
        "teams",
    ]
    walked = [listed[0]]
    while (following := re.search(rf'href="([^"]*)">{said("Next", language)}', shown)) is not None:
        walked.append(following[1])
        shown = page(arena, following[1], organizer=True, language=language).text
    assert walked == listed


def test_what_is_missing_elsewhere_is_named_beside_the_next_step(beginner: Arena) -> None:
    send(beginner, "/organize/new", BASICS, organizer=True)
    path = "/competitions/fresh/organize"
    shown = page(beginner, f"{path}/publication", organizer=True).text
    beside = shown.partition('class="onward"')[2].partition("</div>")[0]
    assert re.findall(rf'href="{path}/(\w+)">Next', beside) == ["teams"]
    still = re.findall(rf'<a href="{path}/(\w+)">', beside.partition("Still missing")[2])
    assert still == ["data", "measures", "threshold"]
