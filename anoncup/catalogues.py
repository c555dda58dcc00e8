"""Catalogues of texts that installed packages bring."""

from collections.abc import Sequence
from gettext import GNUTranslations, NullTranslations
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

ADDED = "anoncup.locale"
"""Entry points of packages that add parts: a domain's name, and the package whose ``locale`` has it."""


def compiled(path: Path, language: str) -> GNUTranslations:
    """In memory: a catalogue is edited and read as the one file it is.

    A plural is found by itself, too: what is stored may have been said before it had another form.
    """
    from babel.messages.mofile import write_mo  # noqa: PLC0415  # of the extra `testing`
    from babel.messages.pofile import read_po  # noqa: PLC0415

    made = BytesIO()
    with path.open("rb") as file:
        texts = read_po(file, locale=language)
    for one in list(texts):
        match one.id, one.string:
            case (_, many), (*_, said) if texts.get(many, one.context) is None:
                texts.add(many, said, context=one.context)
    write_mo(made, texts)
    made.seek(0)
    return GNUTranslations(made)


LANGUAGES = ("en", "ja")
"""The languages that a package has words in: those that titles of competitions have."""


def installed() -> list[tuple[str, Path]]:
    """Names and folders of the catalogues that packages bring; no package is imported for them."""
    added = sorted(entry_points(group=ADDED), key=lambda one: one.name)
    specs = [(one.name, find_spec(one.value)) for one in added]
    return [(name, Path(spec.origin).parent / "locale") for name, spec in specs if spec and spec.origin]


def chained(domains: Sequence[tuple[str, Path]], language: str) -> NullTranslations:
    """A language's texts, each said by the first domain that has it."""
    found = NullTranslations()
    for domain, folder in reversed(domains):
        path = folder / language / "LC_MESSAGES" / f"{domain}.po"
        if path.is_file():
            more = compiled(path, language)
            more.add_fallback(found)
            found = more
    return found
