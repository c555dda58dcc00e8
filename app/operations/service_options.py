"""Options shared by the commands that run the service.

Commands import server modules only when they run, so that the commands for local files start quickly.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.operations.backup.keys import KeyPaths


DataFolder = Annotated[
    Path, typer.Option(envvar="ANONCUP_DATA", help="folder of the database, the files and the keys")
]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option()]
WebProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=32,
        envvar="ANONCUP_WEB_PROCESSES",
        help="processes of the web server; default: one per core, up to 4",
    ),
]
DEFAULT_DATA_FOLDER = Path(".anoncup")


OutputFile = Annotated[Path, typer.Option(help="the file to write, a tar.gz")]
ReplaceOption = Annotated[bool, typer.Option("--replace", "--force", help="replace an existing file")]
ArchivePath = Annotated[Path, typer.Argument(help="a file that the backup command wrote")]
PublicKeyFile = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_SEALING_KEY_FILE", help="default: keys/sealing.pub in --data")
]
PrivateKeyFolder = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_OPENING_KEYS_DIR", help="default: keys/private in --data")
]


def get_key_paths(data_folder: Path, public: Path | None, private_dir: Path | None) -> "KeyPaths":
    from app.operations.backup.keys import KeyPaths

    folder = data_folder / "keys"
    return KeyPaths(public or folder / "sealing.pub", private_dir or folder / "private")
