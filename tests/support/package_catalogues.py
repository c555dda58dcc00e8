"""Packages with catalogues of texts, installed for this process."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path

import pytest

from app.core.locale.language import load_catalogue, load_package_catalogue, load_translator


def format_catalogue(texts: Mapping[str, str]) -> str:
    """Return the content of a ``.po`` file with the texts by key."""
    header = {"": r"Content-Type: text/plain; charset=utf-8\n"}
    return "\n".join(f'msgid "{key}"\nmsgstr "{text}"\n' for key, text in (header | dict(texts)).items())


def install_catalogue(folder: Path, package: str, language: str, catalogue: str) -> None:
    """Write a package with a catalogue and its entry point, whose code fails when imported."""
    metadata_folder = folder / f"{package}-1.0.dist-info"
    paths = {
        folder / package / "locale" / language / "LC_MESSAGES" / f"{package}.po": catalogue,
        folder / package / "__init__.py": "raise AssertionError('nobody needs its code')\n",
        metadata_folder / "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        metadata_folder / "entry_points.txt": f"[anoncup.locale]\n{package} = {package}\n",
    }
    for path, content in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    invalidate_caches()  # a thread of an earlier test may have listed the folder meanwhile
    _clear_catalogue_caches()


@contextmanager
def open_package_folder(folder: Path) -> Iterator[Path]:
    """Let packages in the folder be found, and forget their catalogues afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        _clear_catalogue_caches()
        yield folder
    _clear_catalogue_caches()


def _clear_catalogue_caches() -> None:
    load_catalogue.cache_clear()
    load_package_catalogue.cache_clear()
    load_translator.cache_clear()
