"""Search for teams on the board, and recognition of tied ranks."""

import re
from html import escape
from urllib.parse import urlencode

import pytest

from anoncup import schemas
from app.api.documentation.bodies import build_model_example
from app.web.visitor import standings
from tests.support.contest import Contest
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import extract_text, get_board_page

pytestmark = pytest.mark.full


def read_visible_teams(html: str) -> list[str]:
    """Return the teams of the visible rows."""
    body = re.findall(r'<table class="ranks.*?</table>', html, re.DOTALL)[0].partition("</thead>")[2]
    rows = re.findall(r"<tr((?:(?! hidden)[^>])*)>.*?</td><th[^>]*>(.*?)</th>", body, re.DOTALL)
    return [extract_text(name) for _, name in rows]


SEARCHES = {
    "": ["Straße ＡＢＣ", "ﾀﾞｯｼｭ", "<b>&amp;</b>"],
    "strasse abc": ["Straße ＡＢＣ"],
    "  STRASSE\u3000": ["Straße ＡＢＣ"],
    "ダッ\u200bシュ": ["ﾀﾞｯｼｭ"],
    "<B>": ["<b>&amp;</b>"],
    "amp;</b>": ["<b>&amp;</b>"],
    "nobody": [],
}


def test_team_search_ignores_spelling_variants(contest: Contest) -> None:
    for team in SEARCHES[""]:
        contest.submit(team, score=False)
    score_everything()
    for query, expected in SEARCHES.items():
        html = get_board_page(contest.arena, query=f"?{urlencode({'find': query})}", language="ja")
        assert sorted(read_visible_teams(html)) == sorted(expected)
        assert f'value="{escape(query)}"' in html
        assert bool(query) == (translate("Found: {found} of {all}", "ja", found=len(expected), all=3) in html)
        assert "<b>&amp;</b>" not in html


@pytest.mark.parametrize(
    ("ranks", "tied"), [([1, 2, 2, 4, None, None], {2}), ([1], set()), ([], set()), ([1, 1, 1], {1})]
)
def test_tied_ranks_are_recognized(ranks: list[int | None], tied: set[int]) -> None:
    row = build_model_example(schemas.BoardRow)
    rows = tuple(row.model_copy(update={"rank": rank}) for rank in ranks)
    assert (
        standings.find_tied_ranks(build_model_example(schemas.Board).model_copy(update={"rows": rows}))
        == tied
    )
