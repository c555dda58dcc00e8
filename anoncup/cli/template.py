"""``anoncup template`` and ``anoncup scales``: a competition file to start from, and its scales."""

from __future__ import annotations

from typing import Annotated

import typer

from anoncup.cli.options import TEMPLATES_HELP, CompetitionFile, OriginalFiles, RoundName


def template(
    name: Annotated[str, typer.Argument(help=f"the template; {TEMPLATES_HELP}")],
) -> None:
    """Print a complete competition file to start from."""
    from anoncup.competition.templates import template as template_text

    print(template_text(name), end="")


def scales(competition: CompetitionFile, original: OriginalFiles, *, round_name: RoundName = None) -> None:
    """Print the competition file, or that of one round, with the scales of its utility scores.

    A scale of 0 is refused as the service does, unless the file has another one for the measure.
    """
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.scales import compute_usable_scales
    from anoncup.rules.toml_text import replace_scales

    contest = load_contest(competition, original, round_name)
    values = compute_usable_scales(contest.rules, contest.track, contest.original)
    print(replace_scales(contest.text, values), end="")
