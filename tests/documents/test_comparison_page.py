"""Each statement of docs/comparison.md about something else names a source."""

import re

from tests.support.markdown_blocks import ROOT

PAGE = (ROOT / "docs/comparison.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")
]
CITATION = re.compile(r"\[([¹²³⁴-⁹⁰]+)\]\[([\w-]+)\]")
SOURCES = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", PAGE, re.MULTILINE))


def test_each_statement_about_something_else_has_a_source() -> None:
    header, *rows = ROWS
    assert header[1] == "anoncup"
    without_source = [cell for row in rows for cell in row[2:] if cell != "–" and not CITATION.search(cell)]
    assert without_source == []


def test_sources_are_numbered_in_order_and_all_are_cited() -> None:
    citations = dict.fromkeys(CITATION.findall(PAGE))
    numbers = [int(number.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))) for number, _ in citations]
    assert numbers == list(range(1, len(citations) + 1))
    assert {label for _, label in citations} == SOURCES.keys()
    assert all(address.startswith("http") for address in SOURCES.values())
