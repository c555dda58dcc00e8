"""The export holds everything of one competition except secrets."""

import csv
import io
import json
import zipfile
from hashlib import sha256
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, text

from app.config import Settings
from app.core.db import engine
from app.core.db.models import Secret, Token, User
from app.core.db.transaction import transaction
from tests.support.arena import PASSWORD, Arena, build_noisy_release
from tests.support.contest import Contest
from tests.support.secret_search import build_needles, find_leaks
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def download_export(arena: Arena) -> Response:
    response = arena.get(f"/competitions/{arena.slug}/export.zip")
    assert response.status_code == 200, response.text
    return response


def unpack_export(arena: Arena) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(download_export(arena).content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def parse_table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def parse_json_lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


@pytest.fixture
def attacked_contest(client: TestClient) -> Contest:
    """A contest in its second phase with submissions of two teams, one rejected, and a guess."""
    contest = Contest.create(client)
    first = contest.submit("red")
    contest.submit("=2+5")
    reversed_csv = contest.arena.table.iloc[::-1].reset_index(drop=True).to_csv(index=False).encode()
    secret = (
        "original_row\n" + "".join(f"{row + 1}\n" for row in range(len(reversed_csv.split()) - 1))
    ).encode()
    assert contest.arena.submit("red", anonymized=reversed_csv, secret=secret).status_code == 202
    score_everything()
    contest.open_attacks()
    contest.submit_correct_guess("=2+5", first, 3)
    return contest


def test_export_contains_every_submission_and_verdict(attacked_contest: Contest) -> None:
    arena, files = attacked_contest.arena, unpack_export(attacked_contest.arena)
    assert files["competition.toml"] == arena.get("/competitions/small/competition.toml").content
    submissions = parse_table(files["submissions.csv"])
    assert [row["state"] for row in submissions] == ["SCORED", "SCORED", "REJECTED"]
    for row in submissions:
        content = files[f"submissions/{row['id']}/anonymized.csv"]
        assert sha256(content).hexdigest() == row["sha256 of anonymized.csv"]
    evaluations = parse_json_lines(files["evaluations.jsonl"])
    assert [evaluation["submission_id"] for evaluation in evaluations] == [row["id"] for row in submissions]
    submission = arena.get(f"/submissions/{submissions[0]['id']}").json()
    assert (evaluations[0]["verdict"], evaluations[0]["scorer"]) == (
        submission["result"],
        submission["scorer"],
    )
    assert [team["name"] for team in parse_table(files["teams.csv"])] == ["red", "'=2+5"]
    assert [team["members"] for team in parse_table(files["teams.csv"])] == ["1", "1"]
    for board in ("anonymization", "matrix", "reidentification"):
        assert files[f"boards/{board}.csv"] == arena.get(f"/competitions/small/boards/{board}.csv").content


def test_export_contains_second_phase_and_audit_log(attacked_contest: Contest) -> None:
    files = unpack_export(attacked_contest.arena)
    (guess,) = parse_table(files["guesses.csv"])
    assert (guess["team"], guess["correct"], guess["answered"]) == ("'=2+5", "3", "3")
    assert sha256(files[f"guesses/{guess['id']}.csv"]).hexdigest() == guess["sha256"]
    targets = parse_table(files["targets.csv"])
    assert guess["target"] in {target["name"] for target in targets}
    assert {target["submission_id"] for target in targets} <= set(attacked_contest.secrets)
    assert {target["team"] for target in targets} == {"red", "'=2+5"}
    audit_rows = parse_table(files["audit.csv"])
    assert [row["action"] for row in audit_rows][:2] == ["competition.create", "original.upload"]
    assert len(audit_rows) == len(attacked_contest.arena.get("/competitions/small/audit").json())
    assert json.loads(audit_rows[0]["after"])["sha256"]


def test_export_contains_no_secrets_or_credentials(attacked_contest: Contest) -> None:
    with transaction() as session:
        sealed_secrets = list(session.scalars(select(Secret.sealed)))
        digests = list(session.scalars(select(Token.digest)))
        hashes = list(session.scalars(select(User.password_hash)))
        names = list(session.scalars(select(User.name).where(User.name.like("member %"))))
    canaries = {PASSWORD.encode(), *(item.encode() for item in hashes), *(item.encode() for item in names)}
    for raw in (*sealed_secrets, *digests):
        canaries |= {raw[:16], raw[-16:], raw.hex().encode()[:32], raw[:16].hex().encode()}
    tokens = {
        token.encode()
        for token in (*attacked_contest.arena.team_tokens.values(), attacked_contest.arena.organizer_token)
    }
    secrets = [
        build_needles(b"original_row\n" + b"".join(b"%d\n" % (row + 1) for row in source))
        for source in attacked_contest.secrets.values()
    ]
    content = (
        b"\n".join(unpack_export(attacked_contest.arena).values())
        + download_export(attacked_contest.arena).content
    )
    assert len(sealed_secrets) == 3
    assert not find_leaks(content, canaries | tokens | set().union(*secrets))


def test_export_escapes_formulas_in_every_table(arena: Arena) -> None:
    table, secret = build_noisy_release(1, arena.table)
    files = {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}
    token = arena.get_team_token("@SUM(A1)")
    data = {"comment": "=cmd|' /C calc'!A0"}
    response = arena.post("/competitions/small/submissions", token=token, files=files, data=data)
    assert response.status_code == 202
    score_everything()
    for name, content in unpack_export(arena).items():
        if name.endswith(".csv") and "/" not in name.replace("boards/", ""):
            for row in csv.reader(io.StringIO(content.decode(), newline="")):
                assert not [cell for cell in row if cell[:1] in set("=+@\t\r")], name
    assert parse_table(unpack_export(arena)["submissions.csv"])[0]["comment"].startswith("'=cmd")


def test_export_contains_only_its_competition(client: TestClient) -> None:
    other_arena, arena = Arena.create(client, slug="elsewhere"), Arena.create(client)
    other_id, own_id = other_arena.submit("green").json()["id"], arena.submit("red").json()["id"]
    score_everything()
    files = unpack_export(arena)
    content = b"\n".join([*files.values(), *(name.encode() for name in files)])
    assert own_id.encode() in content
    assert not find_leaks(content, {other_id.encode(), b"green", b"elsewhere"})


def test_missing_file_is_reported_before_the_download_starts(arena: Arena, settings: Settings) -> None:
    arena.submit("red")
    for blob in (settings.data / "blobs").rglob("*"):
        if blob.is_file():
            blob.rename(blob.with_suffix(".gone"))
    try:
        response = arena.get("/competitions/small/export.zip")
    finally:
        for blob in (settings.data / "blobs").rglob("*.gone"):
            blob.rename(blob.with_suffix(""))
    assert (response.status_code, response.json()["code"]) == (404, "file_lost")


def test_export_resets_the_isolation_level_of_its_connection(arena: Arena) -> None:
    for _ in range(12):  # every connection of the pool
        download_export(arena)
    with engine.get_engine().connect() as connection:
        assert connection.execute(text("SHOW transaction_isolation")).scalar_one() == "read committed"
