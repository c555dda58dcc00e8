"""``anoncup draw``: reproduce an allocation of the service from the seed revealed at the end."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import CompetitionFile, OriginalFiles, RoundName
from anoncup.errors import InvalidInput


def draw(
    *,
    competition: CompetitionFile,
    original: OriginalFiles,
    round_name: RoundName = None,
    seed: Annotated[str, typer.Option(help="the revealed seed: 64 hexadecimal digits")],
    team: Annotated[str, typer.Option(help="the team; none for data drawn for all teams")] = "",
    attempt: Annotated[int, typer.Option(min=0, help="the revealed attempt")] = 0,
    truth: Annotated[
        list[str] | None,
        typer.Option("--truth", metavar="NAME=PATH", help="a file that only the organizers hold"),
    ] = None,
    into: Annotated[Path, typer.Option(help="the folder to write into")] = Path("drawn"),
) -> None:
    """Reproduce the files that the service drew for a team; print their SHA-256 and that of the seed."""
    from anoncup.cli.local_files import load_contest
    from anoncup.cli.options import parse_named_paths
    from anoncup.tracks.capabilities import AllocationContext
    from anoncup.tracks.generators import derive_generator
    from anoncup.tracks.seeds import commit_to_seed

    contest = load_contest(competition, original, round_name)
    seed_bytes = _parse_seed(seed)
    if contest.track.allocation is None:
        raise InvalidInput(
            "the service draws nothing in the {track} track", code="nothing_drawn", track=contest.track.name
        )
    organizer_data = {name: path.read_bytes() for name, path in parse_named_paths(truth or []).items()}
    context = AllocationContext(
        contest.rules,
        organizer_data,
        lambda purpose: derive_generator(seed_bytes, purpose, team, attempt),
        team,
    )
    contents = contest.track.allocation.make_files(contest.original, context)
    if not contents:
        raise InvalidInput(
            "the organizers have assigned nothing to {team}", code="nothing_assigned", team=team
        )
    into.mkdir(parents=True, exist_ok=True)
    print(f"{commit_to_seed(seed_bytes)}  the seed")
    for file in contest.track.allocation.files:
        (into / f"{file.name}.csv").write_bytes(contents[file.name])
        print(f"{sha256(contents[file.name]).hexdigest()}  {into / file.name}.csv")


def _parse_seed(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise InvalidInput("a seed is 64 hexadecimal digits", code="wrong_value") from None
