"""Build the documentation site outside of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.markdown_blocks import ROOT

NOTES = ("decisions/", "pages.md", "roadmap.md")
"""Documents for those who change the code, which the site leaves out."""


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
