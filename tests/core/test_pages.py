"""Pages as a browser gets them: visibility, languages, security headers and sign-in."""

import re
from urllib.parse import unquote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import func, select

from app.core.db.models import Token
from app.core.identity.session_cookie import COOKIE
from app.core.locale.language import LANGUAGES
from tests.support.accounts import create_person
from tests.support.arena import PASSWORD, Arena, build_competition_toml, build_noisy_release
from tests.support.database_rows import load_one
from tests.support.page_requests import SAME_ORIGIN, get_page
from tests.support.setting_changes import change_settings
from tests.support.translations import translate, translate_message
from tests.support.uploads import score_everything


def sign_in(client: TestClient, **fields: str) -> Response:
    headers = SAME_ORIGIN | {"Origin": "http://localhost"}
    response: Response = client.post("/sign-in", data=fields, headers=headers, follow_redirects=False)
    return response


@pytest.fixture
def rei(client: TestClient) -> dict[str, str]:
    create_person("Rei")
    return {"name": "Rei", "password": PASSWORD}


def test_head_request_returns_the_headers_of_get(arena: Arena) -> None:
    pages = ("/", "/sign-in", "/competitions/small", "/competitions/none", "/account", "/nowhere")
    for path in (*pages, "/static/parts.css", "/api/v1/competitions", "/healthz"):
        got, head = (arena.client.request(method, path, follow_redirects=False) for method in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers.keys() == got.headers.keys()


@pytest.mark.parametrize(
    ("query", "accepted", "language"),
    [
        ("", "fr, ja;q=0.5", "ja"),
        ("", "", "en"),
        ("?lang=en", "ja", "en"),
        ("?lang=<script>", "ja", "ja"),
    ],
)
def test_page_language_is_requested_or_that_of_the_browser(
    client: TestClient, query: str, accepted: str, language: str
) -> None:
    html = client.get("/" + query, headers={"Accept-Language": accepted}).text
    assert f'<html lang="{language}">' in html
    assert translate("Anonymization and re-identification contests", language) in html


def test_chosen_language_is_remembered_and_links_keep_the_query(client: TestClient) -> None:
    client.get("/?lang=ja")
    assert '<html lang="ja">' in client.get("/", headers={"Accept-Language": "en"}).text
    client.get("/?lang=en")
    assert '<html lang="en">' in client.get("/", headers={"Accept-Language": "ja"}).text
    html = client.get("/sign-in?to=/competitions/small&lang=ja").text
    (link,) = re.findall(r'<a href="(\?[^"]*)" lang="en"', html)
    assert "to=/competitions/small" in unquote(link)
    assert "lang=en" in link
    assert "lang=ja" not in link


def test_hidden_page_looks_like_a_missing_one_and_a_visitor_is_asked_to_sign_in(arena: Arena) -> None:
    path = f"/submissions/{arena.submit('red').json()['id']}"
    hidden_response = get_page(arena, path, team="blue")
    missing_response = get_page(arena, "/submissions/00000000-0000-0000-0000-000000000000", team="blue")
    assert (hidden_response.status_code, missing_response.status_code) == (404, 404)
    assert mask_ids(hidden_response.text) == mask_ids(missing_response.text)
    response = get_page(arena, path)
    assert (response.status_code, unquote(response.headers["location"])) == (303, f"/sign-in?to={path}")


def mask_ids(html: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "…", html)


HTML_TEXT = """<b onmouseover="alert('x')">&amp;{{ 7 * 7 }}</b>"""


def test_html_in_names_and_comments_is_escaped(arena: Arena) -> None:
    response = arena.post(
        f"/competitions/{arena.slug}/submissions",
        team=HTML_TEXT,
        files=dict(zip(("anonymized", "secret"), build_noisy_release(1, arena.table), strict=True)),
        data={"comment": HTML_TEXT + "<script>alert(1)</script>"},
    )
    assert response.status_code == 202, response.text
    score_everything()
    for path in (f"/competitions/{arena.slug}/boards/anonymization", f"/submissions/{response.json()['id']}"):
        html = get_page(arena, path, team=HTML_TEXT).text
        assert "&lt;b onmouseover=" in html
        assert "<b " not in html
        assert "<script>" not in html
        assert "{{ 7 * 7 }}" in html


def test_pages_have_security_headers_and_no_inline_code(arena: Arena) -> None:
    for path in ("/", "/competitions/small", "/competitions/none", "/sign-in", "/nowhere"):
        response = get_page(arena, path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "same-origin"
        assert not re.search(r"<script>|<style|\sstyle=|\son\w+=|javascript:", response.text)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', response.text)  # nothing from other hosts


def test_session_cookie_is_http_only_and_same_site(client: TestClient, rei: dict[str, str]) -> None:
    response = sign_in(client, **rei, to="/competitions/small")
    assert (response.status_code, response.headers["location"]) == (303, "/competitions/small")
    name, *flags = (part.strip().lower() for part in response.headers["set-cookie"].split(";"))
    assert name.startswith(COOKIE.lower() + "=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(flags)
    assert "secure" not in flags
    assert not any(flag.startswith("domain") for flag in flags)
    html = client.get("/").text
    assert "Sign out" in html
    assert "Rei" in html


def test_session_cookie_is_secure_behind_https(client: TestClient, rei: dict[str, str]) -> None:
    with change_settings(ANONCUP_SECURE_COOKIES="true"):
        name, *flags = sign_in(client, **rei).headers["set-cookie"].split("; ")
        assert name.startswith("__Host-anoncup_session=")
        assert {"secure", "path=/", "httponly"} <= {flag.lower() for flag in flags}
        assert not any(flag.lower().startswith("domain") for flag in flags)
        client.base_url = "https://localhost"
        assert "Sign out" in client.get("/").text
        client.post("/sign-out", headers=SAME_ORIGIN)
        assert "__Host-anoncup_session" not in client.cookies


def test_signing_out_revokes_the_session(client: TestClient, rei: dict[str, str]) -> None:
    cookie = sign_in(client, **rei).cookies[COOKIE]
    response = client.post("/sign-out", headers=SAME_ORIGIN, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert COOKIE not in client.cookies
    client.cookies.set(COOKIE, cookie)  # a copy of the cookie is worthless now
    assert "Sign out" not in client.get("/").text
    assert client.get("/api/v1/me").status_code == 401


FAILED_SIGN_INS = (
    ("Rei", "wrong password"),
    ("Nobody", PASSWORD),
    ("<script>\x00", "x" * 100_000),
)


def test_failed_sign_in_shows_an_error_and_sets_no_cookie(client: TestClient, rei: dict[str, str]) -> None:
    for name, password in FAILED_SIGN_INS:
        response = sign_in(client, name=name, password=password)
        assert response.status_code == 401
        assert "Name or password is wrong." in response.text
        assert "set-cookie" not in response.headers
        assert "<script>" not in response.text


CROSS_SITE_HEADERS: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "null"},
    {"Origin": "http://localhost.evil.example"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    {},
]


@pytest.mark.parametrize("headers", CROSS_SITE_HEADERS)
def test_cross_site_forms_cannot_act(
    client: TestClient, rei: dict[str, str], headers: dict[str, str]
) -> None:
    assert sign_in(client, **rei).status_code == 303
    token_count = count_live_tokens()
    paths = ("/sign-in", "/sign-out", "/sign-up?invite=x", "/password?code=x")
    responses = [client.post(path, data=rei, headers=headers, follow_redirects=False) for path in paths]
    content = build_competition_toml("forged")
    responses += [
        client.post("/api/v1/competitions", content=content, headers=headers),
        client.delete("/api/v1/tokens/current", headers=headers),
    ]
    assert {response.status_code for response in responses} == {403}
    assert count_live_tokens() == token_count
    only_origin = {"Origin": "http://localhost"}
    response = client.post("/sign-in", data=rei, headers=only_origin, follow_redirects=False)
    assert response.status_code == 303


def count_live_tokens() -> int:
    return load_one(select(func.count()).where(Token.revoked_at.is_(None)))


UNSAFE_REDIRECTS = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "javascript:alert(1)",
    "http:evil.example",
    "evil.example",
    "/\x00",
    "///evil.example",
    "/.//evil.example\\",
    "",
]


def test_sign_in_redirects_to_a_page_of_this_site_only(client: TestClient, rei: dict[str, str]) -> None:
    for destination in UNSAFE_REDIRECTS:
        client.cookies.clear()
        form = client.get("/sign-in", params={"to": destination}).text
        assert 'name="to" value="/"' in form
        assert sign_in(client, **rei, to=destination).headers["location"] == "/"
    for destination in ("/", "/competitions/small?lang=ja", "/submissions/x?a=b&c=d#e"):
        assert sign_in(client, **rei, to=destination).headers["location"] == destination


@pytest.mark.parametrize("language", LANGUAGES)
def test_unreadable_body_is_refused_in_the_readers_language(client: TestClient, language: str) -> None:
    headers = SAME_ORIGIN | {"Accept": "text/html", "Accept-Language": language}
    large_response = client.post("/sign-in", data={"name": "x" * (3 << 20)}, headers=headers)
    headers |= {"Content-Type": "multipart/form-data"}
    broken_response = client.post("/sign-in", content=b"no boundary", headers=headers)
    too_large = translate_message("a request may have at most {most_mb} MB", language, most_mb=2)
    unreadable = translate_message("this form cannot be read: check what you typed", language)
    assert (large_response.status_code, too_large in large_response.text) == (413, True)
    assert (broken_response.status_code, unreadable in broken_response.text) == (400, True)
