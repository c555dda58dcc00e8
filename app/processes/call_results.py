"""Results and errors of functions that are called in a child, as JSON."""

import sys
import traceback
from collections.abc import Callable
from typing import Any, Generic, Literal, NoReturn, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from anoncup import errors
from anoncup.errors import DomainError, FileProblem, InvalidUpload
from anoncup.messages import Message
from app.processes.child_entry import Pipe

T = TypeVar("T")

_BYTES_AS_BASE64 = ConfigDict(
    strict=True, ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="constants"
)


class CallResult(BaseModel, Generic[T]):
    """The result of a call."""

    model_config = _BYTES_AS_BASE64

    value: T

    def unwrap(self) -> T:
        """Return the result."""
        return self.value


class CallError(BaseModel):
    """A domain error in a form that can be raised again in another process."""

    model_config = _BYTES_AS_BASE64

    kind: Literal[
        "InvalidUpload",
        "InvalidInput",
        "InvalidResult",
        "InvalidCompetition",
        "CompetitionUnavailable",
        "Conflict",
        "TooLarge",
    ]
    code: str
    message: Message
    problems: tuple[FileProblem, ...] = ()
    total: int = 0

    @classmethod
    def from_error(cls, error: DomainError) -> "CallError":
        """Convert an error; raise ValidationError if a parser never raises its class."""
        kind = cast("Any", type(error).__name__)
        problems, total = (error.problems, error.total) if isinstance(error, InvalidUpload) else ((), 0)
        return cls(kind=kind, code=error.code, message=error.message, problems=problems, total=total)

    def unwrap(self) -> NoReturn:
        """Raise the error."""
        raise self.to_error()

    def to_error(self) -> DomainError:
        if self.kind == "InvalidUpload":
            return InvalidUpload(self.problems, total=self.total)
        error_class: type[DomainError] = getattr(errors, self.kind)
        return error_class(self.message, code=self.code)


def answer_call(pipe: Pipe, compute: Callable[[], CallResult[Any]]) -> None:
    """Send the result of ``compute``, or its error, to the parent."""
    from anoncup.geometry.kernels.compilation import LoopsUnavailable  # noqa: PLC0415  # numba

    try:
        kind, content = _serialize_result(compute)
        pipe.send({kind: len(content)}, content)
    except LoopsUnavailable:
        pipe.send({"failed": "cold"})
    except MemoryError:
        pipe.send({"failed": "memory"})
    except Exception:
        # Only the frames: an error's message may quote secrets.
        error, _, frames = sys.exc_info()
        trace = "".join(traceback.format_tb(frames)) + getattr(error, "__qualname__", "")
        pipe.send({"failed": "crash", "trace": trace})


def _serialize_result(compute: Callable[[], CallResult[Any]]) -> tuple[str, bytes]:
    """Return the kind of answer, "returned" or "raised", and its JSON."""
    try:
        return "returned", serialize(compute())
    except DomainError as problem:
        return "raised", serialize(CallError.from_error(problem))


def serialize(model: BaseModel) -> bytes:
    return model.model_dump_json(warnings=False, fallback=_convert_numpy_scalar).encode()


def _convert_numpy_scalar(value: Any) -> Any:
    """Convert a numpy scalar to a Python number; raise AttributeError for other values."""
    return value.item()
