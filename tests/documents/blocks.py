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
)

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:    [^\n]+\n+)+")
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(
    r"\]\((?!https?:)(?P<path>[^)#\s]+)(?:#[^)]*)?\)|^\[\w+\]: (?!https?:)(?P<reference>\S+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the words after it, and its lines."""

    language: str
    labels: tuple[str, ...]
    text: str


def blocks(document: Path) -> list[Block]:
    """Return the fenced blocks of a document, in order."""
    found = []
    for match in FENCE.finditer(document.read_text()):
        language, *labels = match["info"].split() or [""]
        found.append(Block(language, tuple(labels), match["text"]))
    return found


def command_lines(document: Path) -> list[str]:
    """Return every line of shell in a document: fenced, indented and inline, without comments."""
    text = document.read_text()
    fenced = [block.text for block in blocks(document) if block.language in {"sh", ""}]
    prose = FENCE.sub("", text)
    texts = [*fenced, *INDENTED.findall(prose), *INLINE.findall(prose)]
    joined = "\n".join(texts).replace("\\\n", " ")
    return [re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined.splitlines()]


def linked_paths(document: Path) -> list[str]:
    """Return the relative paths that a document links to."""
    return [match["path"] or match["reference"] for match in LINK.finditer(document.read_text())]
