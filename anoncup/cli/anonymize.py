"""What a team does with its files before it submits: anonymize and attack.

Each command imports what it needs when it runs: the others should not wait for the scoring's modules.
"""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import CompetitionFile, OriginalFiles
from anoncup.cli.terminal import console

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

    from anoncup.cli.local_files import contest_of, own_file
    from anoncup.cli.sample_methods import empty_place, method_of, methods_table, read_parameters

    contest = contest_of(competition, original)
    if method == "help":
        console().print(methods_table(contest))
        return
    chosen, folder = method_of(contest, method), empty_place(contest, into)
    rng = np.random.default_rng(seed)
    given = read_parameters(contest, chosen, parameters or [])
    own = {"answer": own_file(secret, contest)} if contest.track.draws_answer and secret else {}
    release, source = contest.track.anonymize(chosen, contest.tables, contest.rules, rng, given, **own)
    if not keep_order:
        release, source = contest.track.shuffle(release, source, rng=rng)
    folder.mkdir(parents=True, exist_ok=True)
    contents = contest.track.files_of(release)
    if not own:
        contents |= {contest.track.answers.file.name: contest.track.answers.write(source)}
    for name, content in contents.items():
        (folder / f"{name}.csv").write_bytes(content)
    print(f"wrote {', '.join(f'{name}.csv' for name in contents)} into {folder}")
