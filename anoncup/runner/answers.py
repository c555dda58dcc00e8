"""Answers of children: the result of a job, a domain error, or where the code failed."""

import json
import os
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate, pairwise
from operator import methodcaller
from typing import Any, Literal, cast

import pydantic_core
from pydantic import BaseModel, Field, TypeAdapter

from anoncup import errors
from anoncup.errors import (
    MAX_LISTED_PROBLEMS,
    CompetitionUnavailable,
    DomainError,
    FileProblem,
    InvalidCompetition,
    InvalidResult,
    InvalidUpload,
)
from anoncup.messages import Message
from anoncup.plugins import INSTALLED, Package
from anoncup.runner.jobs import AnyJob, Job, ResultT
from anoncup.runner.protocol import RunnerError
from anoncup.storable import require_storable

PACKAGE_FAILED = "package_failed"
"""Code of errors that name a package whose code failed."""
MAX_TRACE_LENGTH, _MAX_ERROR_BYTES = 10_000, 1 << 16
_RETURNED, _RAISED, _CRASHED = b"returned\n", b"raised\n", b"crashed\n"


class RaisedError(BaseModel):
    """A domain error in a form that can be raised again in another process."""

    kind: Literal[
        "InvalidUpload",
        "InvalidInput",
        "InvalidCompetition",
        "CompetitionUnavailable",
        "Conflict",
        "TooLarge",
    ]
    code: str = Field(max_length=100)
    message: Message
    problems: tuple[FileProblem, ...] = Field((), max_length=MAX_LISTED_PROBLEMS)
    total: int = Field(0, ge=0)

    @classmethod
    def from_error(cls, error: DomainError) -> "RaisedError":
        """Convert an error; raise ValidationError if jobs never raise its class."""
        problems, total = (error.problems, error.total) if isinstance(error, InvalidUpload) else ((), 0)
        kind = cast("Any", type(error).__name__)
        return cls(kind=kind, code=error.code, message=error.message, problems=problems, total=total)

    def to_error(self) -> DomainError:
        if self.kind == "InvalidUpload":
            if not self.problems:
                raise ValueError("an upload without problems is not invalid")
            return InvalidUpload(self.problems, total=self.total)
        error_class: type[DomainError] = getattr(errors, self.kind)
        return error_class(self.message, code=self.code)


class JobFailure(RunnerError):
    """The code failed."""


def find_failed_package(problem: RunnerError, package: Package | None) -> Package | None:
    """Return the package whose code failed, or else that of the track. Both are in the same environment."""
    environment = package.environment if package else ""
    neighbours = [neighbour for neighbour in INSTALLED.packages if neighbour.environment == environment]
    return next((neighbour for neighbour in neighbours if neighbour.name == problem.package), package)


class _Crash(BaseModel):
    trace: str
    package: str = Field(max_length=200)


def write_request(job: AnyJob) -> list[bytes]:
    """Return the parts of a request: a line with the class and the sizes of the others, the values, files."""
    contents: list[bytes] = []
    values = job.model_dump_json(context=contents).encode()
    sizes = list(map(len, (values, *contents)))
    head = json.dumps([type(job).__module__, type(job).__qualname__, sizes])
    return [head.encode() + b"\n", values, *contents]


def _read_request(content: bytes) -> AnyJob:
    start = content.index(b"\n") + 1
    module, name, sizes = json.loads(content[:start])
    ends = list(accumulate(sizes, initial=start))
    values, *contents = [content[slice(*bounds)] for bounds in pairwise(ends)]
    job_class: type[AnyJob] = getattr(import_module(module), name)
    return job_class.model_validate_json(values, context=contents)


def answer(request: bytes, progress: int | None = None) -> bytes:
    """Do the job of a request, and return the answer to be written."""
    job = _read_request(request)
    try:
        return _RETURNED + _serialize({"value": job.handler(job, ProgressSender(progress))})
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        return _describe_error(error, job)


@dataclass(slots=True)
class ProgressSender:
    """Sends each step of a job to its caller, and remembers the number of steps."""

    descriptor: int | None = None
    total: int = field(default=0, init=False)

    def __call__(self, number: int, total: int, name: str) -> None:
        self.total = total
        if self.descriptor is not None:
            os.write(self.descriptor, json.dumps([number, total, name]).encode())


def _describe_error(error: Exception | SystemExit, job: AnyJob) -> bytes:
    broken = next((package for package in INSTALLED.packages if package.broken), None)
    if isinstance(error, InvalidCompetition | CompetitionUnavailable) and broken:
        return _CRASHED + _serialize(_Crash(trace=broken.broken, package=broken.name))
    if job.raises_errors and isinstance(error, DomainError) and not isinstance(error, InvalidResult):
        with suppress(ValueError):
            return _RAISED + _serialize(RaisedError.from_error(error))
    # Only the frames and the type: an error's message may quote secrets, unless it is ours.
    trace = "".join([*traceback.format_tb(error.__traceback__), type(error).__qualname__])
    trace += f": {error}" if isinstance(error, InvalidResult) else ""
    trace = trace[-MAX_TRACE_LENGTH:]
    return _CRASHED + _serialize(_Crash(trace=trace, package=_find_failed_package(error)))


def _find_failed_package(error: Exception | SystemExit) -> str:
    """Return the package whose code raised the error or returned a wrong result; empty if there is none."""
    if isinstance(error, InvalidResult):
        return str(error.message.values.get("package", ""))
    names = {
        package.entry.partition(":")[0].partition(".")[0]: package.name for package in INSTALLED.packages
    }
    modules = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    return next((names[module] for module in reversed(modules) if module in names), "")


def read_answer(job: Job[ResultT], content: bytes) -> ResultT:
    """Return the result; raise its domain error, JobFailure, or ValueError if the answer is invalid."""
    start = content.find(b"\n") + 1
    kind, body = content[:start], content[start:]
    if kind == _RETURNED:
        return job.read_result(body)
    if len(body) > _MAX_ERROR_BYTES:
        raise ValueError("the error is too long")
    if kind == _RAISED and job.raises_errors:
        require_storable(pydantic_core.from_json(body))
        raise RaisedError.model_validate_json(body, strict=True, extra="forbid").to_error()
    if kind == _CRASHED:
        crash = _Crash.model_validate_json(body, strict=True, extra="forbid")
        trace = crash.trace[:MAX_TRACE_LENGTH].replace("\0", "")
        raise JobFailure(trace=trace, package=crash.package)
    raise ValueError("unknown answer")


# Without it, pydantic would write a message in a data class by its fields, which ``from_json`` does not read.
Message.__pydantic_serializer__ = TypeAdapter(Message).serializer  # type: ignore[attr-defined]


def _serialize(value: Any) -> bytes:
    # Numbers of numpy become those of Python; other values raise AttributeError.
    return pydantic_core.to_json(
        value, bytes_mode="base64", inf_nan_mode="constants", fallback=methodcaller("item")
    )
