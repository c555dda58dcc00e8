"""Search for teams on the board, and recognition of tied ranks."""

import re
from html import escape
from urllib.parse import urlencode

import pytest

from app.web.visitor import standings
from tests.support.contest import Contest
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import build_board_from_rows, build_row, get_board_page, parse_ranking

pytestmark = pytest.mark.full


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
        visible_rows = parse_ranking(re.sub(r"(?s)<tr[^>]* hidden>.*?</tr>", "", html))
        assert sorted(row[1] for row in visible_rows) == sorted(expected)
        assert f'value="{escape(query)}"' in html
        assert bool(query) == (translate("Found: {found} of {all}", "ja", found=len(expected), all=3) in html)
        assert "<b>&amp;</b>" not in html


def test_tied_ranks_are_recognized() -> None:
    for ranks, tied in (((1, 2, 2, 4, None, None), {2}), ((1,), set()), ((), set()), ((1, 1, 1), {1})):
        assert standings.find_tied_ranks(build_board_from_rows(*map(build_row, ranks))) == tied
