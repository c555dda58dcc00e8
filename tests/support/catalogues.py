"""Find missing, unused and inconsistent messages in the translation catalogues.

``python -m tests.support.catalogues`` prints them. ``--update`` merges new messages into the catalogues and
creates those of the languages that follow it.
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

MessageText = str | list[str] | tuple[str, ...] | None

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "app" / "locale"
ERROR_CLASS_NAMES = [
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, DomainError)
]
TRANSLATION_KEYWORDS = (
    "_",
    "N_",
    "P_:1c,2",
    "t",
    "plural_forms:1,2",
    "ngettext:1,2",
    "pgettext:1c,2",
    "Message",
    "PluralMessage:1,2",
    "ScoringError",
    *ERROR_CLASS_NAMES,
)
"""Functions whose texts are translated. Numbers are argument positions, ``c`` marks a context."""


def list_catalogues() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/anoncup.po"))


def run_babel(*arguments: str) -> None:
    """Run pybabel in the checkout, so that catalogues name source files relative to it."""
    with chdir(ROOT):
        CommandLineInterface().run(["pybabel", "-q", *arguments])  # type: ignore[no-untyped-call]


def write_template(path: Path) -> None:
    """Write the messages of the code and the templates."""
    keywords = [part for name in TRANSLATION_KEYWORDS for part in ("-k", name)]
    options = ("--no-default-keywords", "--add-location=file", "--sort-by-file", "--no-wrap")
    run_babel(
        "extract", "-F", "pyproject.toml", *keywords, *options, "-o", str(path), "anoncup", "app", "workers"
    )


def extract_template() -> Catalog:
    with TemporaryDirectory() as folder:
        write_template(Path(folder, "anoncup.pot"))
        return read_catalogue(Path(folder, "anoncup.pot"))


def update_catalogues(*new_languages: str) -> None:
    """Merge the code's messages into every catalogue and new languages. Obsolete messages are removed."""
    options = ("--no-wrap", "--no-fuzzy-matching", "--ignore-obsolete", "--ignore-pot-creation-date")
    locations = ("-d", str(LOCALE), "-D", "anoncup", "--init-missing")
    with TemporaryDirectory() as folder:
        write_template(Path(folder, "anoncup.pot"))
        for language in {*new_languages, *(path.parts[-3] for path in list_catalogues())}:
            run_babel("update", "-i", f"{folder}/anoncup.pot", *locations, "-l", language, *options)


def read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def list_faults(template: Catalog, catalogue: Catalog) -> list[str]:
    """Return one line for each thing that a translator has to do."""
    messages, translations = index_messages(template), index_messages(catalogue)
    missing = [f"not there: {text}" for _, text in sorted(messages.keys() - translations.keys())]
    unused = [f"said nowhere: {text}" for _, text in sorted(translations.keys() - messages.keys())]
    faulty = [
        f"{reason}: {key[1]}"
        for key, translation in translations.items()
        if (reason := find_fault(translation))
    ]
    return missing + unused + faulty


def index_messages(catalogue: Catalog) -> dict[tuple[str, str], Message]:
    return {
        (message.context or "", list_forms(message.id)[0]): message for message in catalogue if message.id
    }


def list_forms(text: MessageText) -> tuple[str, ...]:
    """Return the singular and the plurals, or the only text."""
    return tuple(text) if isinstance(text, list | tuple) else (text or "",)


def find_fault(message: Message) -> str | None:
    """Return what is wrong with a translation, or None."""
    if not all(list_forms(message.string)):
        return "not translated"
    if message.fuzzy:
        return "marked as fuzzy"
    if not extract_placeholders(message.string) <= extract_placeholders(message.id):
        return "values that there are not"
    return (
        "a number that is not said"
        if "n" in extract_placeholders(message.id) - extract_placeholders(message.string)
        else None
    )


def extract_placeholders(text: MessageText) -> set[str]:
    """Return the names of the placeholders in braces."""
    return {
        name for form in list_forms(text) for _, name, _, _ in Formatter().parse(form) if name is not None
    }


def main() -> int:
    if "--update" in sys.argv:
        update_catalogues(*sys.argv[2:])
    template = extract_template()
    lines = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in list_catalogues()
        for line in list_faults(template, read_catalogue(path))
    ]
    sys.stdout.writelines(" ".join(line.split()) + "\n" for line in lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
