"""The description of a competition: on its pages, in the API, in its file and in the kit."""

import io
import re
import zipfile

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from tests.support.arena import API, Arena
from tests.support.contest import load_competition
from tests.support.page_requests import get_page, post_form
from tests.support.two_rounds import build_two_round_toml
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

TEXTS = {
    "en": "# Prizes\n\nA [book](https://example.org) and <b>more</b>.\n",
    "ja": "# 賞\n\n本です。\n",
}
DESCRIPTION = f"[description]\nen = '''\n{TEXTS['en']}'''\nja = '''\n{TEXTS['ja']}'''\n"
PROSE = re.compile(r'<div class="prose" lang="(\w+)" dir="auto">(.*?)</div>', re.DOTALL)


@pytest.fixture
def arena(client: TestClient) -> Arena:
    return Arena.create(client, extra_toml=DESCRIPTION)


def test_overview_begins_with_the_description_in_the_readers_language(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    for language, heading, other in (("en", "<h2>Prizes</h2>", "賞"), ("ja", "<h2>賞</h2>", "Prizes")):
        html = get_page(arena, path, language=language).text
        main = html.split('<div class="words">')[1].lstrip()
        assert re.match(rf'\s*<div class="prose" lang="{language}" dir="auto">{heading}', main)
        assert other not in html
    assert "&lt;b&gt;more&lt;/b&gt;" in get_page(arena, path).text
    member = get_page(arena, path, team="red").text
    assert re.search(r"<details><summary>About the competition</summary>\s*<div class=\"prose\"", member)


def test_text_in_the_other_language_is_shown_if_the_readers_is_missing(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml='[description]\nja = "**賞**"\n')
    ((language, html),) = PROSE.findall(get_page(arena, f"/competitions/{arena.slug}").text)
    assert (language, html) == ("ja", "<p><strong>賞</strong></p>\n")


def test_api_file_and_kit_have_the_description_as_it_was_written(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}"
    competition = arena.get(path).json()
    assert (competition["description"], competition["terms"]) == (TEXTS, False)
    assert DESCRIPTION in arena.get(f"{path}/competition.toml").text
    with zipfile.ZipFile(io.BytesIO(arena.client.get(f"{API}{path}/kit.zip").content)) as kit:
        file = kit.read("competition.toml").decode()
    assert DESCRIPTION in file
    assert parse_competition(file).description.texts == TEXTS


def test_all_rounds_have_the_competitions_description(client: TestClient) -> None:
    arena = Arena.create(client, file=build_two_round_toml(extra_toml=DESCRIPTION))
    for address in ("small", "small.preliminary", "small.final"):
        assert "<h2>Prizes</h2>" in get_page(arena, f"/competitions/{address}").text
        assert arena.get(f"/competitions/{address}").json()["description"] == TEXTS


def test_preview_shows_the_typed_description(arena: Arena) -> None:
    text = load_competition().file.replace("# Prizes", "# Medals")
    path = f"/competitions/{arena.slug}/organize/file/preview"
    assert "<h2>Medals</h2>" in post_form(arena, path, {"text": text}, organizer=True).text
    assert "<h2>Prizes</h2>" not in get_page(arena, f"/competitions/{arena.slug}/rules").text


def test_description_changes_after_submissions_without_scoring_again(arena: Arena) -> None:
    arena.submit("red")
    score_everything()
    path = f"/competitions/{arena.slug}"
    board = arena.get(f"{path}/boards/anonymization").json()
    file = load_competition().file.replace("# Prizes", "# Medals")
    assert arena.put(f"{path}/competition.toml", content=file).status_code == 200
    assert "<h2>Medals</h2>" in get_page(arena, path).text
    assert arena.get(f"{path}/boards/anonymization").json() == board
