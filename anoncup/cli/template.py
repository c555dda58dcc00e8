"""``anoncup template``: print a complete competition file to start from."""

from __future__ import annotations

from typing import Annotated

import typer

from anoncup.cli.options import TEMPLATES_HELP


def template(
    name: Annotated[str, typer.Argument(help=f"the template; {TEMPLATES_HELP}")],
) -> None:
    """Print a complete competition file to start from."""
    from anoncup.competition.templates import template as template_text

    print(template_text(name), end="")
