"""Commands, options, make targets and links in the documents exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from anoncup.cli.main import app
from app.services.originals.kit_words import INSTALL
from tests.documents.blocks import DOCUMENTS, ROOT, blocks, command_lines, linked_paths

README_BYTES = 8_000
COMMANDS = typer.main.get_command(app)
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= README_BYTES


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document: Path) -> None:
    assert [path for path in linked_paths(document) if not (document.parent / path).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_exist(document: Path) -> None:
    named = {
        target for line in command_lines(document) for target in re.findall(r"\bmake ([a-z][a-z-]*)", line)
    }
    assert named <= TARGETS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_their_options_exist(document: Path) -> None:
    assert [fault for words in anoncup_calls(document) for fault in faults(words)] == []


SERVICE = ("./bootstrap requirements.lock", "source .venv/bin/activate")


@pytest.mark.parametrize(
    ("name", "install"), [("take-part.md", INSTALL), ("organize.md", SERVICE), ("operate.md", SERVICE)]
)
def test_a_guide_installs_the_command_before_its_first_use(name: str, install: tuple[str, ...]) -> None:
    first, *_ = [block.text for block in blocks(ROOT / "docs" / name) if block.language == "sh"]
    lines = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert lines[: len(install)] == list(install)


def test_a_wrong_command_or_option_is_noticed() -> None:
    assert list(faults(["organize", "extent"])) == ["no command: organize extent"]
    assert list(faults(["submit", "cup", "--waiting"])) == ["no option of submit: --waiting"]
    assert list(faults(["submit", "cup", "--wait"])) == []


def anoncup_calls(document: Path) -> Iterator[list[str]]:
    """Yield the words after ``anoncup`` of each call in a document, up to the end of the command."""
    for line in command_lines(document):
        if line.startswith("CREATE "):  # SQL: anoncup is the name of a role or a database
            continue
        for call in re.findall(r"(?:^|(?<!--tag)\s|/)anoncup((?: +[^\s;|&)]+)+)", line):
            yield shlex.split(call.replace("…", ""), posix=True)


def faults(words: list[str]) -> Iterator[str]:
    """Yield what is wrong with the words of a call; ``$variables`` and placeholders are arguments."""
    command, path = COMMANDS, []
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        path.append(words[0])
        if words[0] not in command.commands:
            yield f"no command: {' '.join(path)}"
            return
        command, words = command.commands[words[0]], words[1:]
    known = {
        "--help",
        *(name for option in command.params for name in (*option.opts, *option.secondary_opts)),
    }
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known:
            yield f"no option of {' '.join(path)}: {option}"
