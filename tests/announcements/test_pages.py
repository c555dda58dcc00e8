"""Announcements on pages: in the reader's language, with links."""

import re

import pytest

from app.core.locale.language import LANGUAGES
from tests.support.arena import Arena
from tests.support.page_requests import get_page

pytestmark = pytest.mark.full

TEXTS = {"en": "See https://example.org/en.\n<b>Good luck</b>", "ja": "詳細はhttps://example.org/jaです。"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_in_the_readers_language_with_links_and_the_other_folded(arena: Arena, language: str) -> None:
    path = f"/competitions/{arena.slug}"
    assert arena.post(f"{path}/announcements", json={"text": TEXTS}).status_code == 201
    for page in (path, f"{path}/organize/announcements"):
        html = get_page(arena, page, organizer=True, language=language).text
        paragraphs = re.findall(r'(</summary>)?<p class="said" lang="(\w+)" dir="auto">(.*?)</p>', html, re.S)
        (folded, first, _), (is_folded, second, _) = paragraphs
        assert (folded, first, is_folded, {first, second}) == ("", language, "</summary>", set(TEXTS))
        for _, written_in, text in paragraphs:
            address = f"https://example.org/{written_in}"
            assert f'<a href="{address}" rel="nofollow noopener">{address}</a>' in text
        assert "&lt;b&gt;Good luck&lt;/b&gt;" in html
    assert arena.get(f"{path}/announcements").json()[0]["text"] == TEXTS
