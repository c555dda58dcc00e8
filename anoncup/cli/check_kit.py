"""``anoncup check-kit``: check that a kit is complete and that this machine computes the service's scores."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.cli.options import AsJson
from anoncup.cli.output import print_result
from anoncup.cli.terminal import progress_bar
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup.evaluation.evaluate import Verdict

_COMPARED_FIELDS = ("verdict", "measures", "attackers", "excessive", "utility", "security", "overall")
_TOLERANCE = 1e-12
_MAX_LISTED = 10


def check_kit(
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="the folder of the unpacked kit")
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Check, offline, that a kit is complete and that this machine scores its example as the service does."""
    file_count = _check_digests(folder)
    score_path, number_count = folder / "example" / "score.json", 0
    if score_path.exists():
        verdict = json.loads(json.dumps(_score_example(folder).to_json()))
        number_count = _require_equal_scores(json.loads(score_path.read_text("utf-8")), verdict)
    sentence = f"the kit is complete: {file_count} files"
    sentence += (
        f"\nthis machine computes the scores of the service: {number_count} values agree"
        if number_count
        else "\nthe data are too large for a kit with scores to compare"
    )
    print_result({"files": file_count, "values": number_count}, sentence, as_json=as_json)


def _check_digests(folder: Path) -> int:
    """Return the number of files; raise InvalidInput if one is missing or changed."""
    sums = folder / "SHA256SUMS"
    if not sums.exists():
        raise InvalidInput(
            "there is no SHA256SUMS in {folder}: this is for the folder of an unpacked kit",
            code="no_manifest",
            folder=str(folder),
        )
    lines = sums.read_text("utf-8", "replace").splitlines()
    for line in lines:
        match = re.fullmatch(r"([0-9a-f]{64}) [ *]((?:\w[\w.-]*/)?\w[\w.-]*)", line)
        if match is None:
            raise InvalidInput("SHA256SUMS does not fit the files", code="wrong_manifest")
        digest, name = match.groups()
        if not (folder / name).is_file():
            raise InvalidInput("{file} is missing", code="damaged_kit", file=name)
        if compute_file_digest(folder / name) != digest:
            raise InvalidInput("{file} is not the file of the kit", code="damaged_kit", file=name)
    return len(lines)


def compute_file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _score_example(folder: Path) -> Verdict:
    from anoncup.cli.local_files import load_contest, read_upload
    from anoncup.evaluation.evaluate import evaluate

    originals = [f"{path.stem}={path}" for path in sorted((folder / "original").glob("[!.]*.csv"))]
    contest = load_contest(folder / "competition.toml", originals)
    release = {name: folder / "example" / f"{name}.csv" for name in contest.track.release_file_names}
    secret = folder / "example" / f"{contest.track.answer_spec.file.name}.csv"
    upload = read_upload(contest, release, secret)
    with progress_bar("scoring") as progress:
        return evaluate(contest.rules, contest.original, upload.release, upload.answer, progress=progress)


def _require_equal_scores(expected: Mapping[str, Any], scores: Mapping[str, Any]) -> int:
    """Return the number of compared values; raise InvalidInput if some differ."""
    pairs = [pair for name in _COMPARED_FIELDS for pair in _iter_values(name, expected[name], scores[name])]
    differences = [
        f"{name}: {ours} instead of {theirs}" for name, theirs, ours in pairs if not _is_equal(theirs, ours)
    ]
    if differences:
        raise InvalidInput(
            "this machine computes {count} other values than the service: {differences}",
            code="different_scores",
            count=len(differences),
            differences=tuple(differences[:_MAX_LISTED]),
        )
    return len(pairs)


def _iter_values(name: str, expected: object, value: object) -> Iterator[tuple[str, object, object]]:
    """Yield the name, the service's and this machine's value of each part that the service has scored."""
    if isinstance(expected, dict):
        parts = value if isinstance(value, dict) else {}
        for part, inner in expected.items():
            yield from _iter_values(f"{name}.{part}", inner, parts.get(part))
    else:
        yield name, expected, value


def _is_equal(expected: object, value: object) -> bool:
    """Compare numbers with decimals up to rounding, everything else exactly."""
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        return all(map(_is_equal, expected, value))
    if isinstance(expected, float) and isinstance(value, float):
        return math.isclose(expected, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return expected == value
