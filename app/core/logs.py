"""Logging of all processes: JSON lines, or readable lines in a terminal."""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor


def configure() -> None:
    """Send the lines of structlog and of standard loggers to stderr. Call it once when a process starts."""
    common_processors: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _drop_exception_message,
    ]
    structlog.configure(
        processors=[*common_processors, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    is_terminal = sys.stderr.isatty()
    renderer: Processor = (
        structlog.dev.ConsoleRenderer() if is_terminal else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            foreign_pre_chain=common_processors,
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.captureWarnings(True)
    # uvicorn would log query strings, which may contain codes. The application logs each request itself.
    logging.getLogger("uvicorn.access").disabled = True


def _drop_exception_message(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Log the traceback and type of an exception without its message, which may contain secrets."""
    exc_info = event.pop("exc_info", None)
    error = (
        sys.exc_info()[1] if exc_info is True else exc_info[1] if isinstance(exc_info, tuple) else exc_info
    )
    if isinstance(error, BaseException):
        frames = "".join(traceback.format_tb(error.__traceback__))
        event["exception"] = f"{frames}{type(error).__qualname__}"
    return event
