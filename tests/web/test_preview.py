"""What a link shows before it is opened: a picture of what every visitor may see, and no more."""

import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
import resvg_py
from fastapi.testclient import TestClient

from app.charts.card import Card, Place, card, wrapped
from app.charts.svg import width_of
from app.config import get_settings
from app.db.transaction import transaction
from app.web.site import raster
from app.web.visitor import preview
from tests.support.arena import API
from tests.support.contest import Contest
from tests.support.step_counter import steps_of
from tests.web.figures import EN, HOSTILE, JA

OUTSIDE = "https://cup.example.org"
needs_font = pytest.mark.skipif(not raster.present(), reason="no font is installed")


@pytest.fixture
def contest(client: TestClient) -> Contest:
    made = Contest.opened(client)
    for team in ("red", "blue"):
        made.submit(team)
    return made


def seen(slug: str = "small") -> str:
    with transaction() as session:
        return "".join(ET.fromstring(preview.preview(session, slug, EN)).itertext())


def picture(contest: Contest, **headers: str) -> tuple[int, bytes, str]:
    answer = contest.arena.client.get("/competitions/small/picture.png", headers=headers)
    return answer.status_code, answer.content, answer.headers["etag"]


@needs_font
def test_the_picture_is_a_png_of_the_size_that_previews_have(contest: Contest) -> None:
    status, content, tag = picture(contest)
    assert status == 200
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert len(content) < 300_000
    assert picture(contest, **{"If-None-Match": tag})[:2] == (304, b"")
    contest.submit("green")
    again, other, fresh = picture(contest, **{"If-None-Match": tag})
    assert (again, fresh) != (304, tag)
    assert other != content


@needs_font
@pytest.mark.full
def test_it_has_title_phase_and_podium_as_a_visitor_sees_them(contest: Contest) -> None:
    words = seen()
    board = contest.board()
    for row in board["rows"]:
        assert row["team"] in words
        assert f"{row['overall']:.4f}" in words
    assert "Small cup" in words
    assert "Anonymization phase" in words
    member = contest.arena.client.get("/competitions/small/picture.png", headers=signed_in(contest))
    assert member.content == picture(contest)[1], "a member's link shows what a visitor's does"


def signed_in(contest: Contest) -> dict[str, str]:
    return {"Cookie": f"anoncup_session={contest.arena.session(contest.arena.team('red'))}"}


@needs_font
@pytest.mark.full
@pytest.mark.parametrize("who", ["teams", "organizers"])
def test_where_the_board_is_not_public_it_has_no_team(client: TestClient, who: str) -> None:
    contest = Contest.opened(client, more=f'[publication]\nboard = "{who}"')
    contest.submit("red")
    words = seen()
    assert "Small cup" in words
    assert "red" not in words
    assert not re.search(r"0\.\d", words)


@pytest.mark.full
def test_before_the_reveal_it_is_drawn_from_what_the_board_shows(contest: Contest) -> None:
    with transaction() as session:
        board = preview.public_board(session, "small")
    told = contest.board()
    assert board is not None
    assert board.digits == told["digits"] == 2
    assert [(row.utility, row.security) for row in board.rows] == [
        (row["utility"], row["security"]) for row in told["rows"]
    ]


def test_names_that_no_font_has_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "DRAWN", {"ASCII": True, "HIRAGANA": False, "CJK": False})
    assert [raster.legible(name) for name in ("Team 1", "いろは", "team 匿", "")] == ["Team 1", "", "", ""]
    monkeypatch.setattr(raster, "DRAWN", {})
    assert not raster.drawable(raster.NEVER)


def test_a_letter_is_found_where_dejavu_is_the_only_font() -> None:
    fonts = sorted(map(str, Path("/usr/share/fonts").rglob("DejaVuSans.ttf")))
    if not fonts:
        pytest.skip("DejaVuSans.ttf is not installed")
    seen = [
        resvg_py.svg_to_bytes(svg_string=raster.alone(one), skip_system_fonts=True, font_files=fonts)
        for one in ("a", " ")
    ]
    assert seen[0] != seen[1]


def test_without_fonts_there_is_no_picture_and_no_page_names_one(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raster, "DRAWN", {"ASCII": False})
    assert contest.arena.client.get("/competitions/small/picture.png").status_code == 404
    assert "og:image" not in contest.arena.client.get("/competitions/small").text


@pytest.fixture
def told() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ANONCUP_PUBLIC_URL", OUTSIDE)
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


@needs_font
@pytest.mark.full
def test_pages_of_a_competition_name_the_picture_by_its_whole_address(contest: Contest, told: None) -> None:
    page = contest.arena.client.get("/competitions/small/rules?lang=ja").text
    found = dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)">', page))
    assert found["og:image"] == f"{OUTSIDE}/competitions/small/picture.png?lang=ja"
    assert found["og:url"] == f"{OUTSIDE}/competitions/small/rules"
    assert found["og:title"] == contest.arena.client.get(f"{API}/competitions/small").json()["title"]["ja"]
    assert found["twitter:card"] == "summary_large_image"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_card_stands_any_name(name: str) -> None:
    shown = Card(name or "-", name, [Place("1", name, "0.1234")])
    ET.fromstring(card(shown, preview.palette()))
    assert raster.rasterized(card(shown, preview.palette()))


@pytest.mark.parametrize(
    "title", ["A short one", "A title of many words that needs all the lines there are", *HOSTILE]
)
def test_a_title_is_broken_into_lines_that_fit(title: str) -> None:
    lines = wrapped(title, 340, 40, most=3)
    assert len(lines) <= 3
    assert all(width_of(line, 40) <= 340 for line in lines)
    joined = "".join(lines).replace("…", "").replace(" ", "")
    assert "".join(title.split()).startswith(joined) or "…" in "".join(lines)


@pytest.mark.parametrize("has_japanese_font", [True, False])
def test_the_title_is_in_the_requested_language_if_a_font_has_its_letters(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, has_japanese_font: bool
) -> None:
    scripts = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK"), has_japanese_font)
    monkeypatch.setattr(raster, "DRAWN", {"ASCII": True, **scripts})
    with transaction() as session:
        assert ("小さな杯" in preview.preview(session, "small", JA)) == has_japanese_font


def test_a_long_title_costs_little() -> None:
    assert steps_of(lambda: raster.legible("いろは" * 1000)) < 200_000
