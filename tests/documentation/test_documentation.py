"""The service serves the documentation with a policy for its inline scripts."""

import tomllib
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from app.config import Settings
from app.documentation import documentation_pages as documentation
from app.documentation.documentation_pages import DocumentationFiles
from app.main import create_app

SCRIPT, STYLE = "document.title = 'é'", ".r{color:red}.r *{box-sizing:border-box}"
PAGE = '<!doctype html><script>{script}</script><script src="{root}assets/bundle.1.js"></script>' + " " * 2000


def test_site_is_served_from_where_it_is_built() -> None:
    checkout = Path(__file__).parents[2]
    site = tomllib.loads((checkout / "zensical.toml").read_text("utf-8"))["project"]["site_dir"]
    assert documentation.files.folder == checkout / site


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.fixture
def site_client(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A client of a service whose documentation is in ``tmp_path``."""
    monkeypatch.setattr(documentation, "files", DocumentationFiles(tmp_path))
    return TestClient(create_app(), base_url="http://localhost")


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    """A site with two pages."""
    for folder, root in (("", ""), ("ja", "../")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "index.html").write_text(PAGE.format(script=SCRIPT, root=root))
    (tmp_path / "404.html").write_text("the generator's page")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/bundle.1.js").write_text(f"var a='{STYLE}';")
    return tmp_path


def find_sources(response: Response, directive: str) -> list[str]:
    policy = response.headers["content-security-policy"]
    (sources,) = [part.split()[1:] for part in policy.split(";") if part.split()[0] == directive]
    return sources


def test_page_may_run_its_own_inline_scripts_only(small_site: Path, site_client: TestClient) -> None:
    response = site_client.get("/docs/ja/")
    assert find_sources(response, "script-src") == ["'self'", digest(SCRIPT)]
    assert find_sources(response, "style-src") == ["'self'", digest(STYLE)]
    assert find_sources(response, "img-src") == ["'self'", "data:"]
    assert "unsafe" not in response.headers["content-security-policy"]
    script = site_client.get("/docs/assets/bundle.1.js")
    assert find_sources(script, "script-src") == ["'self'"]
    (small_site / "ja/index.html").write_text("<script>1</script>")
    assert find_sources(site_client.get("/docs/ja/"), "script-src") == ["'self'", digest("1")]


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_browser_keeps_its_copy_and_the_policy(
    small_site: Path, site_client: TestClient, encoding: str
) -> None:
    headers = {"Accept-Encoding": encoding}
    first = site_client.get("/docs/ja/", headers=headers)
    assert first.headers.get("content-encoding", "identity") == encoding
    again = site_client.get("/docs/ja/", headers=headers | {"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    for response in (first, again):
        assert response.headers["cache-control"] == "no-cache"
        assert find_sources(response, "script-src") == ["'self'", digest(SCRIPT)]


@pytest.mark.parametrize("path", ["/docs/nowhere", "/docs/..%2f..%2fetc/passwd", "/docs/%00", "/docs/404"])
def test_unknown_pages_are_the_services_404(small_site: Path, site_client: TestClient, path: str) -> None:
    response = site_client.get(path, headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert "This page does not exist" in response.text
    assert "style-src 'self';" in response.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["take-part/", "sitemap.xml"])
def test_pages_without_a_japanese_edition_lead_to_the_english_one(
    small_site: Path, site_client: TestClient, path: str
) -> None:
    (small_site / "take-part").mkdir()
    (small_site / "take-part/index.html").write_text("English")
    (small_site / "sitemap.xml").write_text("English")
    assert site_client.get(f"/docs/ja/{path}").text == "English"
    assert site_client.get("/docs/ja/nowhere").status_code == 404


def test_service_without_documentation_names_the_command(site_client: TestClient) -> None:
    for path in ("/docs/", "/docs/ja/take-part/"):
        response = site_client.get(path)
        assert response.status_code == 404
        assert "make docs" in response.text
    japanese = site_client.get("/docs/", headers={"Accept-Language": "ja"})
    assert "ドキュメントはまだ作られていません" in japanese.text
