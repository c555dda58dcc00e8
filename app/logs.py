"""One way to log for the web, workers and the clock: a line of JSON each, or readable in a terminal."""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

FOREIGN = ("uvicorn", "uvicorn.error")
"""Loggers that come with handlers of their own."""


def configure() -> None:
    """Call it once, when a process starts: structlog's and everybody else's lines go to stderr."""
    stamps: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        frames_only,
    ]
    structlog.configure(
        processors=[*stamps, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    terminal = sys.stderr.isatty()
    last: Processor = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
            foreign_pre_chain=stamps,
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.captureWarnings(True)
    for name in FOREIGN:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    # It would write queries, which may carry codes; the application has its own line for each request.
    logging.getLogger("uvicorn.access").disabled = True


def frames_only(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Where an error happened and of what kind, not its message: that may quote what must stay secret."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        frames = "".join(traceback.format_tb(error.__traceback__))
        event["exception"] = f"{frames}{type(error).__qualname__}"
    return event
