"""A contest about purchases."""

import pytest

from anoncup.competition.templates import template
from anoncup.rules.toml_text import with_tables
from tests.support.arena import Arena, competition_file
from tests.support.shop_files import CUSTOMERS, TRANSACTIONS

ORIGINAL = {"customers": CUSTOMERS, "transactions": TRANSACTIONS}


@pytest.fixture
def shop(arena: Arena) -> Arena:
    """A competition of the 2016 template, open, without data."""
    window = competition_file()
    text = with_tables(template(2016), "phases", window[window.index("[[phases]]") :])
    assert arena.post("/competitions", content=text).status_code == 201
    return Arena(arena.client, arena.organizer, "cup-2016", arena.table)


def put(shop: Arena, name: str, content: str) -> tuple[int, dict[str, object]]:
    answer = shop.put(f"/competitions/cup-2016/original/{name}.csv", content=content.encode())
    return answer.status_code, answer.json()


def filled(shop: Arena) -> Arena:
    for name, content in ORIGINAL.items():
        assert put(shop, name, content)[0] == 200
    return shop
