"""Releases of sample methods, as the files that a team would submit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anoncup.rules.model import Rules
from anoncup.tracks.files import SECRET_FILE
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMethod, HasRows

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True)
class MethodResult:
    """A release of a sample method in the original's order, with its answer.

    ``is_unchanged``: the method returned its input.
    """

    release: Any
    answer: Any
    is_unchanged: bool


def apply_method(
    track: AnyTrack,
    method: AnyMethod,
    original: HasRows,
    *,
    rules: Rules,
    rng: "Generator",
    parameters: Mapping[str, object],
    **allocation: object,
) -> MethodResult:
    """Apply a sample method, and find out whether it changed anything."""
    inputs: list[Any] = []

    def apply(table: Any, *arguments: Any, **options: Any) -> Any:
        inputs.append(table)
        return method.apply(table, *arguments, **options)

    recorded_method = replace(method, apply=apply)
    release, answer = track.anonymize(recorded_method, original, rules, rng, parameters, **allocation)
    # The input of a method may be of another type than a release, as where the release has pseudonyms.
    is_unchanged = any(
        type(table) is type(release) and track.files_of(table) == track.files_of(release) for table in inputs
    )
    return MethodResult(release, answer, is_unchanged)


def build_sample_release(
    track: AnyTrack, method: str, original: HasRows, rules: Rules, rng: "Generator", **allocation: object
) -> dict[str, bytes]:
    """Return the files of a release with shuffled rows.

    They include the secret, unless the service has an ``allocation`` for the team and knows it already.
    """
    release, secret = track.anonymize(track.methods[method], original, rules, rng, {}, **allocation)
    release, secret = track.shuffle(release, secret, rng=rng)
    files = track.files_of(release)
    return files if allocation else {**files, SECRET_FILE: track.answer_spec.write(secret)}
