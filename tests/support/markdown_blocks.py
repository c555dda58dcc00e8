"""Code blocks and links of the Markdown documents."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
GUIDES = tuple(
    ROOT / name for name in ("README.md", "docs/take-part.md", "docs/organize.md", "docs/operate.md")
)
DOCUMENTS = (
    *GUIDES,
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").glob("*.md") if path not in GUIDES),
    *sorted((ROOT / "docs/ja").glob("*.md")),
)

FENCED_BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED_BLOCK = re.compile(r"(?:(?<=\n\n)|\A)(?:    [^\n]+\n+)+")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
NOT_RUN = {
    "docs/take-part.md": ("anoncup() {",),
    "docs/organize.md": ("./bootstrap requirements.lock", "anoncup demo"),
    "docs/operate.md": ("./bootstrap requirements.lock",),
    "docs/tracks.md": ("python3 -m venv ~/places", "anoncup packages add"),
    "docs/api.md": ("curl -sS http://127.0.0.1:8000/api/v1/openapi.json",),
}
"""Beginnings of code blocks that need a package index or run until Ctrl-C."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced code block: its language, the labels after it, and its text."""

    language: str
    labels: tuple[str, ...]
    text: str


def list_code_blocks(document: Path) -> list[CodeBlock]:
    """Return the fenced blocks of a document, in order."""
    code_blocks = []
    for match in FENCED_BLOCK.finditer(document.read_text()):
        language, *labels = match["info"].split() or [""]
        code_blocks.append(CodeBlock(language, tuple(labels), match["text"]))
    return code_blocks


def read_guide(name: str) -> list[CodeBlock]:
    """Return the commands and programs of a document, except those in ``NOT_RUN``.

    A test that calls this unpacks the list, so that it fails if the document gets another block.
    """
    document = ROOT / name
    return [
        block
        for block in list_code_blocks(document)
        if block.language in {"sh", "python"} and not block.text.startswith(NOT_RUN.get(name, ()))
    ]


def list_command_lines(document: Path) -> list[str]:
    """Return every line of shell in a document: fenced, indented and inline, without comments."""
    text = document.read_text()
    fenced_texts = [block.text for block in list_code_blocks(document) if block.language in {"sh", ""}]
    prose = FENCED_BLOCK.sub("", text)
    texts = [*fenced_texts, *INDENTED_BLOCK.findall(prose), *INLINE_CODE.findall(prose)]
    joined_text = "\n".join(texts).replace("\\\n", " ")
    return [re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined_text.splitlines()]
