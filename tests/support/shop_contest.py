"""A contest of the transactions track."""

import pytest

from anoncup.competition.templates import template
from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena, build_competition_toml
from tests.support.shop_files import CUSTOMERS, TRANSACTIONS

ORIGINAL = {"customers": CUSTOMERS, "transactions": TRANSACTIONS}


@pytest.fixture
def shop(arena: Arena) -> Arena:
    """An open competition of the 2016 template without data."""
    window = build_competition_toml()
    text = replace_tables(template(2016), "phases", window[window.index("[[phases]]") :])
    assert arena.post("/competitions", content=text).status_code == 201
    return Arena(arena.client, arena.organizer, "cup-2016", arena.table)


def upload_file(shop: Arena, name: str, content: str) -> tuple[int, dict[str, object]]:
    response = shop.put(f"/competitions/cup-2016/original/{name}.csv", content=content.encode())
    return response.status_code, response.json()


def upload_originals(shop: Arena) -> Arena:
    for name, content in ORIGINAL.items():
        assert upload_file(shop, name, content)[0] == 200
    return shop
