"""``anoncup threshold``: advise organizers on the threshold against excessive anonymization."""

from __future__ import annotations

from typing import Annotated

import typer

from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    GroupColumns,
    OriginalFiles,
    RoundName,
    parse_group_columns,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import progress_bar


def threshold(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
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
    as_json: AsJson = False,
) -> None:
    """Advise on the threshold of the rule against excessive anonymization."""
    from anoncup import schemas
    from anoncup.cli.local_files import load_contest
    from anoncup.cli.score import build_notices
    from anoncup.cli.submissions import show_warnings
    from anoncup.dataframes import build_advised_threshold
    from anoncup.evaluation.threshold_report import make_report
    from anoncup.excessive import SIMULATED_PERMUTATIONS
    from anoncup.excessive.question import AdviceQuestion

    contest = load_contest(competition, original, round_name)
    show_warnings(build_notices(contest.remarks))
    question = AdviceQuestion(
        parse_group_columns(groups),
        distance,
        bits,
        SIMULATED_PERMUTATIONS if draws is None else draws,
    )
    with progress_bar("threshold") as progress:
        report = make_report(question, contest.rules, contest.original, progress=progress)
    if as_json:
        print_json(schemas.parse_advice(report.to_json()))
    else:
        print(build_advised_threshold(report))
