"""The archive of results: complete after the reveal, absent before, without names of people."""

import codecs
import csv
import io
import zipfile
from hashlib import sha256

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.core.db.models import Submission, Team, Token, User
from app.core.db.transaction import transaction
from tests.support.arena import PASSWORD
from tests.support.contest import Contest
from tests.support.database_rows import load_one
from tests.support.secret_search import find_leaks
from tests.support.two_rounds import FORMULAS, create_two_rounds, play_both_rounds

pytestmark = pytest.mark.full


def download_archive(contest: Contest) -> bytes:
    response = contest.arena.get(f"{contest.path}/archive.zip")
    assert response.status_code == 200, response.text
    content: bytes = response.content
    return content


def unpack(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def parse_table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """A contest with targets of three teams, one of them disqualified, and four guesses, of which two count."""
    contest = Contest.create(client)
    first, second, third = contest.publish_targets("red", "=2+5", "green")
    contest.submit_correct_guess("=2+5", first, 3)
    contest.submit_correct_guess("red", second, 5)
    contest.submit_correct_guess("red", third, 7)
    contest.submit_correct_guess("green", first, 7)
    green = load_one(select(Team.id).where(Team.name == "green"))
    assert contest.post_as_organizer(f"{contest.path}/teams/{green}/disqualify").status_code == 200
    return contest


def test_archive_contains_what_was_revealed(contest: Contest) -> None:
    contest.close_attacks()
    arena, files = contest.arena, unpack(download_archive(contest))
    sums = files.pop("SHA256SUMS").decode()
    assert sums.splitlines() == [
        f"{sha256(content).hexdigest()}  {name}" for name, content in sorted(files.items())
    ]
    assert files["competition.toml"] == arena.get(f"{contest.path}/competition.toml").content
    assert files["original/original.csv"] == arena.get(f"{contest.path}/original/original.csv").content
    targets = parse_table(files["targets.csv"])
    assert sorted(target["team"] for target in targets) == ["'=2+5", "red"]
    for target in targets:
        secret = files[f"secrets/{target['target']}.csv"]
        assert sha256(bytes.fromhex(target["salt"]) + secret).hexdigest() == target["commitment"]
        release = files[f"releases/{target['target']}/anonymized.csv"]
        assert len(release.splitlines()) == int(target["rows"]) + 1
    assert len([name for name in files if name.startswith(("releases/", "secrets/"))]) == 4
    for board in ("anonymization", "reidentification", "matrix"):
        for name, media_type in ((f"{board}.csv", "csv"), (board, "json")):
            public = arena.client.get(f"/api/v1{contest.path}/boards/{name}").content
            assert files[f"boards/{board}.{media_type}"] == public


def test_archive_of_a_round_contains_the_totals(client: TestClient) -> None:
    rounds = create_two_rounds(client, extra_toml=FORMULAS)
    play_both_rounds(rounds)
    final = rounds["final"]
    final.close_attacks()
    files = unpack(download_archive(final))
    for board in ("total", "attack-total"):
        for name, media_type in ((f"{board}.csv", "csv"), (board, "json")):
            public = final.arena.client.get(f"/api/v1{final.path}/boards/{name}").content
            assert files[f"boards/{board}.{media_type}"] == public


def test_archive_contains_the_guesses_that_count(contest: Contest) -> None:
    contest.close_attacks()
    files = unpack(download_archive(contest))
    guesses = parse_table(files["guesses.csv"])
    assert [(guess["team"], guess["correct"]) for guess in guesses] == [("'=2+5", "3"), ("red", "5")]
    sent = contest.arena.get(f"{contest.path}/guesses", team="red").json()
    assert guesses[1]["received_at"] == sent[1]["received_at"].replace("Z", "+00:00")
    for guess in guesses:
        assert f"releases/{guess['target']}/anonymized.csv" in files
        assert sha256(files[f"guesses/{guess['id']}.csv"]).hexdigest() == guess["sha256"]
    assert len([name for name in files if name.startswith("guesses/")]) == 2


def test_only_tables_for_people_begin_with_a_byte_order_mark(contest: Contest) -> None:
    contest.close_attacks()
    for name, content in unpack(download_archive(contest)).items():
        is_for_people = name.endswith(".csv") and name.partition("/")[0] in {"boards", name}
        assert content.startswith(codecs.BOM_UTF8) is is_for_people, name


def test_archive_contains_no_names_of_people_and_no_credentials(contest: Contest) -> None:
    contest.close_attacks()
    with transaction() as session:
        names = [*session.scalars(select(User.name))]
        hashes = [*session.scalars(select(User.password_hash))]
        tokens = [digest.hex() for digest in session.scalars(select(Token.digest))]
        withdrawn = select(Submission.commitment).join(Team).where(Team.name == "green")
        commitments = [*session.scalars(withdrawn)]
    assert len(names) >= 4
    assert commitments
    canaries = {text.encode() for text in (PASSWORD, *names, *hashes, *tokens, *commitments)}
    content = download_archive(contest)
    assert not find_leaks(content + b"\n".join(unpack(content).values()), canaries)
