"""A test runs each command and program in the documents, or ``NOT_RUN`` says why none can."""

import re
from pathlib import Path

import pytest

from tests.support.markdown_blocks import (
    NOT_RUN,
    PROGRAM_LANGUAGES,
    ROOT,
    find_reason,
    list_code_blocks,
    list_indented_blocks,
)

MISSPELLED_LANGUAGES = {"", "bash", "console", "py", "python3", "shell"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CALL = re.compile(r'read_guide\("([^"]+)"\)')
"""``read_guide`` with the name of a document. Its result is unpacked, so the call covers all blocks."""
RUN_PAGES = {
    name for path in Path(__file__).parent.glob("*.py") for name in CALL.findall(path.read_text("utf-8"))
}


def strip_comments(text: str) -> str:
    """Return the commands of a block without comments, which differ between languages."""
    return "\n".join(re.sub(r"(^|\s)#.*$", "", line).rstrip() for line in text.splitlines())


RUN_COMMANDS = {strip_comments(block.text) for name in RUN_PAGES for block in list_code_blocks(ROOT / name)}


def list_uncovered_blocks(page: Path) -> list[str]:
    """Return the blocks of a page that no test runs and for which no reason is given.

    A translated page may repeat the commands of another one.
    """
    programs = [block.text for block in list_code_blocks(page) if block.language in PROGRAM_LANGUAGES]
    if str(page.relative_to(ROOT)) in RUN_PAGES:
        programs = []
    return [
        text
        for text in (*programs, *list_indented_blocks(page))
        if find_reason(page, text) is None and strip_comments(text) not in RUN_COMMANDS
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_is_run_or_has_a_reason(page: Path) -> None:
    assert MISSPELLED_LANGUAGES.isdisjoint(block.language for block in list_code_blocks(page))
    assert list_uncovered_blocks(page) == []


@pytest.mark.parametrize(("name", "start"), NOT_RUN)
def test_reason_belongs_to_a_block(name: str, start: str) -> None:
    texts = [block.text for block in list_code_blocks(ROOT / name)] + list_indented_blocks(ROOT / name)
    assert sum(text.startswith(start) for text in texts) == 1
