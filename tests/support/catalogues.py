"""Every language says all that the code says: what is missing, unused or filled in otherwise in a catalogue.

``python -m tests.support.catalogues`` prints it; with ``--update`` it brings what is new into the catalogues,
and into those of the languages that are named after it.
"""

import sys
from contextlib import chdir
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory

from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

from anoncup import errors
from anoncup.errors import DomainError

Text = str | list[str] | tuple[str, ...] | None

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "app" / "locale"
ERRORS = [
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, DomainError)
]
SAID_BY = (
    "_",
    "N_",
    "P_:1c,2",
    "t",
    "forms:1,2",
    "ngettext:1,2",
    "pgettext:1c,2",
    "Message",
    "Counted:1,2",
    "ScoringFailed",
    *ERRORS,
)
"""Functions whose texts are translated; the numbers are their arguments' places, ``c`` is a context."""


def catalogues() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/anoncup.po"))


def babel(*arguments: str) -> None:
    """In the checkout, so that a catalogue names its places from there."""
    with chdir(ROOT):
        CommandLineInterface().run(["pybabel", "-q", *arguments])  # type: ignore[no-untyped-call]


def extract(path: Path) -> None:
    """Write what the code and the templates say."""
    keywords = [part for name in SAID_BY for part in ("-k", name)]
    how = ("--no-default-keywords", "--add-location=file", "--sort-by-file", "--no-wrap")
    babel("extract", "-F", "pyproject.toml", *keywords, *how, "-o", str(path), "anoncup", "app", "workers")


def extracted() -> Catalog:
    with TemporaryDirectory() as folder:
        extract(Path(folder, "anoncup.pot"))
        return read(Path(folder, "anoncup.pot"))


def update(*new: str) -> None:
    """Bring what the code says into every catalogue and into ``new`` ones; what it says no longer goes."""
    how = ("--no-wrap", "--no-fuzzy-matching", "--ignore-obsolete", "--ignore-pot-creation-date")
    where = ("-d", str(LOCALE), "-D", "anoncup", "--init-missing")
    with TemporaryDirectory() as folder:
        extract(Path(folder, "anoncup.pot"))
        for language in {*new, *(path.parts[-3] for path in catalogues())}:
            babel("update", "-i", f"{folder}/anoncup.pot", *where, "-l", language, *how)


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def faults(template: Catalog, catalogue: Catalog) -> list[str]:
    """What a translator has to do, one line each."""
    said, known = keyed(template), keyed(catalogue)
    missing = [f"not there: {text}" for _, text in sorted(said.keys() - known.keys())]
    unused = [f"said nowhere: {text}" for _, text in sorted(known.keys() - said.keys())]
    wrong = [f"{why}: {key[1]}" for key, one in known.items() if (why := fault(one))]
    return missing + unused + wrong


def keyed(catalogue: Catalog) -> dict[tuple[str, str], Message]:
    return {(one.context or "", forms(one.id)[0]): one for one in catalogue if one.id}


def forms(text: Text) -> tuple[str, ...]:
    """Singular and plurals, or the one text there is."""
    return tuple(text) if isinstance(text, list | tuple) else (text or "",)


def fault(one: Message) -> str | None:
    """What is wrong with a translation, if anything is."""
    if not all(forms(one.string)):
        return "not translated"
    if one.fuzzy:
        return "marked as fuzzy"
    if not values(one.string) <= values(one.id):
        return "values that there are not"
    return "a number that is not said" if "n" in values(one.id) - values(one.string) else None


def values(text: Text) -> set[str]:
    """The names in braces."""
    return {name for form in forms(text) for _, name, _, _ in Formatter().parse(form) if name is not None}


def main() -> int:
    if "--update" in sys.argv:
        update(*sys.argv[2:])
    template = extracted()
    found = [
        f"{path.relative_to(ROOT)}: {line}" for path in catalogues() for line in faults(template, read(path))
    ]
    sys.stdout.writelines(" ".join(line.split()) + "\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
