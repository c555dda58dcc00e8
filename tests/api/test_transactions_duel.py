"""The second phase of the transactions track: targets of two files, shuffled by the service."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.templates import template
from anoncup.rules.toml_text import with_tables
from anoncup.tracks.linkage.permutation import source_from_secret
from tests.support.arena import API, Arena
from tests.support.contest import Contest, judge_everything, two_phase_file
from tests.support.shop_files import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SECRET = b"original_row\n3\n1\n2\n"


@pytest.fixture
def shop(client: TestClient, arena: Arena) -> Contest:
    """A competition of the 2016 template with its data, which shuffles and shows guesses at once."""
    windows = two_phase_file()
    text = with_tables(template(2016), "phases", windows[windows.index("[[phases]]") :])
    text = with_tables(text, "excessive", "[excessive]\nthreshold = 1.0")
    shown = 'feedback = "immediate"\nshuffle_targets = true\nreveal_notice_hours = 0'
    text = with_tables(text, "publication", f"[publication]\n{shown}")
    assert arena.post("/competitions", content=text).status_code == 201
    for name, content in (("customers", CUSTOMERS), ("transactions", TRANSACTIONS)):
        path = f"/competitions/cup-2016/original/{name}.csv"
        assert arena.put(path, content=content.encode()).status_code == 200
    return Contest(Arena(client, arena.organizer, "cup-2016", arena.table))


def send(shop: Contest, team: str) -> str:
    parts = {
        "customers": RELEASED_CUSTOMERS,
        "transactions": RELEASED_TRANSACTIONS,
        "secret": SECRET.decode(),
    }
    files = {name: (f"{name}.csv", content) for name, content in parts.items()}
    answer = shop.arena.post(f"{shop.path}/submissions", token=shop.arena.team(team), files=files)
    assert answer.status_code == 202, answer.text
    score_everything()
    return str(answer.json()["id"])


def test_customers_are_attacked_and_the_shuffled_secret_is_revealed(shop: Contest) -> None:
    red = send(shop, "red")
    result = shop.arena.get(f"/submissions/{red}").json()
    assert result["status"] == "SCORED", result
    sent = {"customers.csv": RELEASED_CUSTOMERS, "transactions.csv": RELEASED_TRANSACTIONS}
    for name, content in sent.items():
        assert result["sha256"][name] == hashlib.sha256(content.encode()).hexdigest()
    send(shop, "blue")
    shop.attack()
    (target,) = (each for each in shop.targets("blue") if not each["own"])
    assert (target["rows"], set(target["files"])) == (3, set(sent))
    for name, digest in target["files"].items():
        path = f"/targets/{target['id']}/data/{name}"
        downloaded = shop.arena.get(path, token=shop.arena.team("blue")).content
        assert hashlib.sha256(downloaded).hexdigest() == digest
    for guess in (b"original_row\n1\n1\n1\n", b"original_row\n2\n2\n2\n", b"original_row\n0\n3\n0\n"):
        assert shop.guess("blue", target["id"], guess).status_code == 202
    judge_everything()
    (cells,) = (row["cells"] for row in shop.board("matrix")["rows"])
    assert [cell for cell in cells if cell] == [{"correct": 1, "rate": 1 / 3, "trials": 3}]
    shop.close()
    secret = shop.arena.client.get(f"{API}/targets/{target['id']}/secret").content
    revealed = {each["name"]: each for each in shop.arena.client.get(f"{API}{shop.path}/reveal").json()}
    salt = bytes.fromhex(revealed[target["name"]]["salt"])
    assert hashlib.sha256(salt + secret).hexdigest() == target["commitment"] == result["commitment"]
    source = source_from_secret(secret, originals=4, anonymized=3)
    assert sorted(source) == [0, 1, 2]


def test_the_order_of_records_says_nothing_in_a_target(shop: Contest) -> None:
    send(shop, "red")
    send(shop, "blue")
    shop.attack()
    for target in shop.targets("red"):
        if not target["own"]:
            path = f"/targets/{target['id']}/data/transactions.csv"
            lines = shop.arena.get(path, token=shop.arena.team("red")).text.splitlines()[1:]
            owners = [line.split(",")[0] for line in lines]
            assert owners == sorted(owners)
