"""The second phase of the transactions track: targets of two files, shuffled by the service."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.templates import template
from anoncup.rules.toml_text import replace_tables
from anoncup.tracks.linkage.permutation import parse_secret
from tests.support.arena import API, Arena
from tests.support.contest import Contest, build_two_phase_toml, judge_everything
from tests.support.shop_contest import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full

SECRET = b"original_row\n3\n1\n2\n"


@pytest.fixture
def shop(client: TestClient, arena: Arena) -> Contest:
    """A competition of the 2016 template with data, shuffled targets and immediate feedback."""
    windows = build_two_phase_toml()
    text = replace_tables(template(2016), "phases", windows[windows.index("[[phases]]") :])
    text = replace_tables(text, "excessive", "[excessive]\nthreshold = 1.0")
    publication = 'feedback = "immediate"\nshuffle_targets = true\nreveal_notice_hours = 0'
    text = replace_tables(text, "publication", f"[publication]\n{publication}")
    assert arena.post("/competitions", content=text).status_code == 201
    for name, content in (("customers", CUSTOMERS), ("transactions", TRANSACTIONS)):
        path = f"/competitions/cup-2016/original/{name}.csv"
        assert arena.put(path, content=content.encode()).status_code == 200
    return Contest(Arena(client, arena.organizer_token, "cup-2016", arena.table))


def send_release(shop: Contest, team: str) -> str:
    parts = {
        "customers": RELEASED_CUSTOMERS,
        "transactions": RELEASED_TRANSACTIONS,
        "secret": SECRET.decode(),
    }
    files = {name: (f"{name}.csv", content) for name, content in parts.items()}
    response = shop.arena.post(f"{shop.path}/submissions", token=shop.arena.get_team_token(team), files=files)
    assert response.status_code == 202, response.text
    score_everything()
    return str(response.json()["id"])


def test_second_phase_ends_with_the_reveal_of_the_shuffled_secret(shop: Contest) -> None:
    red = send_release(shop, "red")
    result = shop.arena.get(f"/submissions/{red}").json()
    assert result["status"] == "SCORED", result
    files = {"customers.csv": RELEASED_CUSTOMERS, "transactions.csv": RELEASED_TRANSACTIONS}
    for name, content in files.items():
        assert result["sha256"][name] == hashlib.sha256(content.encode()).hexdigest()
    send_release(shop, "blue")
    shop.open_attacks()
    (target,) = (entry for entry in shop.list_targets("blue") if not entry["own"])
    assert (target["rows"], set(target["files"])) == (3, set(files))
    for name, digest in target["files"].items():
        path = f"/targets/{target['id']}/data/{name}"
        downloaded = shop.arena.get(path, token=shop.arena.get_team_token("blue")).content
        assert hashlib.sha256(downloaded).hexdigest() == digest
    for guess in (b"original_row\n1\n1\n1\n", b"original_row\n2\n2\n2\n", b"original_row\n0\n3\n0\n"):
        assert shop.submit_guess("blue", target["id"], guess).status_code == 202
    judge_everything()
    (cells,) = (row["cells"] for row in shop.get_board("matrix")["rows"])
    assert [cell for cell in cells if cell] == [{"correct": 1, "rate": 1 / 3, "trials": 3}]
    shop.close_attacks()
    secret = shop.arena.client.get(f"{API}/targets/{target['id']}/secret").content
    revealed = {entry["name"]: entry for entry in shop.arena.client.get(f"{API}{shop.path}/reveal").json()}
    salt = bytes.fromhex(revealed[target["name"]]["salt"])
    assert hashlib.sha256(salt + secret).hexdigest() == target["commitment"] == result["commitment"]
    source = parse_secret(secret, original_count=4, anonymized_count=3)
    assert sorted(source) == [0, 1, 2]


def test_order_of_records_in_a_target_is_uninformative(shop: Contest) -> None:
    send_release(shop, "red")
    send_release(shop, "blue")
    shop.open_attacks()
    for target in shop.list_targets("red"):
        if not target["own"]:
            path = f"/targets/{target['id']}/data/transactions.csv"
            lines = shop.arena.get(path, token=shop.arena.get_team_token("red")).text.splitlines()[1:]
            owners = [line.split(",")[0] for line in lines]
            assert owners == sorted(owners)
