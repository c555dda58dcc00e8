"""The options that several commands take; nothing here is slow to import."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from app.errors import InvalidInput
from app.scoring.tracks import TRACKS

SEVERAL = {name: track.original_files for name, track in TRACKS.items() if len(track.original) > 1}
"""The files of the original, of tracks that have several."""
TEMPLATES_SAID = "; ".join(f"{name}: {track.name}" for track in TRACKS.values() for name in track.templates)
EXAMPLES = tuple(name for name, track in TRACKS.items() if track.example_data)
"""The tracks that data can be generated for."""


def several(counts: Mapping[int, str], more: str) -> str:
    """How many files of the original each track has."""
    said = (
        f"{name}: {counts.get(len(files), more.format(n=len(files)))}, {' and '.join(files)}"
        for name, files in SEVERAL.items()
    )
    return "; ".join(said)


PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read your password, if it is needed, from standard input")
]
CompetitionFile = Annotated[
    Path, typer.Option("--competition", exists=True, dir_okay=False, help="competition.toml")
]
OriginalFiles = Annotated[
    list[Path],
    typer.Option(
        "--original",
        exists=True,
        dir_okay=False,
        help=several({2: "twice"}, "{n} times"),
    ),
]
UploadedOriginals = Annotated[
    list[Path], typer.Argument(exists=True, dir_okay=False, help=several({2: "two"}, "{n}"))
]
Release = Mapping[str, Path]
"""Of a release's files that were given: by name where each lies."""
SecretFile = Annotated[Path, typer.Option("--secret", exists=True, dir_okay=False, help="the secret")]
MaybeSecretFile = Annotated[
    Path | None, typer.Option("--secret", exists=True, dir_okay=False, help="the secret, if it is known")
]
json_wanted = ContextVar("json_wanted", default=False)
"""Whether this command was asked for JSON: what goes wrong is said so too."""


def want_json(wanted: bool) -> bool:
    json_wanted.set(wanted)
    return wanted


AsJson = Annotated[
    bool,
    typer.Option(
        "--json", callback=want_json, is_eager=True, help="print the result, or what is wrong, as JSON"
    ),
]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="the competition's short name")]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="the submission's id")]
GroupColumns = Annotated[
    str | None,
    typer.Option(
        "--groups",
        "--group",
        help="columns a cheat may keep, such as sex,country; '': none, so that everybody is in one group; "
        "default: the cross-tables'",
    ),
]
TomlFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE.toml")]


def release_options() -> dict[str, Parameter]:
    """An option for each file that a release of any track has, by the file's name."""
    said: dict[str, list[str]] = {}
    for track in TRACKS.values():
        for file in track.release:
            said.setdefault(file.name, []).append(f"{track.name}: {file.title or file.name}")
    return {name: release_option(name, "; ".join(titles)) for name, titles in said.items()}


def release_option(name: str, said: str) -> Parameter:
    taken = Annotated[Path | None, typer.Option(f"--{name}", exists=True, dir_okay=False, help=said)]
    return Parameter(f"{name}_file", Parameter.KEYWORD_ONLY, default=None, annotation=taken)


def takes_release(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options in the place of its parameter ``release``."""
    options = release_options()
    known = signature(command, eval_str=True)
    shown: list[Parameter] = []
    for one in known.parameters.values():
        shown.extend(options.values() if one.name == "release" else [one])

    @wraps(command)
    def called(**given: Any) -> None:
        paths = {name: given.pop(option.name) for name, option in options.items()}
        command(**given, release={name: path for name, path in paths.items() if path is not None})

    called.__signature__ = known.replace(parameters=shown)  # type: ignore[attr-defined]  # inspect reads it
    return called


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("{name} is not UTF-8 text", name=path.name) from None


def names_in(groups: str | None) -> tuple[str, ...] | None:
    """The columns that ``--groups`` names; None where it is not given."""
    names = tuple(groups.split(",")) if groups else () if groups == "" else None
    if names and "" in names:
        raise InvalidInput("--groups {groups}: a name is empty", code="unknown_column", groups=groups)
    return names
