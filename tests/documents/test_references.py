"""Commands, options and make targets in the documents must exist."""

import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from anoncup.cli.main import app
from anoncup.rules.settings import Excessive, Limits, Publication, Ranking
from tests.support.markdown_blocks import (
    DOCUMENTS,
    ROOT,
    list_command_lines,
)

RANKING_FORMULAS = {"order", "utility", "defence", "attack", "total", "attack_total"}
"""Keys that ``docs/formulas.md`` describes."""
BY_NAME = re.compile(
    r"""(?:\binstall|uvx|--from|--with)\s+(?:-\S+\s+)*\\?["']?anoncup(?:\[\w+\])?(?![-\w.*[]|\s*@)"""
)
"""An installation of ``anoncup`` without its address."""
_TEXTS = {".md", ".py", ".html", ".jinja", ".po", ".ipynb", ".toml", ".yml"}
COMMANDS = typer.main.get_command(app)
MAKE_TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_exist(document: Path) -> None:
    mentioned = {
        target
        for line in list_command_lines(document)
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", line)
    }
    assert mentioned <= MAKE_TARGETS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_their_options_exist(document: Path) -> None:
    assert [problem for call in list_anoncup_calls(document) for problem in find_call_errors(call)] == []


@pytest.mark.parametrize(
    "settings",
    [Excessive(), Ranking(), Publication(), Limits()],
    ids=lambda settings: type(settings).__name__,
)
def test_keys_of_the_competition_file_are_listed_with_their_defaults(
    settings: Excessive | Ranking | Publication | Limits,
) -> None:
    page = (ROOT / "docs/organize.md").read_text()
    values = {
        key: value for key, value in dataclasses.asdict(settings).items() if key not in RANKING_FORMULAS
    }
    defaults = {key: "none" if value is None else json.dumps(value) for key, value in values.items()}
    assert [key for key, default in defaults.items() if f"`{key}` ({default})" not in page] == []


def test_nothing_installs_the_name_of_the_project_from_a_package_index() -> None:
    """Nobody here owns that name."""
    folders = [ROOT / name for name in ("anoncup", "app", "docs", "examples")]
    files = {*DOCUMENTS, *(file for folder in folders for file in folder.rglob("*") if file.suffix in _TEXTS)}
    assert [(file, found[0]) for file in files if (found := BY_NAME.search(file.read_text("utf-8")))] == []


def list_anoncup_calls(document: Path) -> Iterator[list[str]]:
    """Yield the words after ``anoncup`` of each command in a document."""
    for line in list_command_lines(document):
        if line.startswith("CREATE "):  # SQL: here anoncup names a role or a database
            continue
        for call in re.findall(r"(?:^|(?<!--tag)\s|/)anoncup((?: +[^\s;|&)]+)+)", line):
            yield shlex.split(call.replace("…", ""), posix=True)


def find_call_errors(words: list[str]) -> Iterator[str]:
    """Yield unknown commands and options of a call; ``$variables`` and placeholders are arguments."""
    command, path = COMMANDS, []
    while hasattr(command, "commands") and words and words[0][0] not in "-$":
        path.append(words[0])
        if words[0] not in command.commands:
            yield f"no command: {' '.join(path)}"
            return
        command, words = command.commands[words[0]], words[1:]
    known_options = {
        "--help",
        *(name for option in command.params for name in (*option.opts, *option.secondary_opts)),
    }
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known_options:
            yield f"no option of {' '.join(path)}: {option}"
