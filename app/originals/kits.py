"""Starter kits: the files that a team needs to take part, with an example release that the rules accept."""

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from io import StringIO
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from jinja2 import Environment, StrictUndefined

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.originals import KitExample, MakeExampleJob
from anoncup.tracks.model import AnyTrack
from app.competitions import competitions
from app.core import wheels
from app.core.db.stored_files import read_rules
from app.core.locale.language import LANGUAGES, load_translator
from app.core.processes import parsing
from app.core.storage import get_store

_README = Path(__file__).with_name("kit_readme.md.jinja")
_MARKUP = re.compile(r"[\\`*_\[\]<>&#|~$]")
"""Characters that Markdown or HTML may interpret."""
_ENVIRONMENT = Environment(  # noqa: S701  # Markdown has no markup to escape
    trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
)


@dataclass(frozen=True, slots=True)
class Kit:
    """The inputs of a kit; equal inputs give equal files."""

    rules: Rules
    file: str
    """The published competition.toml."""
    original: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each file of the original data."""
    service_url: str


def iter_files(kit: Kit) -> Iterator[tuple[str, bytes | Iterator[bytes]]]:
    """Yield the names and contents of the kit's files."""
    rules, track = kit.rules, TRACKS[kit.rules.track]
    originals = [name for name, _ in kit.original]
    example = _load_example(kit.file, kit.original)
    headers = {name: _read_header(content.decode()) for name, content in example.files.items()}
    files = {
        "README.md": build_readme(rules, track, headers, originals, kit.service_url).encode(),
        "competition.toml": kit.file.encode(),
        "notebook.ipynb": _build_notebook(rules, track, originals),
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


def build_readme(
    rules: Rules,
    track: AnyTrack,
    headers: Mapping[str, str],
    originals: Collection[str],
    service_url: str,
) -> str:
    """Return the README in all languages.

    ``headers``: header line of each file of a release, including the secret. ``originals``: names of the
    available files of the original data.
    """
    secret, secret_header = track.answer_spec.file, headers[track.answer_spec.file.name]
    secret_examples = [lines[1:] for lines in secret.excerpts if lines[0] == secret_header]
    min_share = rules.limits.min_rows_kept
    example_options = f"{_build_release_options(track, 'example')} --secret example/{secret.name}.csv"
    own_options = _build_release_options(track, "mine")
    if not track.allocates_answer:
        own_options += f" --secret mine/{secret.name}.csv"
    zone = ZoneInfo(rules.timezone)
    phases = [
        replace(phase, start=phase.start.astimezone(zone), end=phase.end.astimezone(zone))
        for phase in rules.phases
    ]
    template = _ENVIRONMENT.from_string(_README.read_text("utf-8")).render
    return "\n".join(
        template(
            _=t,
            title=_build_title(rules, t.language),
            track_title=t(track.title or track.name),
            individual=t(track.individual),
            rules=rules,
            track=track,
            service_url=service_url,
            version=version("anoncup"),
            phases=phases,
            headers=headers,
            secret=secret,
            secret_lines=(secret_header, *next(iter(secret_examples), ("…",))),
            min_share="" if min_share is None else f"{100 * min_share:.12g}%",
            contest_options=_build_contest_options(track, originals),
            # Where the service allocates the answer, the team gets it only after it has signed in.
            scored_options=example_options if track.allocates_answer else own_options,
            submit_options=own_options,
            requirements=wheels.list_requirements(service_url, rules),
            method=track.examples.method or next(iter(track.methods)),
            light_command=wheels.build_command(service_url, rules, scores=False),
            full_command=wheels.build_command(service_url, rules, scores=True),
        )
        for t in map(load_translator, LANGUAGES)
    )


def _build_title(rules: Rules, language: str) -> str:
    """Return the title with a backslash before each character that Markdown or HTML may interpret."""
    title = rules.title.get(language) or next(iter(rules.title.values()), rules.slug)
    return _MARKUP.sub(r"\\\g<0>", title)


def _build_contest_options(track: AnyTrack, originals: Collection[str]) -> str:
    """Return the command-line options for rules and data; ``originals``: names of the available files."""
    required = {file.name for file in track.original_files if file.required}
    original_options = " ".join(
        f"--original {'' if name in required else f'{name}='}original/{name}.csv"
        for name in track.original_file_names
        if name in originals
    )
    return f"--competition competition.toml {original_options}"


def _build_release_options(track: AnyTrack, folder: str) -> str:
    return " ".join(f"--{name} {folder}/{name}.csv" for name in track.release_file_names)


def _build_notebook(rules: Rules, track: AnyTrack, originals: Collection[str]) -> bytes:
    """Return a notebook that scores the example, anonymizes the data and scores again, beside them."""
    original = {name: f"original/{name}.csv" for name in track.original_file_names if name in originals}
    example = {name: f"example/{name}.csv" for name in track.release_file_names}
    secret = json.dumps(f"example/{track.answer_spec.file.name}.csv")
    method = json.dumps(track.examples.method or next(iter(track.methods)))
    languages = [load_translator(language) for language in LANGUAGES]
    introductions = [
        f"# {_build_title(rules, t.language)}\n\n"
        + t("The command in `README.md` opens this notebook. It scores the example of the kit:")
        for t in languages
    ]
    cells = [
        ("markdown", "text-1", introductions),
        (
            "code",
            "code-1",
            [
                f'import anoncup\n\ncompetition = "competition.toml"\noriginal = {json.dumps(original)}\n'
                f"anoncup.score(original, {json.dumps(example)}, {secret}, competition=competition)"
            ],
        ),
        (
            "markdown",
            "text-2",
            [t("Anonymize the data with a sample method and score the result:") for t in languages],
        ),
        (
            "code",
            "code-2",
            [
                f"mine = anoncup.anonymize(original, {method}, competition=competition)\n"
                "anoncup.score(original, mine.tables, mine.secret, competition=competition)"
            ],
        ),
    ]
    notebook = {
        "cells": [
            {"cell_type": kind, "id": identifier, "metadata": {}}
            | {"source": "\n\n".join(texts).splitlines(keepends=True)}
            | ({"execution_count": None, "outputs": []} if kind == "code" else {})
            for kind, identifier, texts in cells
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
