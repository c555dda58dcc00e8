"""The transactions track through the API: originals, releases and targets of two files."""

import hashlib

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.templates import template
from anoncup.rules.toml_text import replace_tables
from anoncup.tracks.linkage.permutation import parse_secret
from tests.support.arena import API, Arena
from tests.support.contest import Contest, build_two_phase_toml, judge_everything
from tests.support.shop_contest import (
    CUSTOMERS,
    ORIGINAL,
    RELEASED_CUSTOMERS,
    RELEASED_TRANSACTIONS,
    TRANSACTIONS,
    shop,
    upload_file,
)
from tests.support.uploads import score_everything

__all__ = ["shop"]

pytestmark = pytest.mark.full

SECRET = "original_row\n3\n1\n2\n"


def send_release(shop: Arena, team: str = "red", **overrides: str) -> tuple[int, dict[str, object]]:
    parts = {"customers": RELEASED_CUSTOMERS, "transactions": RELEASED_TRANSACTIONS, "secret": SECRET}
    files = {name: (f"{name}.csv", content) for name, content in (parts | overrides).items() if content}
    response = shop.post("/competitions/cup-2016/submissions", team=team, files=files)
    return response.status_code, response.json()


def test_original_is_complete_after_its_second_file(shop: Arena) -> None:
    status, body = upload_file(shop, "customers", CUSTOMERS)
    assert (status, body["original_rows"]) == (200, None)
    assert [remark["code"] for remark in body["remarks"]] == ["file_missing"]  # type: ignore[attr-defined]
    response = shop.get("/competitions/cup-2016/original/customers.csv")
    assert (response.status_code, response.json()["code"]) == (404, "no_original")
    status, body = upload_file(shop, "transactions", TRANSACTIONS)
    assert (status, body["original_rows"], body["remarks"]) == (200, 4, [])
    assert set(body["original_sha256"]) == {"customers.csv", "transactions.csv"}  # type: ignore[call-overload]
    for name, content in ORIGINAL.items():
        download = shop.get(f"/competitions/cup-2016/original/{name}.csv")
        assert download.content == content.encode()


@pytest.fixture
def running_shop(client: TestClient, arena: Arena) -> Contest:
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
    return Contest(Arena(client, arena.organizer_token, "cup-2016", arena.table).publish())


def score_release(running_shop: Contest, team: str) -> str:
    """Send and score a team's release. Return its identifier."""
    status, receipt = send_release(running_shop.arena, team)
    assert status == 202, receipt
    score_everything()
    return str(receipt["id"])


def test_second_phase_ends_with_the_reveal_of_the_shuffled_secret(running_shop: Contest) -> None:
    red = score_release(running_shop, "red")
    result = running_shop.arena.get(f"/submissions/{red}").json()
    assert result["status"] == "SCORED", result
    files = {"customers.csv": RELEASED_CUSTOMERS, "transactions.csv": RELEASED_TRANSACTIONS}
    for name, content in files.items():
        assert result["sha256"][name] == hashlib.sha256(content.encode()).hexdigest()
    score_release(running_shop, "blue")
    running_shop.open_attacks()
    (target,) = (entry for entry in running_shop.list_targets("blue") if not entry["own"])
    assert (target["rows"], set(target["files"])) == (3, set(files))
    for name, digest in target["files"].items():
        path = f"/targets/{target['id']}/data/{name}"
        downloaded = running_shop.arena.get(path, team="blue").content
        assert hashlib.sha256(downloaded).hexdigest() == digest
    for guess in (b"original_row\n1\n1\n1\n", b"original_row\n2\n2\n2\n", b"original_row\n0\n3\n0\n"):
        assert running_shop.submit_guess("blue", target["id"], guess).status_code == 202
    judge_everything()
    (cells,) = (row["cells"] for row in running_shop.get_board("matrix")["rows"])
    assert [cell for cell in cells if cell] == [{"correct": 1, "rate": 1 / 3, "trials": 3}]
    running_shop.close_attacks()
    secret = running_shop.arena.client.get(f"{API}/targets/{target['id']}/secret").content
    revealed = {
        entry["name"]: entry
        for entry in running_shop.arena.client.get(f"{API}{running_shop.path}/reveal").json()
    }
    salt = bytes.fromhex(revealed[target["name"]]["salt"])
    assert hashlib.sha256(salt + secret).hexdigest() == target["commitment"] == result["commitment"]
    source = parse_secret(secret, original_count=4, anonymized_count=3)
    assert sorted(source) == [0, 1, 2]
