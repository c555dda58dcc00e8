"""The options that several commands take; nothing here is slow to import."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS
from anoncup.tracks.model import Track

if TYPE_CHECKING:
    from anoncup import schemas

NEEDED = {
    name: tuple(file.name for file in track.original if file.required) for name, track in TRACKS.items()
}
"""The files of each track's original that must be given."""
TEMPLATES_SAID = "; ".join(f"{name}: {track.name}" for track in TRACKS.values() for name in track.templates)
EXAMPLES = tuple(name for name, track in TRACKS.items() if track.example_data)
"""The tracks that data can be generated for."""
ORIGINAL_SAID = "; ".join(
    f"{track}: {' '.join(f'{name}.csv' for name in files)}" for track, files in NEEDED.items()
)

PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read your password, if it is needed, from standard input")
]
CompetitionFile = Annotated[
    Path,
    typer.Option("--competition", exists=True, dir_okay=False, help="the competition file, competition.toml"),
]
ORIGINALS = typer.Option(
    "--original",
    metavar="FILE",
    help="the original data; once for each file, in the order of the contest's track "
    f"({ORIGINAL_SAID}); NAME=FILE for an optional file",
)
OriginalFiles = Annotated[list[str], ORIGINALS]
MaybeOriginalFiles = Annotated[list[str] | None, ORIGINALS]
"""The required ones in the track's order; any of them by name."""
UploadedOriginals = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help=f"the original data in the order of the contest's track ({ORIGINAL_SAID}); "
        "NAME=FILE for an optional file",
    ),
]
Release = Mapping[str, Path]
"""Of a release's files that were given: by name where each lies."""
NAMED = "--file"
"""A file of a release by its name: of a track that is not installed here, or called like another option."""
MAPPING_SAID = "secret.csv, which maps the release to the original"
SecretFile = Annotated[Path, typer.Option("--secret", exists=True, dir_okay=False, help=MAPPING_SAID)]
SentSecret = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        exists=True,
        dir_okay=False,
        help=f"{MAPPING_SAID}; not where your team got data of its own (membership)",
    ),
]
MaybeSecretFile = Annotated[
    Path | None, typer.Option("--secret", exists=True, dir_okay=False, help=f"{MAPPING_SAID}, if known")
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
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="the competition's address, such as cup-2015")]
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
    """An option for each file that a release or a target of any track has, by the file's name."""
    said: dict[str, list[str]] = {}
    for track in TRACKS.values():
        files = (*track.release, *track.targets)
        for name in dict.fromkeys(file.name for file in files):
            titles = " or ".join(file.title or name for file in files if file.name == name)
            said.setdefault(name, []).append(f"{track.name}: {titles}")
    return {name: release_option(name, "; ".join(titles)) for name, titles in said.items()}


def release_option(name: str, said: str) -> Parameter:
    taken = Annotated[Path | None, typer.Option(f"--{name}", exists=True, dir_okay=False, help=said)]
    return Parameter(f"{name}_file", Parameter.KEYWORD_ONLY, default=None, annotation=taken)


def takes_release(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options in the place of its parameter ``release``."""
    known = signature(command, eval_str=True)
    taken = options_of(known)
    options = {name: option for name, option in release_options().items() if f"--{name}" not in taken}
    said = "a file of the release by its name, for tracks that are not listed here"
    more = Parameter(
        "named_files",
        Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[list[str] | None, typer.Option(NAMED, metavar="NAME=PATH", help=said)],
    )
    shown: list[Parameter] = []
    for one in known.parameters.values():
        shown.extend([*options.values(), more] if one.name == "release" else [one])

    @wraps(command)
    def called(**given: Any) -> None:
        paths = {name: given.pop(option.name) for name, option in options.items()}
        paths |= named_paths(given.pop(more.name) or [])
        command(**given, release={name: path for name, path in paths.items() if path is not None})

    called.__signature__ = known.replace(parameters=shown)  # type: ignore[attr-defined]  # inspect reads it
    return called


def options_of(known: Signature) -> set[str]:
    """Those that a command has already: all that its parameters declare, or their names."""
    found = {f"--{name.replace('_', '-')}" for name in known.parameters}
    for one in known.parameters.values():
        for said in getattr(one.annotation, "__metadata__", ()):
            found.update(getattr(said, "param_decls", None) or ())
    return found


def named_paths(given: Sequence[str]) -> dict[str, Path]:
    """Files that are given as ``NAME=PATH``, by name."""
    found: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (equals and name and path):
            raise InvalidInput("{text!r} is not NAME=PATH", code="files", text=text)
        if name in found:
            raise InvalidInput("{name} is given twice", code="files", name=name)
        found[name] = existing(Path(path))
    return found


def originals_of(track: Track, given: Sequence[str]) -> dict[str, Path]:
    """By name the files of an original: those given by name, then the others in order."""
    needed = [file.name for file in track.original if file.required]
    by_name = [text for text in given if is_named(text, track.original_files)]
    found = named_paths(by_name)
    rest = [text for text in given if text not in by_name]
    missing = [name for name in needed if name not in found]
    if len(rest) != len(missing):
        raise InvalidInput(
            "the {track} track needs {count} --original: {names}",
            code="files",
            track=track.name,
            count=len(needed),
            names=tuple(needed),
        )
    found |= {name: existing(Path(text)) for name, text in zip(missing, rest, strict=True)}
    return {name: found[name] for name in track.original_files if name in found}


def paths_of_original(found: "schemas.Competition", files: Sequence[str]) -> dict[str, Path]:
    """What to upload, by the names that the service gives it; of a track that is not installed here, all."""
    if found.track in TRACKS:
        return {f"{name}.csv": path for name, path in originals_of(TRACKS[found.track], files).items()}
    if len(files) != len(found.original_files):
        names = tuple(found.original_files)
        raise InvalidInput("the original of {slug} is {names}", code="files", slug=found.slug, names=names)
    return {name: existing(Path(path)) for name, path in zip(found.original_files, files, strict=True)}


def is_named(text: str, names: Sequence[str]) -> bool:
    """Whether it is NAME=PATH; a file that is called so is a file."""
    name, equals, _ = text.partition("=")
    return bool(equals) and name in names and not Path(text).exists()


def existing(path: Path) -> Path:
    if not path.exists() or path.is_dir():
        raise InvalidInput("there is no file {path}", code="files", path=str(path))
    return path


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
