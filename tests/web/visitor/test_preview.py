"""The preview image of a competition's link shows what a visitor may see."""

import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import resvg_py
from fastapi.testclient import TestClient

from app.charts.card import PodiumRow, PreviewCard, draw_card, wrap_text
from app.charts.svg import estimate_text_width
from app.config import get_settings
from app.db.transaction import transaction
from app.http.session_cookie import COOKIE
from app.locale.language import Translator
from app.services.accounts import tokens
from app.services.boards import anonymization
from app.services.contests import visibility
from app.web.site import raster
from app.web.site.frame import load_frame
from app.web.visitor import preview
from tests.support.chart_samples import EN, HOSTILE_NAMES, JA
from tests.support.contest import Contest
from tests.support.step_counter import count_instructions

PUBLIC_URL = "https://cup.example.org"
DEJAVU_FILES = sorted(map(str, Path("/usr/share/fonts").rglob("DejaVuSans.ttf")))
needs_font = pytest.mark.skipif(not raster.has_fonts(), reason="no font is installed")


@pytest.fixture
def contest(client: TestClient) -> Contest:
    new_contest = Contest.create(client)
    for team in ("red", "blue"):
        new_contest.submit(team)
    return new_contest


def draw_preview(t: Translator = EN, *, slug: str = "small", token: str = "") -> str:
    """Draw the image with the board as the owner of the token sees it, by default as visitors do."""
    with transaction() as session:
        frame = load_frame(session, None, slug)
        reader = tokens.authenticate(session, token) if token else None
        access = visibility.find_board_access(session, reader, slug)
        board = None if access is None else anonymization.build_board(session, access)
        return preview.draw_preview(frame, board, t)


def read_preview_text(slug: str = "small") -> str:
    return "".join(ET.fromstring(draw_preview(slug=slug)).itertext())


def get_picture(contest: Contest, **headers: str) -> tuple[int, bytes, str]:
    response = contest.arena.client.get("/competitions/small/picture.png", headers=headers)
    return response.status_code, response.content, response.headers["etag"]


@needs_font
def test_picture_is_a_png_of_the_standard_size(contest: Contest) -> None:
    status, content, etag = get_picture(contest)
    assert status == 200
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert len(content) < 300_000
    assert get_picture(contest, **{"If-None-Match": etag})[:2] == (304, b"")
    contest.submit("green")
    second_status, second_content, second_tag = get_picture(contest, **{"If-None-Match": etag})
    assert (second_status, second_tag) != (304, etag)
    assert second_content != content


@needs_font
@pytest.mark.full
def test_picture_shows_title_phase_and_the_podium_of_visitors_to_everybody(contest: Contest) -> None:
    words = read_preview_text()
    board = contest.get_board()
    for row in board["rows"]:
        assert row["team"] in words
        assert f"{row['overall']:.4f}" in words
    assert "Small cup" in words
    assert "Anonymization phase" in words
    assert board["digits"] == 2
    assert draw_preview(token=contest.arena.organizer_token) != draw_preview()
    for token in (contest.arena.get_team_token("red"), contest.arena.organizer_token):
        cookie = f"{COOKIE}={contest.arena.get_session(token)}"
        assert get_picture(contest, Cookie=cookie) == get_picture(contest)


@needs_font
@pytest.mark.full
@pytest.mark.parametrize("audience", ["teams", "organizers"])
def test_picture_of_a_closed_board_names_no_team(client: TestClient, audience: str) -> None:
    contest = Contest.create(client, extra_toml=f'[publication]\nboard = "{audience}"')
    contest.submit("red")
    words = read_preview_text()
    assert "Small cup" in words
    assert "red" not in words
    assert not re.search(r"0\.\d", words)


def test_names_without_glyphs_and_pictures_without_fonts_are_omitted(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raster, "DRAWABLE_SCRIPTS", {"ASCII": True, "HIRAGANA": False, "CJK": False})
    names = [raster.blank_if_undrawable(name) for name in ("Team 1", "いろは", "team 匿", "")]
    assert names == ["Team 1", "", "", ""]
    monkeypatch.setattr(raster, "DRAWABLE_SCRIPTS", {})
    assert not raster.can_draw(raster.MISSING_CHARACTER)
    monkeypatch.setattr(raster, "DRAWABLE_SCRIPTS", {"ASCII": False})
    assert contest.arena.client.get("/competitions/small/picture.png").status_code == 404
    assert "og:image" not in contest.arena.client.get("/competitions/small").text


@pytest.mark.skipif(not DEJAVU_FILES, reason="DejaVuSans.ttf is not installed")
def test_glyphs_are_found_with_only_dejavu_installed() -> None:
    drawings = map(raster.draw_character, "a ")
    fonts: dict[str, Any] = {"skip_system_fonts": True, "font_files": DEJAVU_FILES}
    letter, blank = (resvg_py.svg_to_bytes(svg_string=drawing, **fonts) for drawing in drawings)
    assert letter != blank


@pytest.fixture
def public_url() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ANONCUP_PUBLIC_URL", PUBLIC_URL)
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


@needs_font
@pytest.mark.full
def test_pages_link_to_the_picture_by_its_full_url(contest: Contest, public_url: None) -> None:
    html = contest.arena.client.get("/competitions/small/rules?lang=ja").text
    meta_tags = dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)">', html))
    assert meta_tags["og:image"] == f"{PUBLIC_URL}/competitions/small/picture.png?lang=ja"
    assert meta_tags["og:url"] == f"{PUBLIC_URL}/competitions/small/rules"
    assert meta_tags["og:title"] == "小さな杯"
    assert meta_tags["twitter:card"] == "summary_large_image"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_card_accepts_any_name(name: str) -> None:
    preview_card = PreviewCard(name or "-", name, [PodiumRow("1", name, "0.1234")])
    ET.fromstring(draw_card(preview_card, preview.load_palette()))
    assert raster.rasterize(draw_card(preview_card, preview.load_palette()))


@pytest.mark.parametrize(
    "title", ["A short one", "A title of many words that needs all the lines there are", *HOSTILE_NAMES]
)
def test_title_is_wrapped_to_fit(title: str) -> None:
    lines = wrap_text(title, 340, 40, max_lines=3)
    assert len(lines) <= 3
    assert all(estimate_text_width(line, 40) <= 340 for line in lines)
    joined = "".join(lines).replace("…", "").replace(" ", "")
    assert "".join(title.split()).startswith(joined) or "…" in "".join(lines)


@pytest.mark.parametrize("has_japanese_font", [True, False])
def test_title_language_is_requested_if_a_font_supports_it(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, has_japanese_font: bool
) -> None:
    scripts = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK"), has_japanese_font)
    monkeypatch.setattr(raster, "DRAWABLE_SCRIPTS", {"ASCII": True, **scripts})
    assert ("小さな杯" in draw_preview(JA)) == has_japanese_font


def test_long_title_is_laid_out_quickly() -> None:
    assert count_instructions(lambda: raster.blank_if_undrawable("いろは" * 1000)) < 200_000
