"""The transactions track through the API: originals and releases of two files."""

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import API, Arena
from tests.support.shop_contest import (
    CUSTOMERS,
    ORIGINAL,
    RELEASED_CUSTOMERS,
    RELEASED_TRANSACTIONS,
    TRANSACTIONS,
    shop,
    upload_file,
    upload_originals,
)

__all__ = ["shop"]

pytestmark = pytest.mark.full

SECRET = "original_row\n3\n1\n2\n"


def send_release(shop: Arena, **overrides: str) -> tuple[int, dict[str, object]]:
    parts = {"customers": RELEASED_CUSTOMERS, "transactions": RELEASED_TRANSACTIONS, "secret": SECRET}
    files = {name: (f"{name}.csv", content) for name, content in (parts | overrides).items() if content}
    response = shop.post("/competitions/cup-2016/submissions", token=shop.get_team_token("red"), files=files)
    return response.status_code, response.json()


def test_original_is_complete_after_its_second_file(shop: Arena) -> None:
    status, body = upload_file(shop, "customers", CUSTOMERS)
    assert (status, body["original_rows"]) == (200, None)
    assert [remark["code"] for remark in body["remarks"]] == ["file_missing"]  # type: ignore[attr-defined]
    response = shop.client.get(f"{API}/competitions/cup-2016/original/customers.csv")
    assert (response.status_code, response.json()["code"]) == (404, "no_original")
    status, body = upload_file(shop, "transactions", TRANSACTIONS)
    assert (status, body["original_rows"], body["remarks"]) == (200, 4, [])
    assert set(body["original_sha256"]) == {"customers.csv", "transactions.csv"}  # type: ignore[call-overload]
    for name, content in ORIGINAL.items():
        download = shop.client.get(f"{API}/competitions/cup-2016/original/{name}.csv")
        assert download.content == content.encode()


def test_customers_must_be_uploaded_before_transactions(shop: Arena) -> None:
    status, body = upload_file(shop, "transactions", TRANSACTIONS)
    assert (status, body["code"]) == (409, "first_file_missing")


@pytest.mark.parametrize(
    ("content", "code"),
    [(TRANSACTIONS, "header"), ("\x00\x01", "header"), (CUSTOMERS + "c1,f,,Japan\n", "duplicate_customer")],
)
def test_invalid_customers_file_is_refused(shop: Arena, content: str, code: str) -> None:
    status, body = upload_file(shop, "customers", content)
    assert status == 422
    assert code in {error["code"] for error in body["errors"]}  # type: ignore[attr-defined]
    assert upload_file(shop, "transactions", TRANSACTIONS)[0] == 409


def test_transactions_of_unknown_customers_are_refused(shop: Arena) -> None:
    upload_file(shop, "customers", CUSTOMERS)
    status, body = upload_file(shop, "transactions", TRANSACTIONS.replace("c4", "c9"))
    assert status == 422
    first = body["errors"][0]  # type: ignore[index]
    assert (first["file"], first["row"], first["column"]) == ("transactions", 7, "customer_id")
    assert (first["line"], first["values"]["value"]) == (8, "c9")
    assert upload_file(shop, "transactions", TRANSACTIONS)[0] == 200


def test_new_customers_invalidate_the_transactions(shop: Arena) -> None:
    upload_originals(shop)
    status, body = upload_file(shop, "customers", CUSTOMERS.replace("Japan", "日本"))
    assert (status, body["original_rows"]) == (200, None)
    assert send_release(shop)[1]["code"] == "no_original"


def test_release_of_two_files_can_be_downloaded_again(shop: Arena) -> None:
    status, receipt = send_release(upload_originals(shop))
    assert (status, receipt["status"]) == (202, "QUEUED")
    assert set(receipt["sha256"]) == {"customers.csv", "transactions.csv"}  # type: ignore[call-overload]
    download = shop.get(
        f"/submissions/{receipt['id']}/data/transactions.csv", token=shop.get_team_token("red")
    )
    assert download.content == RELEASED_TRANSACTIONS.encode()
    assert (
        shop.get(
            f"/submissions/{receipt['id']}/data/secret.csv", token=shop.get_team_token("red")
        ).status_code
        == 404
    )
    warnings = send_release(shop)[1]["warnings"]
    assert "sent_before" in {warning["code"] for warning in warnings}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("overrides", "file", "code"),
    [
        ({"transactions": RELEASED_TRANSACTIONS.replace("p3", "p9")}, "transactions", "unknown_customer"),
        ({"customers": RELEASED_CUSTOMERS.replace("1970", "197O")}, "customers", "not_a_date"),
        ({"secret": "original_row\n3\n1\n"}, "secret", "wrong_length"),
        ({"transactions": ""}, "transactions", "missing_file"),
    ],
)
def test_malformed_release_reports_the_file(
    shop: Arena, client: TestClient, overrides: dict[str, str], file: str, code: str
) -> None:
    status, body = send_release(upload_originals(shop), **overrides)
    assert status == 422
    first = body["errors"][0] if "errors" in body else {"file": file, "code": body["code"]}  # type: ignore[index]
    assert (first["file"], first["code"]) == (file, code)
    assert shop.get("/competitions/cup-2016/submissions", token=shop.get_team_token("red")).json() == []
