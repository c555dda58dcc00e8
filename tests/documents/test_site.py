"""The documentation site builds without warnings, is complete, and can be searched in both languages."""

import os
import pkgutil
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from anoncup.plugins import BUILT_IN
from app.config import Settings
from app.core.http.middleware import SecurityHeadersMiddleware
from app.core.pages.pages import static_files
from app.documentation.documentation_pages import DocumentationFiles
from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support import measures_page
from tests.support.browser import browser
from tests.support.markdown_blocks import ROOT
from tests.support.wait import poll_until


def build_site(folder: Path) -> tuple[Path, str]:
    """Build the site of this checkout below a folder, and return its path and the generator's output.

    Raises CalledProcessError on a warning, such as a broken link.
    """
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    (folder / "anoncup").symlink_to(ROOT / "anoncup")
    completed = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / "site", completed.stdout + completed.stderr


def list_pages() -> set[str]:
    """Return the paths of all documents that are part of the site, relative to ``docs``."""
    documents = ROOT / "docs"
    paths = {path.relative_to(documents).as_posix() for path in documents.rglob("*.md")}
    return {
        path for path in paths if not path.startswith("decisions/") and path not in {"pages.md", "roadmap.md"}
    }


def read_text(page: Path) -> str:
    """Return the text of an HTML page without tags, as words separated by single spaces."""
    return " ".join(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")).split())


__all__ = ["browser"]

SEARCHES = {"en": ("threshold", "Which threshold"), "ja": ("しきい値", "コンテストを開催する")}
"""What a reader types in each language, and the title of a page that is among the results."""
PAGES = (
    "",
    "take-part/",
    "measures/",
    "library/",
    "inputs/",
    "architecture/",
    "ja/",
    "ja/take-part/",
    "ja/measures/",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, output = build_site(tmp_path_factory.mktemp("documentation"))
    assert "No issues found" in output
    return folder


@pytest.mark.parametrize("language", ["en", "ja"])
def test_pages_of_measures_equal_the_registries(language: str) -> None:
    page = measures_page.PATHS[language].read_text(encoding="utf-8")
    assert page == measures_page.render_page(language), "run python -m tests.support.measures_page"


@pytest.mark.full
def test_site_has_every_page_without_leftovers_of_markdown(site: Path) -> None:
    for path in list_pages():
        name = re.sub(r"(^|/)index$", r"\1", path.removesuffix(".md"))
        text = read_text(site / name / "index.html")
        assert "```" not in text, path
        assert "::: " not in text, path


@pytest.mark.full
def test_page_of_inputs_has_every_attribute_of_the_types_of_every_track(site: Path) -> None:
    paths = re.findall(r"^::: (\S+)", (ROOT / "docs/inputs.md").read_text(encoding="utf-8"), re.MULTILINE)
    html = (site / "inputs/index.html").read_text(encoding="utf-8")
    for name, track in BUILT_IN.items():
        annotation = sys.modules[f"anoncup.tracks.{name}"].__annotations__[name.upper()]
        types = set(re.findall(r"[A-Z]\w+", annotation)) - {"Track", "DataFrame", "IntArray"}
        assert types <= {path.rpartition(".")[2] for path in paths}, track.name
    classes = {path: kind for path in paths if isinstance(kind := pkgutil.resolve_name(path), type)}
    for path, kind in classes.items():
        names = [name for name in vars(kind) if not name.startswith("_")]
        assert [name for name in names if f'id="{path}.{name}"' not in html] == []
    other_types = set(re.findall(r'<span title="anoncup\.[\w.]+">(\w+)', html))
    assert {name for name in other_types if f"{name}</code>" not in html} == set()


@pytest.mark.full
def test_reference_says_how_a_part_is_imported_and_constructed(site: Path) -> None:
    start = "anoncup.tracks.parts.Measure &para; Measure( name: str, version: int, "
    assert start in read_text(site / "plugins/index.html")


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address of a server with the site and the headers of the service."""
    app = Starlette(
        routes=[Mount("/docs", DocumentationFiles(site)), Mount("/static", static_files)],
        middleware=[Middleware(SecurityHeadersMiddleware, settings=Settings())],
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert poll_until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.mark.full
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_pages_keep_the_policy_and_are_accessible(
    address: str, browser: Browser, size: dict[str, int]
) -> None:
    with inspect_pages(browser, address, session=None, language="en", size=size) as inspector:
        faults = {}
        for path in PAGES:
            assert inspector.go(f"/docs/{path}") == 200
            faults[path] = inspector.collect_faults()
    assert faults == {path: [] for path in PAGES}


@pytest.mark.full
@pytest.mark.parametrize("language", ["en", "ja"])
def test_reader_finds_a_page_by_typing_a_word(address: str, browser: Browser, language: str) -> None:
    query, title = SEARCHES[language]
    with inspect_pages(browser, address, session=None, language=language, size=DESKTOP) as inspector:
        inspector.go("/docs/" if language == "en" else "/docs/ja/")
        page = inspector.page
        page.locator(".md-search__button").click()
        page.get_by_role("combobox").fill(query)
        page.get_by_role("option").filter(has_text=title).first.click()
        page.wait_for_url(re.compile(r"/docs/(threshold|ja/organize)/"))
        assert page.locator("h1").first.inner_text().startswith(title)
        assert inspector.collect_faults() == []
