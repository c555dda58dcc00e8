"""``anoncup threshold``: advice to organizers, with its tables and histograms."""

import json
from typing import Annotated

import typer

from anoncup.cli.options import AsJson, CompetitionFile, GroupColumns, OriginalFiles, names_in
from anoncup.cli.terminal import console, progress_bar


def threshold(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    groups: GroupColumns = None,
    distance: Annotated[
        str | None, typer.Option(help="how individuals are compared; default: the competition's distance")
    ] = None,
    bits: Annotated[
        int, typer.Option(min=1, max=1000, help="a cheat passes with probability at most 2^-BITS")
    ] = 50,
    draws: Annotated[
        int | None, typer.Option(min=0, help="permutations of each type to simulate; default: 10,000")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="time to make more of the bounds exact")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Advise on the threshold of the rule against excessive anonymization."""
    from anoncup import schemas
    from anoncup.cli.local_files import contest_of
    from anoncup.cli.threshold_report import show_advice
    from anoncup.excessive import DRAWS
    from anoncup.excessive.question import Question, answer, checked

    contest = contest_of(competition, original)
    asked = Question(names_in(groups), distance, bits, DRAWS if draws is None else draws, seconds)
    asked = checked(asked, contest.rules)
    with progress_bar("threshold") as progress:
        found = answer(asked, contest.rules, contest.prepared, progress=progress)
    advice = schemas.advice(found.to_json())
    if as_json:
        print(json.dumps(advice.model_dump(mode="json"), indent=2))
    else:
        show_advice(console(), advice)
