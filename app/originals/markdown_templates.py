"""Templates of the Markdown files in archives."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


_MARKUP = re.compile(r"[\\`*_\[\]<>&#|~$]")


def escape_markdown(text: str) -> str:
    """Return the text with a backslash before each character that Markdown or HTML may interpret."""
    return _MARKUP.sub(r"\\\g<0>", text)


@cache
def load_template(path: Path) -> "Template":
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # only kits need it

    environment = Environment(  # noqa: S701  # Markdown has no markup to escape
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    return environment.from_string(path.read_text("utf-8"))
