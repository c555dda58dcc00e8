"""Options shared by several commands. Every command imports this module, so it must load quickly."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.plugins import TRACKS
from anoncup.tracks.model import AnyTrack

if TYPE_CHECKING:
    from anoncup import schemas

REQUIRED_ORIGINALS = {
    name: tuple(file.name for file in track.original_files if file.required) for name, track in TRACKS.items()
}
"""Names of the required original files of each track."""
TEMPLATES_HELP = "; ".join(
    f"{name}: {track.name}" for track in TRACKS.values() for name in track.examples.templates
)
EXAMPLE_TRACKS = tuple(name for name, track in TRACKS.items() if track.examples.make_data)
"""Tracks that can generate example data."""
_ORIGINALS_HELP = "; ".join(
    f"{track}: {' '.join(f'{name}.csv' for name in files)}" for track, files in REQUIRED_ORIGINALS.items()
)

PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="read your password, if it is needed, from standard input")
]
CompetitionFile = Annotated[
    Path,
    typer.Option("--competition", exists=True, dir_okay=False, help="the competition file, competition.toml"),
]
RoundName = Annotated[
    str | None,
    typer.Option("--round", metavar="NAME", help="the round, where the competition file has several"),
]
_ORIGINAL_OPTION = typer.Option(
    "--original",
    metavar="FILE",
    help="the original data; once for each file, in the order of the contest's track "
    f"({_ORIGINALS_HELP}); NAME=FILE for an optional file",
)
OriginalFiles = Annotated[list[str], _ORIGINAL_OPTION]
OptionalOriginalFiles = Annotated[list[str] | None, _ORIGINAL_OPTION]
"""The required files in the order of the track; any file may also be given by name."""
ReleasePaths = Mapping[str, Path]
"""Paths of the files of a release, by the name of the file."""
_SECRET_HELP = "secret.csv, which maps the release to the original"  # noqa: S105
_ANSWER_HELP = f"{_SECRET_HELP}, or the file of your team where the service draws the answer (membership)"
SecretFile = Annotated[Path, typer.Option("--secret", exists=True, dir_okay=False, help=_ANSWER_HELP)]
SubmittedSecret = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        exists=True,
        dir_okay=False,
        help=f"{_SECRET_HELP}; not where your team got data of its own (membership)",
    ),
]
OptionalSecretFile = Annotated[
    Path | None, typer.Option("--secret", exists=True, dir_okay=False, help=f"{_ANSWER_HELP}, if known")
]
wants_json = ContextVar("wants_json", default=False)
"""True if ``--json`` was given. Errors are then printed as JSON, too."""


def _set_wants_json(wanted: bool) -> bool:
    wants_json.set(wanted)
    return wanted


def require_id(identifier: str | None) -> str | None:
    """Raise BadParameter for the number of a submission, which pages show."""
    if identifier is not None and identifier.isdecimal():
        raise typer.BadParameter("a number is not an id: anoncup submissions lists both")
    return identifier


AsJson = Annotated[
    bool,
    typer.Option(
        "--json", callback=_set_wants_json, is_eager=True, help="print the result, or what is wrong, as JSON"
    ),
]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="the competition's address, such as cup-2015")]
Identifier = Annotated[
    str,
    typer.Argument(metavar="ID", callback=require_id, help="the id that anoncup submissions lists"),
]
GroupColumns = Annotated[
    str | None,
    typer.Option(
        "--groups",
        "--group",
        help="columns a cheat may keep, such as sex,country; '': none, so that everybody is in one group; "
        "default: the cross-tables', without those with which hardly any two people agree",
    ),
]
TomlFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE.toml")]


def accept_files(kind: Literal["release", "target"]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a command's parameter of this name by an option for each such file of any track.

    A target may also be given as the files of a release.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own_parameters = signature(command, eval_str=True).parameters
        options = [
            _build_option(
                f"{name}_file", Path | None, f"--{name}", exists=True, dir_okay=False, help=help_text
            )
            for name, help_text in _describe_files(with_targets=kind == "target").items()
            if name not in own_parameters
        ]
        help_text = f"a file of the {kind} by its name, for tracks that are not listed here"
        named_files = _build_option(
            "named_files", list[str] | None, "--file", metavar="NAME=PATH", help=help_text
        )
        parameters: list[Parameter] = []
        for parameter in own_parameters.values():
            parameters.extend([*options, named_files] if parameter.name == kind else [parameter])

        @wraps(command)
        def wrapper(**arguments: Any) -> None:
            paths = {option.name.removesuffix("_file"): arguments.pop(option.name) for option in options}
            paths |= parse_named_paths(arguments.pop(named_files.name) or [])
            command(**arguments, **{kind: {name: path for name, path in paths.items() if path is not None}})

        wrapper.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # inspect reads it
        return wrapper

    return decorate


def _describe_files(*, with_targets: bool) -> dict[str, str]:
    """Return the titles of each file of a release, or also of a target, of any track, by the file's name."""
    help_texts: dict[str, list[str]] = {}
    for track in TRACKS.values():
        files = (*track.release_files, *(track.target_files.specs if with_targets else ()))
        for name in dict.fromkeys(file.name for file in files):
            titles = " or ".join(file.title or name for file in files if file.name == name)
            help_texts.setdefault(name, []).append(f"{track.name}: {titles}")
    return {name: "; ".join(texts) for name, texts in help_texts.items()}


def _build_option(name: str, option_type: Any, *declarations: str, **settings: Any) -> Parameter:
    annotation = Annotated[option_type, typer.Option(*declarations, **settings)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def parse_named_paths(assignments: Sequence[str]) -> dict[str, Path]:
    """Parse ``NAME=PATH`` arguments into paths by name; each file must exist."""
    paths: dict[str, Path] = {}
    for text in assignments:
        name, equals, path = text.partition("=")
        if not (equals and name and path):
            raise InvalidInput("{text!r} is not NAME=PATH", code="files", text=text)
        if name in paths:
            raise InvalidInput("{name} is given twice", code="files", name=name)
        paths[name] = require_file(Path(path))
    return paths


def assign_originals(
    track: AnyTrack, arguments: Sequence[str], *, option: str = "--original"
) -> dict[str, Path]:
    """Return the files of an original by name.

    Arguments without a name stand for the remaining required files, in the order of the track.
    """
    required = [file.name for file in track.original_files if file.required]
    assignments = [text for text in arguments if _is_assignment(text, track.original_file_names)]
    paths = parse_named_paths(assignments)
    positional = [text for text in arguments if text not in assignments]
    missing = [name for name in required if name not in paths]
    if len(positional) != len(missing):
        raise InvalidInput(
            "the {track} track needs {count} {option}: {names}",
            option=option,
            code="files",
            track=track.name,
            count=len(required),
            names=tuple(required),
        )
    paths |= {name: require_file(Path(text)) for name, text in zip(missing, positional, strict=True)}
    return {name: paths[name] for name in track.original_file_names if name in paths}


def resolve_original_paths(competition: "schemas.Competition", files: Sequence[str]) -> dict[str, Path]:
    """Return the files to upload, by their names at the service.

    If the track is not installed here, all of its files must be given, in the order that the service lists.
    """
    if competition.track in TRACKS:
        return {
            f"{name}.csv": path for name, path in assign_originals(TRACKS[competition.track], files).items()
        }
    if len(files) != len(competition.original_files):
        names = tuple(competition.original_files)
        raise InvalidInput(
            "the original of {slug} is {names}", code="files", slug=competition.slug, names=names
        )
    return {
        name: require_file(Path(path)) for name, path in zip(competition.original_files, files, strict=True)
    }


def _is_assignment(text: str, names: Sequence[str]) -> bool:
    """Return whether an argument is NAME=PATH with a known name, and not the path of an existing file."""
    name, equals, _ = text.partition("=")
    return bool(equals) and name in names and not Path(text).exists()


def require_file(path: Path) -> Path:
    if not path.exists() or path.is_dir():
        raise InvalidInput("there is no file {path}", code="files", path=str(path))
    return path


@contextmanager
def use_local_names(paths: Mapping[str, Path]) -> Iterator[None]:
    """Replace file names in upload errors by the names of the local files."""
    names = {name: path.name for name, path in paths.items()}
    try:
        yield
    except InvalidUpload as error:
        renamed = [replace(problem, file=names.get(problem.file, problem.file)) for problem in error.problems]
        raise InvalidUpload(renamed, total=error.total) from error


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("{name} is not UTF-8 text", name=path.name) from None


def parse_group_columns(groups: str | None) -> tuple[str, ...] | None:
    """Return the columns given by ``--groups``, or None if the option is not given."""
    return None if groups is None else tuple(filter(None, groups.split(",")))
