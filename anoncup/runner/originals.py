"""Jobs about originals: import a table, prepare the data of a competition, and make examples of releases."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from anoncup.competition.parser import parse_competition
from anoncup.excessive.question import drop_identifying_columns
from anoncup.lazy import lazy_in
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.runner.jobs import Content, Files, Job
from anoncup.runner.protocol import MAX_FILES_BYTES
from anoncup.runner.results import Count, Remarks
from anoncup.storable import require_storable
from anoncup.tables.files import Remark
from anoncup.tracks.capabilities import AllocationContext
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows
from anoncup.tracks.seeds import refuse_to_draw

ENCODINGS = ("utf_8", "cp932", "euc_jp", "utf_16", "cp1252")
SEPARATORS = (",", ";", "\t", "|")
DECIMAL_MARKS = (".", ",")
LEFT_OUT = ""
"""The role of a column that is not imported."""
CUT_SUFFIX = ":4"
"""Ends the role of a column of whose cells only the first characters are imported."""
CUT_LENGTH = 4
"""Length of the year at the beginning of a date."""
_EXAMPLE_SEED = 2015
_MAX_SCORED_ROWS = 20_000
"""Largest original whose example is scored: a team waits for a new kit."""

_here = lazy_in(__name__)
_import = lazy_in("anoncup.runner.imported_tables")


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How a file writes a table.

    ``missing_texts`` are the cells that stand for a missing value. With ``fills_zeros``, columns of amounts
    get a 0 wherever a value is missing.
    """

    encoding: str = ENCODINGS[0]
    separator: str = SEPARATORS[0]
    decimal_mark: str = DECIMAL_MARKS[0]
    has_header: bool = True
    missing_texts: tuple[str, ...] = ()
    fills_zeros: bool = False


@dataclass(frozen=True, slots=True)
class ImportedColumn:
    """A column of a table, with its present or suggested role.

    ``reason`` tells why it seems to identify individuals; None if it does not. ``can_be_cut``: the beginning
    of each cell means something, such as the year of a date. ``distinct`` and ``empty`` are the numbers of
    its values and of its empty cells.
    """

    name: str
    role: str
    reason: str | None
    can_be_cut: bool
    distinct: int
    empty: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """A table as it is read from a file. ``roles`` are those that its columns can have.

    If its columns have fixed names, these names are the roles, and ``has_fixed_names`` is set.
    """

    rows: int
    columns: tuple[ImportedColumn, ...]
    first_rows: tuple[tuple[str, ...], ...]
    roles: tuple[str, ...]
    has_fixed_names: bool


class GuessFormatJob(Job[TableFormat]):
    """Guess the format of a file; raises InvalidUpload for archives and spreadsheets."""

    handler = _import("guess_format")

    competition_file: str = ""
    name: str
    content: Content


class DescribeTableJob(Job[ImportedTable]):
    """Read a file and suggest roles for its columns; raises InvalidUpload."""

    handler = _import("describe_table")

    name: str
    content: Content
    table_format: TableFormat


class ImportTableJob(Job[tuple[str, bytes]]):
    """Return the competition file and the CSV file for a table whose columns have these roles.

    A role may end in ``CUT_SUFFIX``. Raises InvalidUpload for a table without the fixed columns of its file.
    """

    handler = _import("import_table")
    max_result_bytes = MAX_FILES_BYTES

    name: str
    content: Content
    table_format: TableFormat
    roles: tuple[str, ...]


class CleanTableJob(Job[tuple[bytes, Remarks]]):
    """Return the columns that the competition file names as CSV, and what was guessed and changed.

    Raises InvalidUpload for a file that cannot be read or lacks a column.
    """

    handler = _import("clean_table")
    max_result_bytes = MAX_FILES_BYTES

    name: str
    content: Content


class DecodeJob(Job[bytes]):
    """Return a file of the original as UTF-8."""

    handler = _here("decode")
    max_result_bytes = MAX_FILES_BYTES

    competition_file: str = ""
    name: str
    content: Content


def decode(job: "DecodeJob | SelectColumnsJob", _: object) -> bytes:
    from anoncup.tables.csv_text import decode_upload  # noqa: PLC0415  # Arrow

    return decode_upload(job.content, job.name)[0]


class SelectColumnsJob(Job[tuple[str, ...]]):
    """Return the columns that ``drop_identifying_columns`` keeps."""

    handler = _here("_drop_identifying_columns")

    competition_file: str = ""
    name: str
    content: Content
    columns: tuple[str, ...]


def _drop_identifying_columns(job: SelectColumnsJob, _: object) -> tuple[str, ...]:
    from anoncup.tables.csv_text import read_cells, read_header  # noqa: PLC0415  # Arrow

    text = decode(job, _)
    table = read_cells(text, read_header(text, job.name), job.name)
    return drop_identifying_columns(table.to_pandas(), job.columns)


@dataclass(frozen=True, slots=True)
class ParsedOriginal:
    """The result of parsing the original data; ``individuals`` is None while a file is missing."""

    individuals: Count | None
    scales: Annotated[dict[str, float], AfterValidator(require_storable)]
    remarks: Remarks


class ParseOriginalJob(Job[ParsedOriginal]):
    """Parse the original data by a competition file.

    ``in_use``: there are submissions, so the scales are no longer checked.
    """

    handler = _here("parse_original")

    in_use: bool


def parse_original(job: ParseOriginalJob, _: object) -> ParsedOriginal:
    from anoncup.evaluation.scales import check_scales, scales  # noqa: PLC0415  # numpy

    rules = parse_competition(job.competition_file)
    track = TRACKS[rules.track]
    missing = [file.name for file in track.original_files if file.required and file.name not in job.original]
    if missing:
        if job.original:
            track.check_first_file(job.original, rules)
        remarks = tuple(map(_build_missing_file_remark, missing)) if job.original else ()
        return ParsedOriginal(None, {}, remarks)
    original, found_remarks = track.parse_original(job.original, rules)
    all_scales = {**scales(track, original, rules.measures), **rules.scales}
    if not job.in_use:
        check_scales(track, original, rules, all_scales)
    return ParsedOriginal(original.rows, all_scales, tuple(found_remarks))


def _build_missing_file_remark(name: str) -> Remark:
    message = Message("{name}.csv is not uploaded yet; until then nobody sees the data", name=name)
    return Remark("file_missing", message)


class CheckOrganizerFileJob(Job[str | None]):
    """Check an organizer file; return a team that would get other files than it has, or None.

    ``allocated`` maps the names of teams to the SHA-256 of their files by name.
    """

    handler = _here("check_organizer_file")

    name: str
    content: Content
    allocated: dict[str, dict[str, str]]


def check_organizer_file(job: CheckOrganizerFileJob, _: object) -> str | None:
    rules = job.load_rules()
    allocation = TRACKS[rules.track].allocation
    if allocation is None:
        return None
    original = job.load_original()
    if allocation.check_organizer_file is not None:
        allocation.check_organizer_file(job.name, job.content, original, rules)
    for team, files in job.allocated.items():
        context = AllocationContext(rules, {job.name: job.content}, refuse_to_draw, team)
        new_files = allocation.make_files(original, context)
        if {name: hashlib.sha256(content).hexdigest() for name, content in new_files.items()} != files:
            return team
    return None


class SampleReleaseJob(Job[Files]):
    """Make the release of a sample method and its secret. The result is reproducible.

    ``answer``: the one allocated to the baselines, or None where teams send secrets. All baselines share one
    answer, so that they differ only in their methods.
    """

    handler = _here("_make_sample_release")
    max_result_bytes = MAX_FILES_BYTES

    method: str
    seed: int
    answer: bytes | None


def _make_sample_release(job: SampleReleaseJob, _: object) -> Files:
    from numpy.random import default_rng  # noqa: PLC0415

    rules, track, original = job.load()
    rng, allocated_answer = default_rng(job.seed), {}
    if job.answer is not None:
        allocated_answer["answer"] = track.read_allocated_answer(job.answer, original, rules)
    release, answer = track.anonymize(track.methods[job.method], original, rules, rng, {}, **allocated_answer)
    release, answer = track.shuffle(release, answer, rng=rng)
    files = track.files_of(release)
    return files if allocated_answer else {**files, SECRET_FILE: track.answer_spec.write(answer)}


@dataclass(frozen=True, slots=True)
class KitExample:
    """The files of an example release with its secret, and its score as JSON; empty if it took too long."""

    files: dict[str, bytes]
    score: bytes


class MakeExampleJob(Job[KitExample]):
    """Make a release that the rules accept.

    The result is reproducible. If no candidate is accepted, the last one is returned.
    """

    handler = _here("_make_example")
    max_result_bytes = MAX_FILES_BYTES


def _make_example(job: MakeExampleJob, _: object) -> KitExample:
    from anoncup.evaluation.evaluate import check_rules, evaluate  # noqa: PLC0415  # numpy

    rules, track, original = job.load()
    for release, answer in _iter_candidates(rules, track, original):
        if not check_rules(rules, original, release, answer)[0]:
            break
    score = b""
    if original.rows <= _MAX_SCORED_ROWS:
        score = json.dumps(evaluate(rules, original, release, answer).to_json(), indent=2).encode()
    files = track.files_of(release) | {track.answer_spec.file.name: track.answer_spec.write(answer)}
    return KitExample(files, score)


def _iter_candidates(rules: Rules, track: AnyTrack, original: HasRows) -> Iterator[tuple[object, object]]:
    """Yield candidates for the example release, in order of preference, each shuffled.

    The track's example method comes first. If the track can release its original unchanged, this follows,
    which is never excessive. All sample methods come last.
    """
    from numpy.random import default_rng  # noqa: PLC0415

    rng = default_rng(_EXAMPLE_SEED)
    if track.examples.method:
        release, source = track.anonymize(track.methods[track.examples.method], original, rules, rng, {})
        yield track.shuffle(release, source, rng=rng)
    if track.scaling.identity_release is not None:
        untouched = track.scaling.identity_release(original)
        yield track.shuffle(untouched.release, untouched.answer, rng=rng)
    for method in track.methods.values():
        release, answer = track.anonymize(method, original, rules, rng, {})
        yield track.shuffle(release, answer, rng=rng)
