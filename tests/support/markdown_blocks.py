"""Code blocks and links of the Markdown documents."""

import re
import textwrap
from collections.abc import Mapping
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
LINK_PATTERN = re.compile(
    r"\]\((?!https?:|/)(?P<path>[^)#\s]+)(?:#[^)]*)?\)|^\[\w+\]: (?!https?:)(?P<reference>\S+)$", re.MULTILINE
)
PROGRAM_LANGUAGES = {"sh", "python"}
INSTALLS = "installs from a package index; tests/test_library.py installs the wheel"
NEEDS_DOCKER = "needs Docker; tests/containers/test_compose_runs.py runs docker-compose.yml"
NEEDS_KUBERNETES = "needs a cluster; tests/test_kubernetes.py checks the manifests"
NEEDS_ROOT = "needs root, or the folders of an installation with systemd"
NOT_A_PROGRAM = "a line of a log or SQL"
NOT_RUN: Mapping[tuple[str, str], str] = {
    ("docs/take-part.md", "uv tool install"): INSTALLS,
    ("docs/take-part.md", "python3 -m venv .venv"): INSTALLS,
    ("docs/take-part.md", "export UV_FIND_LINKS"): INSTALLS,
    ("docs/organize.md", "./bootstrap requirements.lock"): INSTALLS,
    ("docs/organize.md", "anoncup demo"): "runs until Ctrl-C; tests/e2e/test_own_contest.py runs it",
    ("docs/operate.md", "./bootstrap requirements.lock"): INSTALLS,
    ("docs/tracks.md", "python3 -m venv ~/places"): INSTALLS,
    (
        "docs/tracks.md",
        "anoncup packages add",
    ): "needs a package index and Python 3.12; tests/e2e/test_track_package.py adds one",
    ("docs/hosting.md", "printf 'POSTGRES_PASSWORD"): NEEDS_DOCKER,
    ("docs/hosting.md", "#!/bin/sh"): "tests/test_nightly_backups.py runs it with a replacement for docker",
    ("docs/hosting.md", "docker compose up --detach postgres"): NEEDS_DOCKER,
    ("docs/hosting.md", "limit_conn_zone"): NOT_A_PROGRAM,
    ("docs/hosting.md", '{"kind": "DiskFull"'): NOT_A_PROGRAM,
    (
        "docs/hosting.md",
        "docker build",
    ): "needs Docker; tests/containers/test_compose_runs.py builds the images",
    ("docs/hosting.md", "anoncup keys create"): NEEDS_KUBERNETES,
    ("docs/hosting.md", "kubectl create namespace"): NEEDS_KUBERNETES,
    ("docs/hosting.md", "kubectl delete job"): NEEDS_KUBERNETES,
    ("docs/hosting.md", '{"standing": "landlock'): NOT_A_PROGRAM,
    ("docs/hosting.md", "python3 -m venv /opt/anoncup"): NEEDS_ROOT,
    ("docs/hosting.md", "CREATE ROLE anoncup LOGIN"): NOT_A_PROGRAM,
    ("docs/hosting.md", "CREATE ROLE anoncup_web"): NOT_A_PROGRAM,
    (
        "docs/api.md",
        "curl -sS http://127.0.0.1:8000/api/v1/openapi.json",
    ): "needs a package index; tests/e2e/test_generated_client.py makes a client",
    ("docs/scale.md", ".venv/bin/python -m benchmarks.scale"): "takes minutes",
}
"""Code blocks that no test of ``tests/documents`` runs, by document and begin, and why."""


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


def list_indented_blocks(document: Path) -> list[str]:
    """Return the indented blocks of a document, without their indentation."""
    prose = FENCED_BLOCK.sub("", document.read_text())
    return [f"{textwrap.dedent(block).rstrip()}\n" for block in INDENTED_BLOCK.findall(prose)]


def find_reason(document: Path, text: str) -> str | None:
    """Return why no test runs a block of a document; None if one must."""
    name = str(document.relative_to(ROOT))
    reasons = (
        reason for (guide, start), reason in NOT_RUN.items() if guide == name and text.startswith(start)
    )
    return next(reasons, None)


def read_guide(name: str) -> list[CodeBlock]:
    """Return the commands and programs of a document, except those in ``NOT_RUN``.

    A test that calls this unpacks the list, so that it fails if the document gets another block.
    """
    document = ROOT / name
    return [
        block
        for block in list_code_blocks(document)
        if block.language in PROGRAM_LANGUAGES and find_reason(document, block.text) is None
    ]


def list_command_lines(document: Path) -> list[str]:
    """Return every line of shell in a document: fenced, indented and inline, without comments."""
    text = document.read_text()
    fenced_texts = [block.text for block in list_code_blocks(document) if block.language in {"sh", ""}]
    prose = FENCED_BLOCK.sub("", text)
    texts = [*fenced_texts, *INDENTED_BLOCK.findall(prose), *INLINE_CODE.findall(prose)]
    joined_text = "\n".join(texts).replace("\\\n", " ")
    return [re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined_text.splitlines()]


def list_linked_paths(document: Path) -> list[str]:
    """Return the relative paths that a document links to. A path from the root is one of the service."""
    return [match["path"] or match["reference"] for match in LINK_PATTERN.finditer(document.read_text())]
