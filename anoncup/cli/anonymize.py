"""``anoncup anonymize``: make a release with a sample method."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import CompetitionFile, OriginalFiles
from anoncup.cli.terminal import make_console

Seed = Annotated[int, typer.Option(min=0, help="seed of the random choices")]


def anonymize(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    method: Annotated[str, typer.Option(help='name of a sample method; "help" lists them')] = "help",
    into: Annotated[Path | None, typer.Option(help="a folder for the release and its secret")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", help="a parameter of the method, such as k=5 or columns=sex,age"),
    ] = None,
    seed: Seed = 0,
    keep_order: Annotated[bool, typer.Option(help="leave the rows in the original's order")] = False,
    secret: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="the data that your team got (membership)"),
    ] = None,
) -> None:
    """Make a release with a sample method: the anonymized files and secret.csv, rows shuffled.

    Where the service draws each team's own file, give it as --secret; else one is drawn here to try.
    """
    import numpy as np

    from anoncup.cli.local_files import load_contest, read_drawn_answer
    from anoncup.cli.sample_methods import (
        build_methods_table,
        find_method,
        parse_parameters,
        require_no_overwrite,
    )

    contest = load_contest(competition, original)
    if method == "help":
        make_console().print(build_methods_table(contest))
        return
    sample_method, folder = find_method(contest, method), require_no_overwrite(contest, into)
    rng = np.random.default_rng(seed)
    parameter_values = parse_parameters(contest, sample_method, parameters or [])
    drawn_answer = (
        {"answer": read_drawn_answer(secret, contest)} if contest.track.allocates_answer and secret else {}
    )
    release, answer = contest.track.anonymize(
        sample_method, contest.tables, contest.rules, rng, parameter_values, **drawn_answer
    )
    if not keep_order:
        release, answer = contest.track.shuffle(release, answer, rng=rng)
    folder.mkdir(parents=True, exist_ok=True)
    contents = contest.track.files_of(release)
    if not drawn_answer:
        contents |= {contest.track.answer_spec.file.name: contest.track.answer_spec.write(answer)}
    for name, content in contents.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {', '.join(f'{name}.csv' for name in contents)} into {folder}")
