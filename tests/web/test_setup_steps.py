"""The list of the set-up's steps, and the way from each to the next."""

import re

import pytest

from app.language import LANGUAGES
from app.scoring.drafting import STARTS
from app.scoring.templates import TEMPLATES
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


def test_an_address_is_made_of_the_title_where_none_is_typed(beginner: Arena) -> None:
    made = send(
        beginner, "/organize/new", BASICS | {"slug": "", "title_en": "Café cup, 2031!"}, organizer=True
    )
    assert made.headers["location"].startswith("/competitions/cafe-cup-2031/")
    only_japanese = BASICS | {"slug": "", "title_en": ""}
    refused = send(beginner, "/organize/new", only_japanese, organizer=True)
    assert (refused.status_code, 'id="slug-error"' in refused.text) == (422, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_recommended_is_chosen_and_the_rest_is_folded_away(beginner: Arena, language: str) -> None:
    shown = page(beginner, "/organize/new", organizer=True, language=language).text
    marked = re.findall(
        rf'<input type="radio"[^>]* checked[^\n]*\n[^\n]*{said("recommended", language)}', shown
    )
    assert len(marked) == 1
    for start in STARTS:
        assert f'id="start-{start}"' in shown  # nothing is lost
    folded = shown.partition("<details>")[2].partition("</details>")[0]
    assert re.findall(r'id="start-(\w+)"', folded) == [one for one in STARTS if one not in TEMPLATES]
    send(beginner, "/organize/new", BASICS, organizer=True)
    path = "/competitions/fresh/organize/publication"
    shown = page(beginner, path, organizer=True, language=language).text
    assert len(re.findall(rf" checked[^\n]*\n[^\n]*{said('recommended', language)}", shown)) == 4
    fields = dict(re.findall(r'<input id="(\w+)" name="\w+" type="number" value="(\d+)"', shown))
    fields |= {"board": "public", "feedback": "hidden", "owners": "hidden", "rule": "score"}
    wrong = send(beginner, path, fields | {"digits": "9"}, organizer=True, language=language)
    assert (wrong.status_code, "<details open>" in wrong.text) == (422, True)
    assert send(beginner, path, fields, organizer=True).status_code == 303
