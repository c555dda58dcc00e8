"""Releases where the service has drawn the answer: none is sent, and the one that was drawn is sealed."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from anoncup.errors import InvalidUpload
from anoncup.plugins import BUILT_IN, TRACKS
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import Draw
from app.db.transaction import transaction
from app.http.multipart import Parts
from app.http.uploads import submitted
from app.services.submissions import uploads
from app.storage import store
from tests.support.arena import Arena, competition_file, noisy_release
from tests.support.phase_changes import member
from tests.web.reader import page

pytestmark = pytest.mark.full

UNSHUFFLED = "[publication]\nshuffle_targets = false\n"


@pytest.fixture
def arena(client: TestClient) -> Arena:
    return Arena.opened(client, file=competition_file(more=UNSHUFFLED))


def draw_answers(patch: pytest.MonkeyPatch) -> None:
    drawn = Draw((FileSpec("secret"),), each_team=True, make=lambda *_: {})
    patch.setitem(TRACKS, "microdata", replace(BUILT_IN["microdata"], draw=drawn))


def test_what_was_drawn_takes_the_place_of_a_secret(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    person = member(arena, "red")
    with transaction() as session:
        at = uploads.entrance(session, person, arena.slug, key=None)
    table, secret = noisy_release(1, arena.table)
    sent = uploads.read_upload(at, files={"anonymized": table}, secret=secret, comment="")
    assert at.names == ("anonymized", "secret")
    draw_answers(monkeypatch)
    own = replace(at, own={"secret": store().put(secret)})
    assert own.names == ("anonymized",)
    drawn = uploads.read_upload(own, files={"anonymized": table}, secret=None, comment="")
    assert (drawn.secret, drawn.files, drawn.sizes) == (sent.secret, sent.files, sent.sizes)
    assert drawn.fingerprint == uploads.fingerprint({"anonymized": table}) != sent.fingerprint


@pytest.mark.parametrize("texts", [{}, {"secret": "original_row"}])
def test_a_secret_that_nobody_asked_for_is_refused(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    person = member(arena, "red")
    with transaction() as session:
        at = uploads.entrance(session, person, arena.slug, key=None)
    draw_answers(monkeypatch)
    files = {} if texts else {"secret": None}
    with pytest.raises(InvalidUpload) as refused:
        submitted(person, at, Parts(files, texts))  # type: ignore[arg-type]  # its content is not looked at
    (problem,) = refused.value.problems
    assert (problem.file, problem.code, problem.value) == ("secret", "answer_is_drawn", None)


def test_the_form_asks_for_no_secret(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/competitions/{arena.slug}/submissions"
    assert 'id="secret"' in page(arena, path, team="red").text
    draw_answers(monkeypatch)
    shown = page(arena, path, team="red").text
    assert 'id="anonymized"' in shown
    assert 'id="secret"' not in shown
    assert "Nothing secret is sent" in shown
