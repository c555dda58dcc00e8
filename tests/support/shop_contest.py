"""A contest of the transactions track, and its files."""

import pytest

from anoncup.competition.templates import template
from anoncup.rules.toml_text import replace_tables
from tests.support.arena import Arena, build_competition_toml

CUSTOMERS = """customer_id,sex,birthday,country
c1,f,1980-01-01,France
c2,f,,Japan
c3,m,1970/3/9,France
c4,m,1980-01-01,Japan
"""
TRANSACTIONS = """customer_id,receipt_id,date,time,goods,unit_price,quantity
c1,r1,2011-01-05,8:45,A,2,3
c1,r1,2011-01-05,8:45,B,1,1
c1,r2,2011-03-01,10:00,C,4,2
c2,r3,2011-02-01,11:00,A,2,1
c2,r3,2011-02-01,11:00,B,1.5,4
c3,r4,2011-06-30,12:00,D,10,1
c4,r5,2011-05-20,13:00,A,2,2
c4,r6,2011-06-01,14:00,D,9,1
"""
RELEASED_CUSTOMERS = """customer_id,sex,birthday,country
p1,m,1970-03-09,France
p2,f,1980-01-01,France
p3,f,,Japan
"""
RELEASED_TRANSACTIONS = """customer_id,receipt_id,date,time,goods,unit_price,quantity
p1,r4,2011-06-30,12:00,D,9,1
p2,r1,2011-01-05,08:45,A,2,3
p2,r1,2011-01-05,08:45,B,1,1
p2,r2,2011-03-01,10:00,C,4,2
p3,r3,2011-02-01,11:00,A,2,1
p3,r3,2011-02-01,11:00,B,1.5,4
p3,r3,2011-02-01,11:00,C,4,1
"""
ORIGINAL = {"customers": CUSTOMERS, "transactions": TRANSACTIONS}


@pytest.fixture
def shop(arena: Arena) -> Arena:
    """An open competition of the 2016 template without data."""
    window = build_competition_toml()
    text = replace_tables(template(2016), "phases", window[window.index("[[phases]]") :])
    assert arena.post("/competitions", content=text).status_code == 201
    return Arena(arena.client, arena.organizer_token, "cup-2016", arena.table)


def upload_file(shop: Arena, name: str, content: str) -> tuple[int, dict[str, object]]:
    response = shop.put(f"/competitions/cup-2016/original/{name}.csv", content=content.encode())
    return response.status_code, response.json()
