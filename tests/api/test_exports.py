"""The export: everything of one competition, and nothing that is secret."""

import csv
import io
import json
from hashlib import sha256
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text

from app.config import Settings
from app.db import engine
from app.db.models import Secret, Token, User
from app.db.transaction import transaction
from app.http import archives
from tests.support.archives import export_of, unpacked
from tests.support.arena import PASSWORD, Arena, competition_file, noisy_release
from tests.support.contest import Contest
from tests.support.secret_search import needles, seen
from tests.support.uploads import score_everything

pytestmark = pytest.mark.full


def table_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def lines_of(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


@pytest.fixture
def played(client: TestClient) -> Contest:
    """A contest in its second phase: two teams' submissions, one of them rejected; a guess."""
    contest = Contest.opened(client)
    first = contest.submit("red")
    contest.submit("=2+5")
    turned = contest.arena.table.iloc[::-1].reset_index(drop=True).to_csv(index=False).encode()
    secret = ("original_row\n" + "".join(f"{row + 1}\n" for row in range(len(turned.split()) - 1))).encode()
    assert contest.arena.submit("red", anonymized=turned, secret=secret).status_code == 202
    score_everything()
    contest.attack()
    contest.guessed("=2+5", first, 3)
    return contest


def test_an_export_holds_what_was_handed_in_and_every_verdict(played: Contest) -> None:
    arena, files = played.arena, unpacked(played.arena)
    assert files["competition.toml"] == arena.get("/competitions/small/competition.toml").content
    submissions = table_of(files["submissions.csv"])
    assert [row["state"] for row in submissions] == ["SCORED", "SCORED", "REJECTED"]
    for row in submissions:
        kept = files[f"submissions/{row['id']}/anonymized.csv"]
        assert sha256(kept).hexdigest() == row["sha256 of anonymized.csv"]
    evaluations = lines_of(files["evaluations.jsonl"])
    assert [one["submission_id"] for one in evaluations] == [row["id"] for row in submissions]
    shown = arena.get(f"/submissions/{submissions[0]['id']}").json()
    assert (evaluations[0]["verdict"], evaluations[0]["scorer"]) == (shown["result"], shown["scorer"])
    assert [team["name"] for team in table_of(files["teams.csv"])] == ["red", "'=2+5"]
    assert [team["members"] for team in table_of(files["teams.csv"])] == ["1", "1"]
    for board in ("anonymization", "matrix", "reidentification"):
        assert files[f"boards/{board}.csv"] == arena.get(f"/competitions/small/boards/{board}.csv").content


def test_an_export_holds_the_second_phase_and_the_audit_log(played: Contest) -> None:
    files = unpacked(played.arena)
    (guess,) = table_of(files["guesses.csv"])
    assert (guess["team"], guess["correct"], guess["answered"]) == ("'=2+5", "3", "3")
    assert sha256(files[f"guesses/{guess['id']}.csv"]).hexdigest() == guess["sha256"]
    targets = table_of(files["targets.csv"])
    assert guess["target"] in {target["name"] for target in targets}
    assert {target["submission_id"] for target in targets} <= set(played.secrets)
    assert {target["team"] for target in targets} == {"red", "'=2+5"}
    logged = table_of(files["audit.csv"])
    assert [row["action"] for row in logged][:2] == ["competition.create", "original.upload"]
    assert len(logged) == len(played.arena.get("/competitions/small/audit").json())
    assert json.loads(logged[0]["after"])["sha256"]


def test_an_earlier_verdict_stays_in_the_export_beside_the_current_one(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    begun = arena.post("/competitions/small/rescores", content=competition_file(threshold=0.3))
    assert begun.status_code == 202, begun.text
    score_everything()
    assert arena.post(f"/rescores/{begun.json()['id']}/apply").status_code == 200
    found = lines_of(unpacked(arena)["evaluations.jsonl"])
    assert [(one["submission_id"], one["current"]) for one in found] == [
        (identifier, False),
        (identifier, True),
    ]


def test_no_secret_and_nothing_that_signs_in_is_in_an_export(played: Contest) -> None:
    with transaction() as session:
        boxes = [(one.sealed, one.commitment) for one in session.scalars(select(Secret))]
        digests = list(session.scalars(select(Token.digest)))
        hashes = list(session.scalars(select(User.password_hash)))
        people = list(session.scalars(select(User.name).where(User.name.like("member %"))))
    canaries = {PASSWORD.encode(), *(one.encode() for one in hashes), *(one.encode() for one in people)}
    for raw in (*(box for box, _ in boxes), *digests):
        canaries |= {raw[:16], raw[-16:], raw.hex().encode()[:32], raw[:16].hex().encode()}
    tokens = {token.encode() for token in (*played.arena.tokens.values(), played.arena.organizer)}
    secrets = [
        needles(b"original_row\n" + b"".join(b"%d\n" % (row + 1) for row in source))
        for source in played.secrets.values()
    ]
    content = b"\n".join(unpacked(played.arena).values()) + export_of(played.arena).content
    assert len(boxes) == 3
    assert not seen(content, canaries | tokens | set().union(*secrets))


def test_an_export_is_the_same_bytes_until_something_happens(played: Contest) -> None:
    before = export_of(played.arena)
    assert export_of(played.arena).content == before.content
    assert int(before.headers["content-length"]) == len(before.content)
    played.arena.post("/competitions/small/announcements", json={"text": {"en": "hello"}})
    assert export_of(played.arena).content != before.content


def test_a_text_that_would_be_a_formula_is_none_in_any_table(arena: Arena) -> None:
    table, secret = noisy_release(1, arena.table)
    files = {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}
    token = arena.team("@SUM(A1)")
    data = {"comment": "=cmd|' /C calc'!A0"}
    answer = arena.post("/competitions/small/submissions", token=token, files=files, data=data)
    assert answer.status_code == 202
    score_everything()
    for name, content in unpacked(arena).items():
        if name.endswith(".csv") and "/" not in name.replace("boards/", ""):
            for row in csv.reader(io.StringIO(content.decode(), newline="")):
                assert not [cell for cell in row if cell[:1] in set("=+@\t\r")], name
    assert table_of(unpacked(arena)["submissions.csv"])[0]["comment"].startswith("'=cmd")


def test_an_export_holds_nothing_of_another_competition(client: TestClient) -> None:
    elsewhere, arena = Arena.opened(client, slug="elsewhere"), Arena.opened(client)
    theirs, ours = elsewhere.submit("green").json()["id"], arena.submit("red").json()["id"]
    score_everything()
    files = unpacked(arena)
    content = b"\n".join([*files.values(), *(name.encode() for name in files)])
    assert ours.encode() in content
    assert not seen(content, {theirs.encode(), b"green", b"elsewhere"})


def test_a_large_export_passes_through_the_disk(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.submit("red")
    whole = export_of(arena).content
    monkeypatch.setattr(archives, "IN_MEMORY", 100)
    monkeypatch.setattr(archives, "PIECE", 10)
    assert export_of(arena).content == whole


def test_a_file_that_is_lost_is_said_before_the_download_begins(arena: Arena, settings: Settings) -> None:
    arena.submit("red")
    for blob in (settings.data / "blobs").rglob("*"):
        if blob.is_file():
            blob.rename(blob.with_suffix(".gone"))
    try:
        answer = arena.get("/competitions/small/export.zip")
    finally:
        for blob in (settings.data / "blobs").rglob("*.gone"):
            blob.rename(blob.with_suffix(""))
    assert (answer.status_code, answer.json()["code"]) == (404, "file_lost")


def test_an_export_leaves_the_connection_as_it_was(arena: Arena) -> None:
    for _ in range(12):  # every connection of the pool
        export_of(arena)
    with engine.get_engine().connect() as connection:
        assert connection.execute(text("SHOW transaction_isolation")).scalar_one() == "read committed"
