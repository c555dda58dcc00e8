"""The archive of results: complete after the reveal, absent before, without names of people."""

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
from tests.support.secret_search import find_leaks

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
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.fixture
def contest(client: TestClient) -> Contest:
    """A contest with targets of three teams, one of them disqualified, and two guesses."""
    contest = Contest.create(client)
    first, second, third = contest.publish_targets("red", "=2+5", "green")
    contest.submit_correct_guess("=2+5", first, 3)
    contest.submit_correct_guess("red", second, 5)
    assert contest.arena.post(f"/submissions/{third}/disqualify", json={"reason": "late"}).status_code == 200
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
