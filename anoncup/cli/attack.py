"""``anoncup attack``: run the built-in attackers on a target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.anonymize import Seed
from anoncup.cli.options import (
    AsJson,
    CompetitionFile,
    OptionalSecretFile,
    OriginalFiles,
    ReleasePaths,
    RoundName,
    accept_files,
)
from anoncup.cli.output import print_json
from anoncup.cli.terminal import progress_bar, show_attackers
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from anoncup import schemas
    from anoncup.cli.local_files import LocalContest
    from anoncup.tracks.model import AnswerT, AnyContext, AnyTrack, TargetT
    from anoncup.tracks.parts import Guesses


@accept_files("target")
def attack(
    competition: CompetitionFile,
    original: OriginalFiles,
    *,
    round_name: RoundName = None,
    target: ReleasePaths,
    secret: OptionalSecretFile = None,
    attackers: Annotated[
        list[str] | None, typer.Option("--attacker", help="name of an attacker; default: all")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="a folder to write the guesses into")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run the built-in attackers on a target and write their guesses to files.

    With --secret, run them on your own release and show their success rates.
    """
    from anoncup.cli.local_files import load_contest, read_target, read_upload
    from anoncup.cli.score import build_notices
    from anoncup.cli.submissions import show_warnings

    if secret is None and into is None:
        raise InvalidInput("give --secret to see rates, or --into to keep the guesses", code="no_output")
    contest = load_contest(competition, original, round_name)
    names = _select_attackers(contest, attackers or [])
    if secret is None:
        guesses = _run_attackers(contest, read_target(contest, target), names)
    else:
        upload = read_upload(contest, target, secret)
        show_warnings(build_notices([*contest.remarks, *upload.remarks]))
        context = contest.track.build_context(contest.rules, contest.original, upload.release)
        guesses = _run_attackers(contest, contest.track.build_target(upload.answer, context), names)
    paths = _write_guesses(guesses, contest, into, seed) if into is not None else []
    if secret is not None:
        rates = _compute_rates(guesses, contest.track, upload.answer, context)
        if as_json:
            print_json(rates)
        else:
            show_attackers(rates)
    elif as_json:
        print_json(paths)
    if into is not None and not as_json:
        print(f"wrote {', '.join(path.name for path in paths) or 'nothing'} into {into}")


def _run_attackers(contest: LocalContest, target: TargetT, names: list[str]) -> dict[str, Guesses]:
    """Return the guesses of each attacker; none if the contest does not ask its question."""
    from anoncup.evaluation.attacks import make_guesses

    guesses = {}
    with progress_bar("attacking") as progress:
        for step, name in enumerate(names, 1):
            progress(step, len(names), name)
            attacker = contest.track.attackers[name]
            guesses[name] = make_guesses(attacker, target, track=contest.track, rules=contest.rules)
    return guesses


def _compute_rates(
    guesses: Mapping[str, Guesses], track: AnyTrack, answer: AnswerT, context: AnyContext
) -> dict[str, schemas.AttackerVerdict]:
    from anoncup import schemas
    from anoncup.evaluation.attacks import rate_attack

    return {
        name: schemas.AttackerVerdict.model_validate(
            rate_attack(track.attackers[name], attacker_guesses, answer, context, track=track).to_json()
        )
        for name, attacker_guesses in guesses.items()
    }


def _write_guesses(
    guesses: Mapping[str, Guesses], contest: LocalContest, folder: Path, seed: int
) -> list[Path]:
    """Write a guess file for each attacker that can make a guess, one per question if there are several."""
    import numpy as np

    from anoncup.evaluation.attacks import write_guesses

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    has_several_questions = len(contest.track.select_questions(contest.rules)) > 1
    for name, attacker_guesses in guesses.items():
        files = write_guesses(attacker_guesses, track=contest.track, rng=np.random.default_rng(seed))
        for question, content in files.items():
            paths.append(folder / (f"{name}.{question}.csv" if has_several_questions else f"{name}.csv"))
            paths[-1].write_bytes(content)
    return paths


def _select_attackers(contest: LocalContest, names: list[str]) -> list[str]:
    """Return the named attackers, or all of the track if none is named."""
    available = list(contest.track.attackers)
    for name in names:
        if name not in available:
            raise InvalidInput(
                "attackers of the {track} track: {known}",
                code="unknown_attacker",
                track=contest.track.name,
                known=tuple(available),
            )
    return names or available
