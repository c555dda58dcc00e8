"""Canaries: secrets are planted, then searched for in everything the service returns or stores."""

import itertools
import json
import logging
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text

from anoncup.errors import Unavailable
from anoncup.tracks.linkage.permutation import write_secret
from app.config import Settings
from app.core import sealing
from app.core.db import engine
from app.core.db.models import Secret, Submission
from app.core.storage import compute_digest
from app.jobs import queue
from app.operations.embedded_servers import EmbeddedServices
from app.operations.local_service import build_environments
from tests.security.access_requests import create_password_code
from tests.security.access_scenario import AccessScenario
from tests.support.arena import API, PASSWORD, Arena, build_noisy_release
from tests.support.database_rows import load_all, load_one
from tests.support.secret_search import build_needles, find_leaks, iterate_database_cells, iterate_files
from tests.support.stored_files import build_blob_path
from tests.support.uploads import score_everything


@pytest.fixture
def scenario(client: TestClient) -> AccessScenario:
    return AccessScenario.open(client)


@pytest.mark.parametrize(
    "spelling",
    [
        lambda rows: "\n".join(str(row + 1) for row in rows).encode(),
        lambda rows: "\r\n".join(str(row) for row in rows).encode(),
        lambda rows: json.dumps([int(row) for row in rows]).encode(),
        lambda rows: json.dumps({"rows": [int(row) + 1 for row in rows]}, separators=(",", ":")).encode(),
        lambda rows: json.dumps("\n".join(str(row + 1) for row in rows)).encode(),
        lambda rows: json.dumps([int(row) for row in np.argsort(rows)]).encode(),
        lambda rows: rows.astype("<i8").tobytes(),
        write_secret,
    ],
)
def test_search_finds_a_planted_secret(spelling: Any) -> None:
    rows = np.random.default_rng(3).permutation(40)
    assert find_leaks(b"before " + spelling(rows) + b" after", build_needles(write_secret(rows)))
    assert not find_leaks(
        spelling(rows), build_needles(write_secret(np.random.default_rng(4).permutation(40)))
    )


def test_receipt_contains_no_secret(arena: Arena) -> None:
    _, secret = build_noisy_release(23, arena.table)
    response = arena.submit("red", seed=23)
    assert response.status_code == 202
    assert not find_leaks(response.content, build_needles(secret))


@pytest.mark.full
def test_error_logs_contain_no_secrets_or_passwords(
    arena: Arena,
    settings: Settings,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    canaries = score_lost_submission(arena, settings) | {PASSWORD.encode()}
    arena.client.post(f"{API}/tokens", json={"name": "nobody", "password": PASSWORD})
    arena.client.post(f"{API}/tokens", json={"name": "nobody", "password": [PASSWORD]})
    captured = capfd.readouterr()
    log_text = captured.out + captured.err + caplog.text
    assert "work_turned_away" in log_text
    assert not find_leaks(log_text.encode(), canaries)


def score_lost_submission(arena: Arena, settings: Settings) -> set[bytes]:
    """Score a submission whose file is missing, which the worker logs, and return its canaries."""
    table, secret = build_noisy_release(29, arena.table)
    identifier = arena.submit("red", seed=29).json()["id"]
    build_blob_path(settings.data, compute_digest(table)).unlink()
    score_everything()
    assert not find_leaks(json.dumps(arena.get_submission(identifier, "red")).encode(), build_needles(secret))
    return build_needles(secret)


def test_internal_error_reveals_no_secret(
    arena: Arena,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(sealing, "seal", fail)
    # A plain client, since the test client's contract check knows no status 500.
    arena.client = TestClient(arena.client.app, base_url="http://localhost", raise_server_exceptions=False)
    response = arena.submit("red", seed=31)
    captured = capfd.readouterr()
    assert response.status_code == 500
    output = response.content + (captured.out + captured.err + caplog.text).encode()
    assert not find_leaks(output, build_needles(build_noisy_release(31, arena.table)[1]))
    assert b"a fault of ours" not in response.content


def test_database_contains_no_secrets_passwords_or_tokens(
    scenario: AccessScenario,
) -> None:
    code = scenario.arena.post(f"/competitions/{scenario.arena.slug}/invites", json={}).json()["code"]
    codes = [code, create_password_code(scenario)]
    clear_texts = [PASSWORD, *codes, scenario.arena.organizer_token, *scenario.arena.team_tokens.values()]
    canaries = build_needles(scenario.secret) | {canary.encode() for canary in clear_texts}
    cells = 0
    for location, content in iterate_database_cells():
        assert not find_leaks(content, canaries), location
        cells += 1
    assert cells > 100


@pytest.mark.full
def test_queue_contains_no_upload_data(arena: Arena) -> None:
    _, secret = build_noisy_release(37, arena.table)
    assert arena.submit("red", seed=37).status_code == 202
    with queue.celery.connection_for_write() as connection:
        redis = connection.default_channel.client
        messages = [bytes(message) for message in redis.lrange(queue.QUEUES[queue.SCORE], 0, -1)]
    assert len(messages) == 1
    assert not find_leaks(
        b"".join(messages), build_needles(secret) | {PASSWORD.encode(), arena.get_team_token("red").encode()}
    )
    assert len(messages[0]) < 2_000


@pytest.mark.full
def test_files_except_private_keys_contain_no_secret(
    scenario: AccessScenario, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The search covers blobs, database files with the write-ahead log, queue files and logs."""
    canaries = build_needles(scenario.secret) | {PASSWORD.encode(), scenario.arena.organizer_token.encode()}
    with engine.get_engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("CHECKPOINT"))
    servers = next(tmp_path_factory.getbasetemp().glob("servers*"))
    files = itertools.chain(iterate_files(settings.data), iterate_files(servers))
    leaks = {path: find_leaks(content, canaries) for path, content in files}
    assert {path: leak for path, leak in leaks.items() if leak} == {}
    assert any("blobs" in path.parts for path in leaks)


WRONG_SECRETS = {
    "out of range": (["31337"], ["27182"]),
    "not a number": (["hunter2"], ["swordfish"]),
    "negative": (["-31337"], ["-27182"]),
    "too many": (["31337", "31338"], ["27182", "27183"]),
    "decimal": (["31337.5"], ["27182.5"]),
}


@pytest.mark.parametrize("case", WRONG_SECRETS.values(), ids=WRONG_SECRETS)
def test_wrong_secrets_with_the_same_error_get_the_same_response(
    arena: Arena, case: tuple[list[str], list[str]]
) -> None:
    """Hence responses neither depend on the values of the secret nor repeat them."""
    lines = build_noisy_release(1, arena.table)[1].decode().split()
    responses = []
    for values in case:
        wrong = ("\n".join([*lines[: -len(values)], *values]) + "\n").encode()
        responses.append(arena.submit("red", secret=wrong))
    assert [response.status_code for response in responses] == [422, 422]
    assert responses[0].content == responses[1].content
    assert not any(value.encode() in responses[0].content for value in case[0])


def test_misplaced_secret_is_not_repeated(arena: Arena) -> None:
    table, secret = build_noisy_release(1, arena.table)
    path = f"/competitions/{arena.slug}/submissions"
    as_table = arena.submit("red", anonymized=secret, secret=table)
    as_text = arena.post(path, team="red", data={"secret": secret.decode()}, files={"x": b""})
    as_json = arena.post(path, team="red", json={"secret": secret.decode()})
    for response in (as_table, as_text, as_json):
        assert response.status_code == 422
        assert not find_leaks(response.content, build_needles(secret))


def test_refused_password_is_not_repeated(client: TestClient) -> None:
    secret = "x7Q-canary"
    wrong_types: list[Any] = [[secret], {"password": secret}, {secret: 1}]
    for password in wrong_types:
        response = client.post(f"{API}/tokens", json={"name": "somebody", "password": password})
        assert response.status_code == 422
        assert secret not in response.text
    body = {"invite": "x", "team": "y", "name": "z", "password": secret}
    assert secret not in client.post(f"{API}/signup", json=body).text
    assert secret not in client.post(f"{API}/signup", content=json.dumps(body)[:-1]).text
    headers = {"Sec-Fetch-Site": "same-origin"}
    page = client.post("/sign-in", data={"name": "somebody", "password": secret}, headers=headers)
    assert page.status_code == 401
    assert secret not in page.text


def load_secret(submission_id: str) -> Secret:
    return load_one(select(Secret).where(Secret.submission_id == UUID(submission_id)))


@pytest.mark.full
def test_sealed_secret_opens_only_with_its_key_and_for_its_submission(
    scenario: AccessScenario, settings: Settings, services: EmbeddedServices, tmp_path: Path
) -> None:
    row = load_secret(scenario.submission_id)
    damaged = row.sealed[:-1] + bytes([row.sealed[-1] ^ 1])

    def open_secret(folder: Path | None, box: bytes, owner: UUID) -> bytes:
        return sealing.open_sealed(folder, key_id=row.key_id, box=box, bound_to=owner)

    assert open_secret(settings.opening_keys_dir, row.sealed, row.submission_id) == scenario.secret
    for folder, box, owner, reason in (
        (None, row.sealed, row.submission_id, "private key"),
        (tmp_path, row.sealed, row.submission_id, "private key"),
        (settings.sealing_key_file, row.sealed, row.submission_id, "private key"),
        (settings.opening_keys_dir, damaged, row.submission_id, "does not open"),
        (settings.opening_keys_dir, row.sealed, uuid4(), "another submission"),
    ):
        with pytest.raises(Unavailable, match=reason):
            open_secret(folder, box, owner)
    env = build_environments(services, tmp_path / "fresh")
    assert set(env.shared | env.web) == {
        "DATABASE_URL",
        "REDIS_URL",
        "ANONCUP_DATA",
        "ANONCUP_SEALING_KEY_FILE",
        "ANONCUP_SANDBOX",
    }


@pytest.mark.full
def test_equal_secrets_have_different_commitments_and_ciphertexts(arena: Arena) -> None:
    receipts = [arena.submit(team, seed=43).json() for team in ("red", "red", "blue")]
    assert len({receipt["commitment"] for receipt in receipts}) == 3
    assert len({load_secret(receipt["id"]).sealed for receipt in receipts}) == 3


def test_private_keys_are_readable_only_by_their_owner(settings: Settings) -> None:
    assert settings.opening_keys_dir is not None
    assert settings.opening_keys_dir.stat().st_mode & 0o077 == 0
    for key in settings.opening_keys_dir.iterdir():
        assert key.stat().st_mode & 0o077 == 0


@pytest.mark.full
def test_refused_upload_stores_no_secret(arena: Arena, settings: Settings) -> None:
    _, secret = build_noisy_release(47, arena.table)
    assert arena.submit("red", seed=47, anonymized=b"wrong").status_code == 422
    assert load_all(select(Submission)) == []
    for path, content in iterate_files(settings.data):
        assert not find_leaks(content, build_needles(secret)), path
