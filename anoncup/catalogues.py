"""Loading of gettext catalogues, including those of the built-in tracks and of installed packages."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from gettext import GNUTranslations, NullTranslations
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from anoncup.environments import DESCRIPTION_FILE, find_environments_folder

_ENTRY_POINT_GROUP = "anoncup.locale"
"""Group of entry points whose name is a gettext domain and whose value is the package with its ``locale``
folder."""
_TRACKS_FOLDER = Path(__file__).parent / "tracks"


def _compile_catalogue(path: Path, language: str) -> GNUTranslations:
    """Compile a ``.po`` file in memory, so that no ``.mo`` files have to be kept up to date.

    Each plural form is also added as a message of its own, because stored messages may be older than the
    plural.
    """
    from babel.messages.mofile import write_mo  # noqa: PLC0415  # needs the extra `testing`
    from babel.messages.pofile import read_po  # noqa: PLC0415

    buffer = BytesIO()
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language)
    for message in list(catalogue):
        match message.id, message.string:
            case (_, plural_id), (*_, translations) if catalogue.get(plural_id, message.context) is None:
                catalogue.add(plural_id, translations, context=message.context)
    write_mo(buffer, catalogue)
    buffer.seek(0)
    return GNUTranslations(buffer)


LANGUAGES = ("en", "ja")
"""Languages of competition titles, for which packages must provide catalogues."""


def find_track_catalogues() -> list[tuple[str, Path]]:
    """Return domain and folder of the catalogues of each built-in track and of those that tracks share."""
    return [(folder.parent.name, folder) for folder in sorted(_TRACKS_FOLDER.rglob("locale"))]


def find_package_catalogues() -> list[tuple[str, Path]]:
    """Return the domain and folder of each package's catalogues, without importing the packages."""
    entry_points_by_name = sorted(
        entry_points(group=_ENTRY_POINT_GROUP), key=lambda entry_point: entry_point.name
    )
    specs = [(entry_point.name, find_spec(entry_point.value)) for entry_point in entry_points_by_name]
    installed = [(name, Path(spec.origin).parent / "locale") for name, spec in specs if spec and spec.origin]
    return [*installed, *_list_environment_catalogues()]


def _list_environment_catalogues() -> Iterator[tuple[str, Path]]:
    """Yield the catalogues of packages that have an environment of their own."""
    for file in sorted(find_environments_folder().glob(f"*/{DESCRIPTION_FILE}")):
        with suppress(OSError, ValueError, LookupError, TypeError):  # ``anoncup.plugins`` reports them
            for domain, folder in json.loads(file.read_text("utf-8"))["catalogues"]:
                yield str(domain), file.parent / folder


def load_translations(domains: Sequence[tuple[str, Path]], language: str) -> NullTranslations:
    """Return the translations of a language; the first domain that has a message wins."""
    translations = NullTranslations()
    for domain, folder in reversed(domains):
        path = folder / language / "LC_MESSAGES" / f"{domain}.po"
        if path.is_file():
            # A package's catalogue that cannot be read has no texts. Ours are checked (`make check`).
            with suppress(ValueError, LookupError, TypeError, OSError, RecursionError):
                catalogue = _compile_catalogue(path, language)
                catalogue.add_fallback(translations)
                translations = catalogue
    return translations
