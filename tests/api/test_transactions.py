"""The transactions track through the API: an original of two files, releases of two files."""

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import API, Arena
from tests.support.shop_contest import ORIGINAL, filled, put, shop
from tests.support.shop_files import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS

__all__ = ["shop"]

pytestmark = pytest.mark.full

SECRET = "original_row\n3\n1\n2\n"


def send(shop: Arena, **changed: str) -> tuple[int, dict[str, object]]:
    parts = {"customers": RELEASED_CUSTOMERS, "transactions": RELEASED_TRANSACTIONS, "secret": SECRET}
    files = {name: (f"{name}.csv", content) for name, content in (parts | changed).items() if content}
    answer = shop.post("/competitions/cup-2016/submissions", token=shop.team("red"), files=files)
    return answer.status_code, answer.json()


def test_the_original_is_complete_with_its_second_file(shop: Arena) -> None:
    status, found = put(shop, "customers", CUSTOMERS)
    assert (status, found["original_rows"]) == (200, None)
    assert [remark["code"] for remark in found["remarks"]] == ["file_missing"]  # type: ignore[attr-defined]
    hidden = shop.client.get(f"{API}/competitions/cup-2016/original/customers.csv")
    assert (hidden.status_code, hidden.json()["code"]) == (404, "no_original")
    status, found = put(shop, "transactions", TRANSACTIONS)
    assert (status, found["original_rows"], found["remarks"]) == (200, 4, [])
    assert set(found["original_sha256"]) == {"customers.csv", "transactions.csv"}  # type: ignore[call-overload]
    for name, content in ORIGINAL.items():
        got = shop.client.get(f"{API}/competitions/cup-2016/original/{name}.csv")
        assert got.content == content.encode()


def test_the_transactions_come_second(shop: Arena) -> None:
    status, found = put(shop, "transactions", TRANSACTIONS)
    assert (status, found["code"]) == (409, "first_file_missing")


@pytest.mark.parametrize(
    ("content", "code"),
    [(TRANSACTIONS, "header"), ("\x00\x01", "header"), (CUSTOMERS + "c1,f,,Japan\n", "duplicate_customer")],
)
def test_a_wrong_first_file_is_refused_at_once(shop: Arena, content: str, code: str) -> None:
    status, found = put(shop, "customers", content)
    assert status == 422
    assert code in {each["code"] for each in found["errors"]}  # type: ignore[attr-defined]
    assert put(shop, "transactions", TRANSACTIONS)[0] == 409


def test_transactions_of_strangers_are_refused_and_the_customers_stay(shop: Arena) -> None:
    put(shop, "customers", CUSTOMERS)
    status, found = put(shop, "transactions", TRANSACTIONS.replace("c4", "c9"))
    assert status == 422
    first = found["errors"][0]  # type: ignore[index]
    assert (first["file"], first["row"], first["column"]) == ("transactions", 7, "customer_id")
    assert (first["line"], first["values"]["value"]) == (8, "c9")
    assert put(shop, "transactions", TRANSACTIONS)[0] == 200


def test_new_customers_ask_for_their_transactions(shop: Arena) -> None:
    filled(shop)
    status, found = put(shop, "customers", CUSTOMERS.replace("Japan", "日本"))
    assert (status, found["original_rows"]) == (200, None)
    assert send(shop)[1]["code"] == "no_original"


def test_a_release_of_two_files_is_taken_and_given_back(shop: Arena) -> None:
    status, receipt = send(filled(shop))
    assert (status, receipt["status"]) == (202, "QUEUED")
    assert set(receipt["sha256"]) == {"customers.csv", "transactions.csv"}  # type: ignore[call-overload]
    got = shop.get(f"/submissions/{receipt['id']}/data/transactions.csv", token=shop.team("red"))
    assert got.content == RELEASED_TRANSACTIONS.encode()
    assert (
        shop.get(f"/submissions/{receipt['id']}/data/secret.csv", token=shop.team("red")).status_code == 404
    )
    again = send(shop)[1]["warnings"]
    assert "sent_before" in {each["code"] for each in again}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changed", "file", "code"),
    [
        ({"transactions": RELEASED_TRANSACTIONS.replace("p3", "p9")}, "transactions", "unknown_customer"),
        ({"customers": RELEASED_CUSTOMERS.replace("1970", "197O")}, "customers", "not_a_date"),
        ({"secret": "original_row\n3\n1\n"}, "secret", "wrong_length"),
        ({"transactions": ""}, "transactions", "missing_file"),
    ],
)
def test_a_malformed_release_names_its_file(
    shop: Arena, client: TestClient, changed: dict[str, str], file: str, code: str
) -> None:
    status, found = send(filled(shop), **changed)
    assert status == 422
    first = found["errors"][0] if "errors" in found else {"file": file, "code": found["code"]}  # type: ignore[index]
    assert (first["file"], first["code"]) == (file, code)
    assert shop.get("/competitions/cup-2016/submissions", token=shop.team("red")).json() == []
