"""Starter kits: the files that a team needs to take part, with an example release that the rules accept."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from io import StringIO
from itertools import islice

from anoncup.competition.required_packages import list_packages
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.originals import KitExample, MakeExampleJob
from app.competitions import competitions
from app.core.db.stored_files import read_rules
from app.core.processes import parsing
from app.core.storage import get_store
from app.originals import kit_notebook, kit_readme
from app.originals.kit_readme import ServiceInfo


@dataclass(frozen=True, slots=True)
class Kit:
    """The inputs of a kit; equal inputs give equal files."""

    rules: Rules
    file: str
    """The published competition.toml."""
    original: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each file of the original data."""
    service: ServiceInfo


def list_requirements(rules: Rules) -> str:
    """Return the requirements for the packages of a competition, separated by spaces."""
    packages = list_packages(rules)
    return " ".join(sorted({f"{package.name}=={package.version}" for package in packages if package.version}))


def iter_files(kit: Kit) -> Iterator[tuple[str, bytes | Iterator[bytes]]]:
    """Yield the names and contents of the kit's files."""
    rules, track = kit.rules, TRACKS[kit.rules.track]
    originals = [name for name, _ in kit.original]
    example = _load_example(kit.file, kit.original)
    headers = {name: _read_header(content.decode()) for name, content in example.files.items()}
    files = {
        "README.md": kit_readme.build_readme(rules, track, headers, originals, kit.service).encode(),
        "competition.toml": kit.file.encode(),
        "notebook.ipynb": kit_notebook.build_notebook(rules, track, originals, kit.service),
        **{f"example/{name}.csv": content for name, content in example.files.items()},
        **({"example/score.json": example.score} if example.score else {}),
    }
    yield from files.items()
    for name, digest in kit.original:
        yield f"original/{name}.csv", get_store().read_chunks(digest)
    yield "SHA256SUMS", _render_checksums(kit, files)


@lru_cache(maxsize=2)  # all teams download the kit of a competition, and its example is scored
def _load_example(file: str, original: tuple[tuple[str, str], ...]) -> KitExample:
    job = MakeExampleJob(competition_file=file, original=competitions.load_contents(dict(original)))
    return parsing.read_original(job, read_rules(file).track)


def _read_header(table: str) -> str:
    """Return the header line; a column name in quotes may contain line breaks."""
    reader = csv.reader(StringIO(table, newline=""))
    next(reader, None)
    return "".join(islice(StringIO(table, newline=""), reader.line_num)).rstrip("\r\n")


def _render_checksums(kit: Kit, files: Mapping[str, bytes]) -> bytes:
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    digests |= {f"original/{name}.csv": digest for name, digest in kit.original}
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()
